"""Campaigns and schedules that people pause, resume, cancel and start: the rows behind `triage.campaign_control`.

A schedule and the campaign that it has begun are one thing to a person, so they carry one mark, the schedule's. Every
function runs inside a write transaction; all of them may be called again without effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from sqlmodel import Session, col, select

from triage import store_acts
from triage.acts import Deed, NewAct
from triage.ledger.owners import now
from triage.ledger.queueing import queue
from triage.ledger.records import OPEN, NewWork, WorkState
from triage.ledger.rows import ScheduleRow, WorkRow
from triage.records import Mark, Wish
from triage.rows import CampaignRow
from triage.store import Store
from triage.store_error import StoreError

#: What is asked of what was found by a name; by whom.
Act = Callable[[Session, ScheduleRow | None, CampaignRow | None, str], None]
#: The kind of work that a schedule asks for; its key is the schedule's name.
KIND = "hunt"
#: Regular work gives way to what somebody waits for.
PRIORITY = 90
#: The longest number of a campaign that any database takes.
_DIGITS = 18
#: What a person did, in words that follow the name.
_DONE = {Deed.PAUSE: "paused it", Deed.RESUME: "let it go on", Deed.CANCEL: "cancelled it"}


class Unsteerable(StoreError):
    """What was asked of a campaign cannot be done; the text says why, and what can."""


class Steering:
    """The marks of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ask(self, name: str, act: Act, by: str, deed: Deed | None = None) -> tuple[str, bool]:
        """Do one of the acts of this file and note who did it.

        Returned are the schedule's name, else the number, that was meant; and whether its campaign stands otherwise
        now, which is false too where there is none. Raises Unsteerable.
        """
        with self._store.writing() as session:
            schedule, campaign = find(session, name)
            before = _wished(session, campaign)
            act(session, schedule, campaign, by)
            changed = _wished(session, campaign) is not before
            if by and deed and campaign and changed:
                store_acts.add(session, NewAct(by, deed, _DONE[deed], campaign_id=campaign.id))
            return schedule.name if schedule else str(campaign.id if campaign else name), changed

    def wish(self, campaign_id: int) -> Wish:
        """What is wished of whoever runs the campaign. Raises Unsteerable for one that there is not."""
        with self._store.reading() as session:
            row = session.get(CampaignRow, campaign_id)
            if row is None:
                raise Unsteerable(f"there is no campaign {campaign_id}")
            return _wish(session, row)

    def attend(self, campaign_id: int, owner: str) -> None:
        """Note who is at a campaign now, "" for nobody."""
        with self._store.writing() as session:
            row = session.get(CampaignRow, campaign_id)
            if row is not None:
                row.owner, row.seen = owner, now()


def _wished(session: Session, campaign: CampaignRow | None) -> Wish | None:
    return None if campaign is None else _wish(session, campaign)


def _wish(session: Session, row: CampaignRow) -> Wish:
    if row.finished is not None:
        return Wish.END if row.mark else Wish.GO_ON
    schedule = session.get(ScheduleRow, row.name) if row.name else None
    return Wish.PAUSE if row.mark == Mark.PAUSED or (schedule and schedule.paused) else Wish.GO_ON


def find(session: Session, name: str) -> tuple[ScheduleRow | None, CampaignRow | None]:
    """What a name means: a schedule and the campaign that it is at, or the campaign of a number. Raises Unsteerable."""
    if name.isdecimal():
        campaign = session.get(CampaignRow, int(name)) if len(name) <= _DIGITS else None
        if campaign is None:
            raise Unsteerable(f"there is no campaign {name}: `graphwarden campaigns` lists what there is")
        goes_on = campaign.name and campaign.finished is None
        return session.get(ScheduleRow, campaign.name) if goes_on else None, campaign
    schedule = session.get(ScheduleRow, name)
    unfinished = select(CampaignRow).where(CampaignRow.name == name, col(CampaignRow.finished).is_(None))
    campaign = session.exec(unfinished.order_by(col(CampaignRow.id).desc())).first() if name else None
    if schedule is None and campaign is None:
        raise Unsteerable(f"there is no schedule {name!r}: `graphwarden campaigns` lists what there is")
    return schedule, campaign


