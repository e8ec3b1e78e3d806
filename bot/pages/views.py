"""The pages of bugs: the list, one bug, and its files."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from bot.pages import documents, reading
from bot.pages.api import Number, Page, Word
from bot.pages.door import Anybody, Visitor
from bot.pages.reading import Question
from bot.pages.rendering import page as rendered
from triage.lifecycle import State
from triage.store import Store, Unknown

#: What a model's file is called when it is taken away.
_MODEL = {"onnx": ("model.onnx", "application/octet-stream"), "instance": ("instance.json", "application/json")}


def question(
    state: Annotated[str, Query(max_length=20)] = "", backend: Word = "", words: Word = "", page: Page = 1
) -> Question:
    """What a form asks; a state that there is not is none."""
    return Question(next((each for each in State if each == state), None), backend, words, page)


def router(store: Store) -> APIRouter:
    """The pages of one database."""
    found = APIRouter(include_in_schema=False)

    @found.get("/bugs")
    def bugs(asked: Annotated[Question, Depends(question)], who: Anybody) -> HTMLResponse:
        told = reading.bugs(store, asked)
        states, backends = reading.kinds(store)
        entries = [documents.entry(each) for each in told.bugs]
        values = {"asked": asked, "found": told, "bugs": entries, "kinds": (states, backends), "link": _link(asked)}
        return _page("bugs.html.j2", who, **values)

    @found.get("/bugs/{number}")
    def bug(number: Number, who: Anybody) -> HTMLResponse:
        whole = reading.whole(store, number)
        tests = list(dict.fromkeys(f"{each.generator}: {each.test}" for each in store.origins(number)))
        apart = reading.apart(store, whole.told.id) if who.name else []
        values = {"bug": whole.told, "drawing": whole.drawing, "life": whole.life, "tests": tests, "apart": apart}
        return _page("bug.html.j2", who, **values)

    @found.get("/bugs/{number}/reproducer.py")
    def reproducer(number: Number) -> PlainTextResponse:
        draft = store.draft(number)
        if draft is None:
            raise Unknown(f"bug {number}: has no report yet")
        return PlainTextResponse(draft.script, headers=_file("reproducer.py"))

    @found.get("/bugs/{number}/model")
    def model(number: Number) -> Response:
        case = reading.smallest(store, store.bug(number))
        if case is None:
            raise Unknown(f"bug {number}: has no case")
        name, kind = _MODEL[case.kind]
        return Response(case.model, media_type=kind, headers=_file(name))

    return found


def _page(template: str, who: Visitor, **values: Any) -> HTMLResponse:
    return HTMLResponse(rendered(template, who, **values))


def _file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _link(asked: Question) -> dict[str, str]:
    """Of the pages before and after, the same question: what follows ``/bugs?``."""
    same = {"state": asked.state or "", "backend": asked.backend, "words": asked.words}
    kept = {name: str(value) for name, value in same.items() if value}
    return {step: urlencode(kept | {"page": str(asked.page + by)}) for step, by in (("before", -1), ("after", 1))}
