"""The pages of hunts, and what moderators say to one: pause, resume, cancel, as `graphwarden campaigns` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from bot.pages import documents, reading
from bot.pages.api import Number
from bot.pages.door import Anybody, Moderator
from bot.pages.rendering import page as rendered
from triage import campaign_control
from triage.campaign_control import Line, Standing, Unsteerable
from triage.ledger import Ledger
from triage.store import Store

#: What may be said to a hunt that stands so, and the word on the button.
_OFFERED: Mapping[Standing, Mapping[str, str]] = {
    Standing.RUNNING: {"pause": "Pause", "cancel": "Cancel for good"},
    Standing.WAITING: {"pause": "Pause", "cancel": "Cancel for good"},
    Standing.PAUSED: {"resume": "Resume", "cancel": "Cancel for good"},
}
_SAID: Mapping[str, Callable[[Store, str, str], Line]] = {
    "pause": campaign_control.pause,
    "resume": campaign_control.resume,
    "cancel": campaign_control.cancel,
}


def router(ledger: Ledger) -> APIRouter:
    """The pages of hunts."""
    found, store = APIRouter(include_in_schema=False), ledger.store

    @found.get("/campaigns")
    def campaigns(who: Anybody) -> HTMLResponse:
        return HTMLResponse(rendered("campaigns.html.j2", who, campaigns=reading.campaigns(store)))

    @found.get("/campaigns/{number}")
    def campaign(number: Number, who: Anybody) -> HTMLResponse:
        known, seen = reading.campaign(store, number), reading.seen(store, number)
        line = reading.standing(store, number)
        values = {
            "campaign": documents.whole_campaign(known, line, seen.told),
            "seen": seen,
            "bugs": [documents.entry(each) for each in seen.bugs],
            "offered": _OFFERED.get(line.standing, {}) if line else {},
            "acts": ledger.acts.of_campaign(number),
        }
        return HTMLResponse(rendered("campaign.html.j2", who, **values))

    @found.post("/campaigns/{number}/{said}")
    def say(number: Number, said: str, who: Moderator) -> Response:
        act = _SAID.get(said)
        if act is None:
            raise HTTPException(404, f"nobody can {said[:20]} a campaign")
        try:
            line = act(store, str(number), who.name)
        except Unsteerable as problem:
            raise HTTPException(409, f"{problem}. Nothing was changed by you.") from problem
        if not line.changed:
            raise HTTPException(409, _already(ledger, number))
        return RedirectResponse(f"/campaigns/{number}", 303)

    return found


def _already(ledger: Ledger, number: int) -> str:
    """What whoever comes second is told."""
    first = next(iter(ledger.acts.of_campaign(number, limit=1)), None)
    who = f": {first.by} {first.text}" if first else ""
    return f"Campaign {number} stands so already{who}. Nothing was changed by you."
