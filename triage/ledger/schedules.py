"""Regular campaigns: what the configuration wants, and when each was last due.

That is kept, so that what was due while nobody ran is made up for, once; and so that a ring and the work which follows
from it are one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum

from sqlmodel import col, select

from triage import store_steering as steering
from triage.ledger.owners import now
from triage.ledger.records import Planned, Schedule, Work
from triage.ledger.rows import ScheduleRow
from triage.records import dump
from triage.store import Store


class Rung(StrEnum):
    """What came of a ring."""

    QUEUED = "queued"
    PAUSED = "paused"
    RUNNING = "running"  # the one before has not ended: two never run at once, and none piles up
    GONE = "gone"  # the configuration has no such schedule any more


class Schedules:
    """The schedules of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def agree(self, wanted: Sequence[Planned]) -> list[Schedule]:
        """Take over what the configuration has now; all as they are then.

        What is new, or has another cron expression, was last due now. What is there no more is forgotten, and its work
        is not done any more.
        """
        names = [each.name for each in wanted]
        with self._store.writing() as session:
            for row in session.exec(select(ScheduleRow).where(col(ScheduleRow.name).not_in(names))).all():
                steering.end_waiting(session, row.name, "the configuration does not have this schedule any more")
                session.delete(row)
            for each in wanted:
                found = session.get(ScheduleRow, each.name)
                rung = found.rung if found and found.cron == each.cron else now()
                row = found or ScheduleRow(name=each.name, project="", cron="", budget="", sources="")
                row.project, row.cron, row.budget, row.rung = each.project, each.cron, each.budget, rung
                row.sources = dump(each.sources)
                session.add(row)
        return self.listed(names)

    def listed(self, names: Collection[str] | None = None) -> list[Schedule]:
        """All schedules, or those of these names, by name."""
        query = select(ScheduleRow).order_by(col(ScheduleRow.name))
        with self._store.reading() as session:
            rows = session.exec(query if names is None else query.where(col(ScheduleRow.name).in_(names)))
            return [_schedule(row) for row in rows]

    def void(self, work: Work) -> str:
        """Why work that a schedule once asked for is not to be done any more, "" where it is."""
        rung = work.payload.get("rung")
        if not rung:
            return ""  # nobody's schedule
        with self._store.reading() as session:
            return _void(session.get(ScheduleRow, work.key), datetime.fromisoformat(str(rung)))

    def paused(self, name: str) -> bool:
        """Whether a person has paused the schedule."""
        with self._store.reading() as session:
            row = session.get(ScheduleRow, name)
            return row is not None and row.paused

    def ring(self, name: str) -> Rung:
        """The schedule is due: its work is queued, unless it is paused or still at the one before."""
        with self._store.writing() as session:
            row = session.get(ScheduleRow, name)
            if row is None:
                return Rung.GONE
            if row.paused or steering.running(session, name):
                row.rung = now()
                return Rung.PAUSED if row.paused else Rung.RUNNING
            steering.due(session, row)
            return Rung.QUEUED


def _void(row: ScheduleRow | None, rung: datetime) -> str:
    if row is None:
        return "the configuration does not have this schedule any more"
    return "cancelled" if row.cancelled is not None and rung <= row.cancelled else ""


def _schedule(row: ScheduleRow) -> Schedule:
    planned = Planned(row.name, row.project, row.cron, row.budget, tuple(json.loads(row.sources)))
    return Schedule(planned, row.paused, row.marked_by, row.marked, row.rung)
