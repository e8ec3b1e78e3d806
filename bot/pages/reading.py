"""What a page needs of the database, each in a few queries however many rows there are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import onnx
from google.protobuf.message import DecodeError

from bot.pages import documents, history
from bot.pages.documents import Campaign, WholeBug
from fuzz.case import Case
from triage import campaign_control, campaign_picture, life_picture, picture
from triage.campaign_control import Line
from triage.ledger import Ledger
from triage.life_picture import Event
from triage.lifecycle import State
from triage.records import Bug, CampaignInfo, Overview
from triage.store import Store, Unknown
from triage.store_browse import Failing, Wanted

#: Bugs on a page, and pages that can be asked for.
PER_PAGE, MOST_PAGES = 50, 100_000
#: Failures that a bug's page offers to split off.
MOST_FAILURES = 100


@dataclass(frozen=True)
class Question:
    """What is looked for in the list of bugs; `page` counts from 1."""

    state: State | None = None
    backend: str = ""
    words: str = ""
    page: int = 1

    def wanted(self) -> Wanted:
        """The same for the store."""
        states = frozenset({self.state}) if self.state else frozenset[State]()
        return Wanted(states, self.backend, tuple(self.words.split()))


@dataclass(frozen=True)
class Found:
    """A page of bugs, how many match in all, and on how many pages."""

    bugs: Sequence[Bug]
    total: int
    pages: int


def bugs(store: Store, question: Question) -> Found:
    """The bugs of a page, the newest first."""
    found, total = store.browse(question.wanted(), (question.page - 1) * PER_PAGE, PER_PAGE)
    return Found(found, total, max(1, math.ceil(total / PER_PAGE)))


def kinds(store: Store) -> tuple[Counter[str], Counter[str]]:
    """How many bugs are in each state, and how many of each compiler."""
    states, backends = Counter[str](), Counter[str]()
    for (backend, state), count in store.kinds().items():
        states[state] += count
        backends[backend] += count
    return states, backends


def campaign(store: Store, number: int) -> CampaignInfo:
    """One hunt. Raises Unknown."""
    for each in store.campaigns():
        if each.id == number:
            return each
    raise Unknown(f"{store.place}: no campaign {number}")


def campaigns(store: Store) -> list[Campaign]:
    """All hunts, the newest first."""
    lines = {line.campaign.id: line for line in campaign_control.listed(store) if line.campaign}
    return [documents.campaign(each, lines.get(each.id)) for each in reversed(store.campaigns())]


def standing(store: Store, number: int) -> Line | None:
    """How a hunt stands; None for what a suite recorded."""
    lines = campaign_control.listed(store)
    return next((line for line in lines if line.campaign and line.campaign.id == number), None)


@dataclass(frozen=True)
class Seen:
    """What a hunt saw: all that is told of it, the newest of its bugs, how many there are, the picture of its time."""

    told: Overview
    bugs: Sequence[Bug]
    total: int
    picture: str


def seen(store: Store, number: int) -> Seen:
    """All of one hunt; slips and muted bugs are not listed."""
    told, muted = store.overview(number), store.decisions().muted
    shown = [each.bug_id for each in told.sightings if each.state is not State.SLIP and each.fingerprint not in muted]
    newest, _ = store.browse(Wanted(ids=frozenset(shown[-PER_PAGE:])), 0, PER_PAGE)
    return Seen(told, newest, len(shown), campaign_picture.svg(told))


@dataclass(frozen=True)
class Whole:
    """One bug with its pictures (SVG, "" for none): its smallest model and its life line."""

    told: WholeBug
    drawing: str
    life: str


def whole(store: Store, number: int) -> Whole:
    """All that is known of one bug. Raises Unknown."""
    bug = store.bug(number)
    events = history.events(Ledger(store), bug)
    return Whole(_told(store, bug, events), drawing(smallest(store, bug)), _line(events))


def told(store: Store, number: int) -> WholeBug:
    """All that is known of one bug, without pictures. Raises Unknown."""
    bug = store.bug(number)
    return _told(store, bug, history.events(Ledger(store), bug))


def _told(store: Store, bug: Bug, events: Sequence[Event]) -> WholeBug:
    return documents.whole(bug, store.draft(bug.id), Ledger(store).issues.of_bug(bug.id), events)


def life(store: Store, number: int) -> str:
    """The life line of a bug (SVG); "" while nothing is known but that it was found. Raises Unknown."""
    return _line(history.events(Ledger(store), store.bug(number)))


def _line(events: Sequence[Event]) -> str:
    return life_picture.svg(events, datetime.now(UTC)) if len(events) > 1 else ""


def apart(store: Store, number: int) -> list[Failing]:
    """Failures that may be split off a bug: all but the one that it stands on, a hundred at most. Raises Unknown."""
    bug = store.bug(number)
    return [each for each in store.failing(bug, MOST_FAILURES + 1) if each.id != bug.best_failure_id][:MOST_FAILURES]


def smallest(store: Store, bug: Bug) -> Case | None:
    """The smallest case that is known to fail so: the reduced one, else the smallest that failed."""
    if bug.reduced_case_id:
        return store.case(bug.reduced_case_id)
    return store.failure(bug.best_failure_id).failure.case if bug.best_failure_id else None


def drawing(case: Case | None) -> str:
    """The picture of a model (SVG); "" for what is none, or too large to be looked at."""
    if case is None or case.kind != "onnx":
        return ""
    try:
        return picture.svg(onnx.load_from_string(case.model))
    except DecodeError:  # a model may fail just because it is damaged
        return ""