def pause(session: Session, schedule: ScheduleRow | None, campaign: CampaignRow | None, by: str) -> None:
    """Nothing more of it is run until it is resumed. Raises Unsteerable."""
    if schedule is not None:
        if not schedule.paused:
            schedule.paused, schedule.marked_by, schedule.marked = True, by, now()
    elif campaign is not None and _open(campaign).mark != Mark.PAUSED:
        _mark(campaign, Mark.PAUSED, by)


def resume(session: Session, schedule: ScheduleRow | None, campaign: CampaignRow | None, by: str) -> None:
    """It goes on where it was. Raises Unsteerable."""
    if schedule is not None:
        if schedule.paused:
            schedule.paused, schedule.marked_by, schedule.marked = False, by, now()
        _wake(session, schedule.name)
    elif campaign is not None:
        if _open(campaign).mark == Mark.PAUSED:
            _mark(campaign, Mark.NONE, by)
        _wake(session, campaign.name)


def cancel(session: Session, schedule: ScheduleRow | None, campaign: CampaignRow | None, by: str) -> None:
    """It ends, with all that it has found; a schedule begins the next one when that is due. Raises Unsteerable."""
    if campaign is not None and campaign.finished and campaign.mark == Mark.CANCELLED:
        return  # what its schedule has queued since is another one
    if campaign is not None:
        _mark(_open(campaign), Mark.CANCELLED, by)
        campaign.finished = now()
    if schedule is not None:
        schedule.cancelled = now()
    if key := schedule.name if schedule else campaign.name if campaign else "":
        end_waiting(session, key, f"cancelled by {by}" if by else "cancelled")


def start(session: Session, schedule: ScheduleRow | None, campaign: CampaignRow | None, by: str) -> None:
    """A schedule is due now, unless it is under way. Raises Unsteerable."""
    if schedule is None:
        assert campaign is not None
        told = "its schedule is not at it any more" if campaign.name else _hunted(campaign)
        raise Unsteerable(f"campaign {campaign.id} cannot be started from here: {told}; give the name of a schedule")
    if schedule.paused:
        raise Unsteerable(f"{schedule.name} is paused: `graphwarden campaigns resume {schedule.name}` lets it go on")
    if not any(_works(session, schedule.name)):
        due(session, schedule)


def _hunted(campaign: CampaignRow) -> str:
    return "the same `graphwarden hunt` " + ("begins another one" if campaign.finished else "goes on with it")


def due(session: Session, schedule: ScheduleRow) -> int:
    """Queue the work that a schedule asks for; its id."""
    schedule.rung = now()
    payload = {"budget": schedule.budget, "sources": json.loads(schedule.sources), "rung": schedule.rung.isoformat()}
    return queue(session, NewWork(KIND, schedule.name, schedule.project, payload, PRIORITY))


def running(session: Session, name: str) -> bool:
    """Whether a process is at a campaign of the schedule."""
    return any(each.state == WorkState.RUNNING for each in _works(session, name))


def end_waiting(session: Session, name: str, why: str) -> None:
    """Work of a schedule that waits is not done any more; what runs hears of it by the mark."""
    for each in _works(session, name):
        if each.state == WorkState.QUEUED:
            each.state, each.note, each.updated = WorkState.CANCELLED.value, why, now()


def _open(campaign: CampaignRow) -> CampaignRow:
    """The campaign, as long as it goes on. Raises Unsteerable."""
    if "suite" in json.loads(campaign.parameters):
        raise Unsteerable(f"campaign {campaign.id} is what a suite recorded: it cannot be paused or cancelled")
    if campaign.finished is not None:
        by = f" by {campaign.marked_by}" if campaign.marked_by else ""
        how = f"was {campaign.mark}{by}" if campaign.mark else "has run all its cases"
        raise Unsteerable(f"campaign {campaign.id} {how} at {campaign.finished:%Y-%m-%d %H:%M} UTC: it does not go on")
    return campaign


def _mark(campaign: CampaignRow, mark: Mark, by: str) -> None:
    campaign.mark, campaign.marked_by, campaign.marked = mark.value, by, now()


def _wake(session: Session, name: str) -> None:
    for each in _works(session, name):
        each.not_before = None


def _works(session: Session, name: str) -> Iterable[WorkRow]:
    wanted = (WorkRow.kind == KIND, WorkRow.key == name, col(WorkRow.state).in_(OPEN))
    return session.exec(select(WorkRow).where(*wanted)).all() if name else ()
