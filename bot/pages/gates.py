"""The check runs of pull requests: which there are, and what each says is broken or fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from bot.checks import run
from bot.pages.api import Page
from bot.pages.documents import Problem, utc
from bot.pages.door import Anybody
from bot.pages.rendering import page as rendered
from triage.ledger import Ledger
from triage.ledger.records import Check, Outgoing
from triage.store import Unknown

_PER_PAGE = 50
Id = Annotated[str, Path(max_length=100)]


class Gate(BaseModel):
    """The check run of one head commit. `since` is UTC; `conclusion` is as GitHub names it, "" until it is over."""

    id: str
    repository: str
    project: str
    pull: int | None
    head: str
    base: str
    state: str = Field(description="queued, waiting (for a build or a word), running, done, cancelled")
    conclusion: str
    since: datetime | None
    newest: bool = Field(description="Whether the pull request is at this head, as far as is known.")
    title: str


class Annotation(BaseModel):
    """One thing that it points at in the sources."""

    path: str
    line: int
    level: str
    title: str
    message: str


class WholeGate(Gate):
    """The same with what is said at GitHub: `summary` is Markdown, `ended` UTC."""

    summary: str
    annotations: list[Annotation]
    ended: datetime | None


class GateList(BaseModel):
    """A page of check runs, the one that began last first, and how many there are."""

    total: int
    page: int
    pages: int
    gates: list[Gate]


def listed(ledger: Ledger, page: int) -> GateList:
    """A page of check runs, in three queries."""
    checks, total = ledger.checks.listed((page - 1) * _PER_PAGE, _PER_PAGE)
    said = ledger.outbox.by_keys({run.said_under(each) for each in checks})
    gates = [Gate(**_entry(each, said.get(run.said_under(each)))) for each in checks]
    return GateList(total=total, page=page, pages=max(1, math.ceil(total / _PER_PAGE)), gates=gates)


def whole(ledger: Ledger, gate_id: str) -> WholeGate:
    """One check run. Raises Unknown."""
    check = ledger.checks.get(gate_id)
    if check is None:
        raise Unknown(f"no gate {gate_id}")
    said = ledger.outbox.by_key(run.said_under(check))
    told: Mapping[str, Any] = said.payload if said else {}
    return WholeGate(
        **_entry(check, said),
        summary=str(told.get("summary", "")),
        annotations=[_annotation(each) for each in told.get("annotations", ())],
        ended=datetime.fromisoformat(told["completed_at"]) if told.get("completed_at") else None,
    )


def _entry(check: Check, said: Outgoing | None) -> dict[str, Any]:
    return {
        "id": check.external_id,
        "repository": check.repository,
        "project": check.project,
        "pull": check.pull,
        "head": check.head_sha,
        "base": check.base,
        "state": check.state,
        "conclusion": check.conclusion,
        "since": utc(check.since) if check.since else None,
        "newest": check.newest,
        "title": str(said.payload.get("title", "")) if said else "",
    }


def _annotation(told: Mapping[str, Any]) -> Annotation:
    return Annotation(
        path=str(told.get("path", "")),
        line=int(told.get("start_line", 0)),
        level=str(told.get("annotation_level", "")),
        title=str(told.get("title", "")),
        message=str(told.get("message", "")),
    )


def router(ledger: Ledger) -> APIRouter:
    """The pages of check runs and their JSON."""
    found = APIRouter(responses={503: {"model": Problem}})

    @found.get("/api/v1/gates")
    def documents(page: Page = 1) -> GateList:
        """Check runs, the one that began last first, 50 on a page."""
        return listed(ledger, page)

    @found.get("/api/v1/gates/{gate_id}", responses={404: {"model": Problem}})
    def document(gate_id: Id) -> WholeGate:
        """One check run with what it says."""
        return whole(ledger, gate_id)

    @found.get("/gates", include_in_schema=False)
    def gates(who: Anybody, page: Page = 1) -> HTMLResponse:
        return HTMLResponse(rendered("gates.html.j2", who, found=listed(ledger, page)))

    @found.get("/gates/{gate_id}", include_in_schema=False)
    def gate(gate_id: Id, who: Anybody) -> HTMLResponse:
        return HTMLResponse(rendered("gate.html.j2", who, gate=whole(ledger, gate_id)))

    return found
