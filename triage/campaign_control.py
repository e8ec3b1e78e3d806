"""Pausing, resuming, cancelling and starting campaigns, for the command line, the pages and whoever runs one.

A campaign is named by its number, or by the name of its schedule (docs/campaigns.md). What is asked for is a mark in
the database: the process that hunts looks for it and obeys within seconds, and one that begins later does so at once.
Each call is one transaction, may be repeated without effect, and raises `Unsteerable` (a StoreError of one line) for
what cannot be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from triage import store_steering as steering
from triage.acts import Deed
from triage.ledger import Ledger
from triage.ledger.owners import LEASE, free, me
from triage.ledger.records import OPEN, Schedule, Work, WorkState
from triage.records import CampaignInfo, Mark, Wish
from triage.store import Store
from triage.store_steering import Steering
from triage.store_steering import Unsteerable as Unsteerable


class Standing(StrEnum):
    """How a campaign or a schedule stands."""

    RUNNING = "running"
    WAITING = "waiting"  # not all cases were run; nobody is at it now
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"  # its schedule hunts in a newer build
    IDLE = "idle"  # a schedule that is not due yet


@dataclass(frozen=True)
class Line:
    """What is told of one thing that can be named: a schedule with the campaign that it is at, or a campaign.

    `by` is who paused or cancelled it, `at` when (UTC). Where it answers what was asked, `changed` says whether the
    campaign stands otherwise since.
    """

    name: str
    standing: Standing
    schedule: Schedule | None
    campaign: CampaignInfo | None
    by: str = ""
    at: datetime | None = None
    changed: bool = False


def pause(store: Store, name: str, by: str = "") -> Line:
    """Nothing more is run until it is resumed; all that was found and the place stay. Raises Unsteerable."""
    return _told(store, name, steering.pause, by, Deed.PAUSE)


def resume(store: Store, name: str, by: str = "") -> Line:
    """It goes on where it was. Raises Unsteerable."""
    return _told(store, name, steering.resume, by, Deed.RESUME)


def cancel(store: Store, name: str, by: str = "") -> Line:
    """It ends for good; bugs and drafts stay, and its schedule rings again when it is due. Raises Unsteerable."""
    return _told(store, name, steering.cancel, by, Deed.CANCEL)


def start(store: Store, name: str, by: str = "") -> Line:
    """A schedule is due now; without effect while it is under way. Raises Unsteerable, for a paused one too."""
    return _told(store, name, steering.start, by)


def listed(store: Store) -> list[Line]:
    """Schedules by name, each with the campaign that it is at, then all other campaigns of hunts, the newest first."""
    ledger = Ledger(store)
    known = [each for each in reversed(store.campaigns()) if "suite" not in each.parameters]
    at = {each.name: each for each in reversed(known) if each.name and each.finished is None}
    work = {each.key: each for each in ledger.work.listed(OPEN, steering.KIND)}
    schedules = ledger.schedules.listed()
    lines = [_line(each, at.get(each.planned.name), work.get(each.planned.name)) for each in schedules]
    shown = {line.campaign.id for line in lines if line.campaign}
    return [*lines, *(_line(None, each, None) for each in known if each.id not in shown)]


def wish(store: Store, campaign_id: int) -> Wish:
    """What is wished of whoever runs the campaign. Raises Unsteerable."""
    return Steering(store).wish(campaign_id)


def attend(store: Store, campaign_id: int) -> None:
    """Say that this process runs the campaign: it counts as running for a lease, and as long as the process lives."""
    Steering(store).attend(campaign_id, me())


@contextmanager
def attended(store: Store, campaign_id: int) -> Iterator[None]:
    """This process runs the campaign inside, and nobody does so afterwards."""
    attend(store, campaign_id)
    try:
        yield
    finally:
        Steering(store).attend(campaign_id, "")


def _told(store: Store, name: str, act: steering.Act, by: str, deed: Deed | None = None) -> Line:
    meant, changed = Steering(store).ask(name, act, by, deed)
    return replace(next(line for line in listed(store) if line.name == meant), changed=changed)


def _line(schedule: Schedule | None, campaign: CampaignInfo | None, work: Work | None) -> Line:
    if schedule is not None:
        name, by, at = schedule.planned.name, schedule.marked_by, schedule.marked
        standing = Standing.PAUSED if schedule.paused else _of_work(work) if work else Standing.IDLE
        if standing is Standing.IDLE and campaign is not None:
            standing = _of_campaign(campaign)
        return Line(name, standing, schedule, campaign, by, at)
    assert campaign is not None
    return Line(str(campaign.id), _of_campaign(campaign), None, campaign, campaign.marked_by, campaign.marked)


def _of_work(work: Work) -> Standing:
    return Standing.RUNNING if work.state is WorkState.RUNNING else Standing.WAITING


def _of_campaign(campaign: CampaignInfo) -> Standing:
    if campaign.finished is not None:
        return Standing(campaign.mark.value) if campaign.mark else Standing.DONE
    if campaign.mark is Mark.PAUSED:
        return Standing.PAUSED
    seen = None if campaign.seen is None else campaign.seen + LEASE
    return Standing.WAITING if not campaign.owner or free(campaign.owner, seen) else Standing.RUNNING
