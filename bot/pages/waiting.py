"""What waits for a moderator: the list, and what he says to it, by the same functions as `graphwarden queue`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from bot import moderation
from bot.moderation import Projects
from bot.pages.api import Number
from bot.pages.documents import Problem, utc
from bot.pages.door import Anybody, Moderator, Reader
from bot.pages.forms import Form
from bot.pages.rendering import page as rendered
from triage.ledger import Ledger
from triage.ledger.outbox import NotHeld
from triage.ledger.records import Outgoing, OutKind, OutState

#: Things that are shown at once, and the last decisions below them.
_MOST, _LATELY = 50, 20
_GOING = (OutState.READY, OutState.SENDING)


class Waiting(BaseModel):
    """Something that the bot wants to say at GitHub. Times are UTC; `version` grows when what it says is replaced."""

    id: int
    kind: str
    where: str
    bug: int | None
    text: str
    posted: str
    note: str
    created: datetime
    version: int


class Queue(BaseModel):
    """What waits for a moderator, the oldest first, and in all; `stopped` says why nothing is sent at all."""

    total: int
    waiting: list[Waiting]
    stopped: str


@dataclass(frozen=True)
class _Shown:
    """One thing with what a template needs beyond its document."""

    told: Waiting
    kind: OutKind

    @property
    def is_notice(self) -> bool:
        return self.kind is OutKind.NOTICE

    @property
    def is_text(self) -> bool:
        return self.kind in (OutKind.ISSUE, OutKind.COMMENT, OutKind.EDIT_COMMENT, OutKind.NOTICE)


def document(one: Outgoing, where: str) -> Waiting:
    """One thing that waits."""
    return Waiting(
        id=one.id,
        kind=str(one.kind),
        where=where,
        bug=one.bug_id,
        text=" ".join(moderation.headline(one).split())[:200],
        posted=moderation.posted(one),
        note=one.note,
        created=utc(one.created),
        version=one.version,
    )


def router(ledger: Ledger, projects: Projects | None) -> APIRouter:
    """The list and the decisions. `projects` is None where no configuration of the bot was given."""
    found = APIRouter()

    @found.get("/api/v1/queue", responses={401: {"model": Problem}, 503: {"model": Problem}})
    def listed(who: Reader) -> Queue:
        """What waits for a moderator, 50 at most; for moderators who have signed in."""
        total = ledger.outbox.counts().get(OutState.HELD, 0)
        waiting = [each.told for each in _held(ledger)]
        return Queue(total=total, waiting=waiting, stopped=ledger.switches.stopped())

    @found.get("/queue", include_in_schema=False)
    def queue(who: Anybody) -> Response:
        if not who.name:
            return RedirectResponse("/sign-in?next=/queue", 303)
        counts = ledger.outbox.counts()
        values = {
            "waiting": _held(ledger),
            "total": counts.get(OutState.HELD, 0),
            "going": sum(counts.get(state, 0) for state in _GOING),
            "stopped": ledger.switches.stopped(),
            "lately": ledger.acts.last(_LATELY),
        }
        return HTMLResponse(rendered("queue.html.j2", who, **values))

    @found.get("/queue/{number}", include_in_schema=False)
    def one(number: Number, who: Anybody) -> Response:
        if not who.name:
            return RedirectResponse(f"/sign-in?next=/queue/{number}", 303)
        held = ledger.outbox.get(number)
        if held.state is not OutState.HELD:
            ends = f" ({held.note})" if held.note else ""
            raise HTTPException(409, f"{number} waits for no moderator any more: it is {held.state}{ends}")
        return HTMLResponse(rendered("held.html.j2", who, one=_shown([held], ledger)[0], whole=True))

    @found.post("/queue/{number}/approve", include_in_schema=False)
    def approve(number: Number, who: Moderator, told: Form) -> Response:
        try:
            moderation.approve(ledger, number, who.name, told.number("version"))
        except NotHeld as problem:
            raise _late(problem) from problem
        return RedirectResponse("/queue", 303)

    @found.post("/queue/{number}/reject", include_in_schema=False)
    def reject(number: Number, who: Moderator, told: Form) -> Response:
        one = ledger.outbox.get(number)
        if projects is None and moderation.says_known(one):
            raise HTTPException(409, _NO_PROJECTS)
        try:
            reason, version = told.words("reason"), told.number("version")
            moderation.reject(ledger, projects or (lambda repository: ()), number, who.name, reason, version)
        except NotHeld as problem:
            raise _late(problem) from problem
        return RedirectResponse("/queue", 303)

    return found


_NO_PROJECTS = (
    "what is rejected here would have called a bug known, and the bug must then be filed as one of its own: start "
    "`graphwarden pages` with --config, or use `graphwarden queue reject`"
)


def _late(problem: NotHeld) -> HTTPException:
    return HTTPException(409, f"{problem}. Nothing was changed by you.")


def _held(ledger: Ledger) -> list[_Shown]:
    return _shown(ledger.outbox.listed([OutState.HELD], limit=_MOST), ledger)


def _shown(held: list[Outgoing], ledger: Ledger) -> list[_Shown]:
    places = moderation.places(held, ledger)
    return [_Shown(document(one, places[one.id]), one.kind) for one in held]
