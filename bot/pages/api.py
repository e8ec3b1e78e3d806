"""The pages' content as JSON: version 1 of the interface. A field may be added, none is taken away or changed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from bot.pages import documents, reading
from bot.pages.documents import BugList, Campaign, Problem, WholeBug, WholeCampaign
from bot.pages.reading import MOST_PAGES, Question
from triage.lifecycle import State
from triage.store import Store

#: SQLite's integers end here.
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
Word = Annotated[str, Query(max_length=200)]
Page = Annotated[int, Query(ge=1, le=MOST_PAGES)]


def router(store: Store) -> APIRouter:
    """The paths below ``/api/v1``."""
    found = APIRouter(prefix="/api/v1", responses={503: {"model": Problem}})
    missing: dict[int | str, dict[str, Any]] = {404: {"model": Problem}}

    @found.get("/bugs")
    def bugs(state: State | None = None, backend: Word = "", words: Word = "", page: Page = 1) -> BugList:
        """Bugs, the newest first, 50 on a page; muted ones and, unless they are asked for, slips left out."""
        told = reading.bugs(store, Question(state, backend, words, page))
        entries = [documents.entry(each) for each in told.bugs]
        return BugList(total=told.total, page=page, pages=told.pages, bugs=entries)

    @found.get("/bugs/{number}", responses=missing)
    def bug(number: Number) -> WholeBug:
        """All that is known of one bug."""
        return reading.told(store, number)

    @found.get("/campaigns")
    def campaigns() -> list[Campaign]:
        """All hunts, the newest first."""
        return reading.campaigns(store)

    @found.get("/campaigns/{number}", responses=missing)
    def campaign(number: Number) -> WholeCampaign:
        """One hunt with its numbers."""
        found = reading.campaign(store, number)
        return documents.whole_campaign(found, reading.standing(store, number), store.overview(number))

    return found
