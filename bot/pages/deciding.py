"""What moderators decide about a bug: merge, split, mute, by the same functions as `graphwarden bugs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from bot.pages.api import Number
from bot.pages.door import Moderator
from bot.pages.forms import Form
from triage.ledger import Ledger
from triage.lifecycle import IllegalMove
from triage.store import Undecidable


def router(ledger: Ledger) -> APIRouter:
    """The decisions about one bug; each is answered by the page where it is seen."""
    found, store = APIRouter(include_in_schema=False), ledger.store

    @found.post("/bugs/{number}/merge")
    def merge(number: Number, who: Moderator, told: Form) -> Response:
        into = told.number("into")
        _once(ledger, number, lambda: store.merge(into, number, who.name), f"bug {number} is merged into bug {into}")
        return RedirectResponse(f"/bugs/{into}", 303)

    @found.post("/bugs/{number}/split")
    def split(number: Number, who: Moderator, told: Form) -> Response:
        with _decidable():
            new = store.split(number, told.numbers("failure"), told.words("reason") or "by hand", who.name)
        return RedirectResponse(f"/bugs/{new}", 303)

    @found.post("/bugs/{number}/mute")
    def mute(number: Number, who: Moderator, told: Form) -> Response:
        reason = told.words("reason")
        _once(ledger, number, lambda: store.mute(number, reason, who.name), f"bug {number} is muted")
        return RedirectResponse(f"/bugs/{number}", 303)

    return found


def _once(ledger: Ledger, number: int, decision: Callable[[], bool], done: str) -> None:
    """Take a decision; whoever comes second is told who was first. Raises HTTPException, Unknown."""
    with _decidable():
        if decision():
            return
    first = next(iter(ledger.acts.of_bug(number, limit=1)), None)
    who = f": {first.by} {first.text}" if first else ""
    raise HTTPException(409, f"{done} already{who}. Nothing was changed by you.")


@contextmanager
def _decidable() -> Iterator[None]:
    try:
        yield
    except (IllegalMove, Undecidable) as problem:
        raise HTTPException(409, f"{str(problem).strip()}. Nothing was changed.") from problem
