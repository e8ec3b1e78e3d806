"""All SQL: campaigns, results, cases, failures and bugs in one database, an SQLite file or one of PostgreSQL.

Values of `triage.records` go in and out; no session or row leaves this module. Every method is one
transaction, so a process may be killed at any moment and other processes may write meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Unpack

from sqlalchemy import func, update
from sqlalchemy.orm import defer
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, SQLModel, col, select

from fuzz.case import Case, Origin
from triage import records, store_browse, store_decisions, store_learnt, store_results, store_rows, store_tally
from triage.lifecycle import State, check_move
from triage.records import Bug, BugFields, Lesson, NewFailure, Reached, Result, StoredDraft, StoredFailure
from triage.rows import BugRow, CaseRow, FailureRow
from triage.store_base import now
from triage.store_best import SMALLEST_FIRST, choose_best_failures
from triage.store_browse import Failing, Wanted
from triage.store_campaigns import Campaigns
from triage.store_decisions import Undecidable
from triage.store_error import StoreError, Unknown
from triage.store_file import open_file
from triage.store_hand import ByHand
from triage.store_place import is_server
from triage.store_results import Recorded
from triage.store_upsert import upserting

__all__ = ["Conflict", "Store", "StoreError", "Undecidable", "Unknown", "open_store"]

#: table -> the columns that name a row.
_KEYS = {
    "result": ("campaign_id", "case_id", "target_id"),
    "case": ("id",),
    "bug": ("fingerprint",),
    "failure": ("case_id", "target_id"),
}


_WITHOUT_TEXTS = [defer(getattr(BugRow, name), raiseload=True) for name in ("body", "script")]


class Conflict(StoreError):
    """The bug is no longer in the expected state: another process was faster."""


def open_store(place: Path | str, create: bool) -> Store:
    """The store in an SQLite file, or at a URL ``postgresql://…``, migrated to the newest schema.

    Raises StoreError for a missing file unless `create`, and for a folder, a file that is no database, a server that
    cannot be reached, another program's database, or one of a newer schema.
    """
    if is_server(place):
        from triage.store_postgres import open_server

        return Store(str(place), open_server(str(place), create))
    path = Path(place)
    return Store(str(path), open_file(path, create))


class Store(Campaigns, ByHand):
    """The whole store: campaigns, decisions, and here results, failures and bugs."""

    # Results and failures

    def recorded(self, campaign_id: int) -> list[Recorded]:
        """All results of a campaign with the bugs that they show, by target and case."""
        with self.reading() as session:
            return store_results.recorded(session, campaign_id)

    def failed(self) -> dict[str, set[str]]:
        """The bugs that cases showed in any campaign, as fingerprints by case id; none that is no compiler's bug."""
        with self.reading() as session:
            return store_results.failed(session)

    def ran(self, case_ids: Sequence[str], before: int) -> set[str]:
        """Those of the cases that a campaign before this one has results of."""
        with self.reading() as session:
            return store_results.ran(session, case_ids, before)

    def record(
        self,
        campaign_id: int,
        results: Iterable[Result],
        failures: Iterable[NewFailure] = (),
        state: Literal[State.NEW, State.SLIP] = State.NEW,
        lessons: Iterable[Lesson] = (),
        reached: Iterable[Reached] = (),
    ) -> None:
        """Save a batch, all or nothing, with what it teaches the campaigns to come.

        What is recorded again replaces what was there. A failure whose fingerprint is unknown makes a bug in `state`;
        a slip that is recorded as NEW becomes a NEW bug. `reached` are parts of the compilers that were given cases.
        """
        moment = now()
        with self.writing() as session:
            failures = store_decisions.load(session).settle(failures)
            minute = store_tally.minute(session, campaign_id, moment)
            rows = [store_rows.result_columns(campaign_id, result, minute) for result in results]
            store_tally.count(session, campaign_id, rows)
            store_learnt.learn(session, rows, failures, lessons)
            store_tally.reach(session, campaign_id, reached, minute)
            _upsert(session, "result", rows)
            _insert(session, "case", [store_rows.case_columns(new.failure.case) for new in failures])
            _insert(session, "bug", [store_rows.new_bug_columns(new, state, moment) for new in failures])
            if state is State.NEW:
                _take_up(session, [new.fingerprint for new in failures], moment)
            _upsert(session, "failure", [store_rows.failure_columns(new) for new in failures])
            if failures:
                choose_best_failures(session)

    def case(self, case_id: str) -> Case:
        """A case that was saved: a failing or a reduced one. Raises Unknown."""
        with self.reading() as session:
            return self._case(session, case_id)

    def failure_ids(self, bug_id: int) -> list[int]:
        """The failures of a bug, the one with the smallest model first. Raises Unknown."""
        query = select(FailureRow.id).join(CaseRow).where(FailureRow.fingerprint == self.bug(bug_id).fingerprint)
        with self.reading() as session:
            return [number for number in session.exec(query.order_by(*SMALLEST_FIRST)) if number is not None]

    def failing(self, bug: Bug, limit: int) -> list[Failing]:
        """So many of the failures of a bug, without their values, the oldest first."""
        with self.reading() as session:
            return store_browse.failures(session, bug.fingerprint, limit)

    def failure(self, failure_id: int) -> StoredFailure:
        """One failure with its case and outcomes. Raises Unknown."""
        with self.reading() as session:
            row = session.get(FailureRow, failure_id)
            if row is None:
                raise Unknown(f"{self.place}: no failure {failure_id}")
            return StoredFailure(
                failure_id, row.fingerprint, store_rows.failure_from(row, self._case(session, row.case_id))
            )

    def origins(self, bug_id: int) -> list[Origin]:
        """Where the failing cases of a bug come from, the smallest model first. Raises Unknown."""
        query = select(CaseRow.origin).join(FailureRow).where(FailureRow.fingerprint == self.bug(bug_id).fingerprint)
        with self.reading() as session:
            return [records.origin_from(text) for text in session.exec(query.order_by(*SMALLEST_FIRST))]

    def _case(self, session: Session, case_id: str) -> Case:
        row = session.get(CaseRow, case_id)
        if row is None:
            raise Unknown(f"{self.place}: no case {case_id}")
        return store_rows.case_from(row)

    # Bugs

    def bugs(
        self, states: Iterable[State] | None = None, backend: str | None = None, campaign_id: int | None = None
    ) -> list[Bug]:
        """Bugs by id; those in `states`, of one backend, or seen in one campaign where that is given.

        A bug's count is 0 once all its failures turned out to be another's.
        """
        wanted: list[ColumnElement[bool]] = []
        if states is not None:
            wanted.append(col(BugRow.state).in_(list(states)))
        if backend is not None:
            wanted.append(col(BugRow.backend) == backend)
        if campaign_id is not None:
            wanted.append(_seen_in(campaign_id))
        return self._bugs(*wanted)

    def bug(self, bug_id: int) -> Bug:
        """One bug. Raises Unknown."""
        for bug in self._bugs(col(BugRow.id) == bug_id):
            return bug
        raise Unknown(f"{self.place}: no bug {bug_id}")

    def browse(self, wanted: Wanted, offset: int, limit: int) -> tuple[list[Bug], int]:
        """So many of the bugs that match, the newest first, and how many match in all."""
        with self.reading() as session:
            conditions = store_browse.matching(wanted, store_decisions.load(session).muted)
            total = store_browse.number(session, conditions)
        return self._bugs(*conditions, order=col(BugRow.id).desc(), offset=offset, limit=limit), total

    def kinds(self) -> Mapping[tuple[str, str], int]:
        """How many bugs there are of each compiler in each state, without slips and muted ones."""
        with self.reading() as session:
            return store_browse.kinds(session, store_browse.matching(Wanted(), store_decisions.load(session).muted))

    def _bugs(
        self,
        *wanted: ColumnElement[bool],
        order: ColumnElement[Any] | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> list[Bug]:
        count = select(func.count()).where(FailureRow.fingerprint == BugRow.fingerprint).scalar_subquery()
        # The reports' texts are long and read one at a time.
        query = select(BugRow, count).where(*wanted).options(*_WITHOUT_TEXTS)
        query = query.order_by(col(BugRow.id) if order is None else order).offset(offset).limit(limit)
        with self.reading() as session:
            return [store_rows.bug_from(row, number) for row, number in session.exec(query)]

    def draft(self, bug_id: int) -> StoredDraft | None:
        """The text of a bug's report, None while there is none. Raises Unknown."""
        query = select(BugRow.title, BugRow.body, BugRow.script, BugRow.labels).where(BugRow.id == bug_id)
        with self.reading() as session:
            found = session.exec(query).first()
        if found is None:
            raise Unknown(f"{self.place}: no bug {bug_id}")
        title, body, script, labels = found
        if title is None or body is None or script is None:
            return None
        return StoredDraft(title, body, script, tuple(json.loads(labels or "[]")))

    def advance(self, bug_id: int, expected: State, new: State, **fields: Unpack[BugFields]) -> None:
        """Move a bug from one state to another and save `fields`, all or nothing.

        Raises IllegalMove for a move that there is not, Unknown, and Conflict if the bug is not in `expected`.
        """
        check_move(expected, new)
        self._change(bug_id, expected, new, fields)

    def amend(self, bug_id: int, expected: State, **fields: Unpack[BugFields]) -> None:
        """Save `fields` of a bug that stays in its state. Raises Unknown, and Conflict if it is not in `expected`."""
        self._change(bug_id, expected, expected, fields)

    def failing_cases(self, bug_ids: Iterable[int]) -> dict[str, list[int]]:
        """Case id -> the bugs, of these, that it was seen to show; a case may have failed in several ways."""
        query = (
            select(FailureRow.case_id, BugRow.id)
            .join(BugRow, col(BugRow.fingerprint) == FailureRow.fingerprint)
            .where(col(BugRow.id).in_(list(bug_ids)))
        )
        with self.reading() as session:
            found: dict[str, list[int]] = {}
            for case, number in session.exec(query.distinct().order_by(col(BugRow.id))):
                if number is not None:
                    found.setdefault(case, []).append(number)
            return found

    def _change(self, bug_id: int, expected: State, new: State, fields: BugFields) -> None:
        changes = store_rows.changed_columns(fields) | {"state": new.value, "updated": now()}
        with self.writing() as session:
            row = session.get(BugRow, bug_id)
            if row is None:
                raise Unknown(f"{self.place}: no bug {bug_id}")
            if row.state != expected:
                raise Conflict(f"{self.place}: bug {bug_id} is {row.state}, not {expected}")
            if reduced := fields.get("reduced"):
                _insert(session, "case", [store_rows.case_columns(reduced)])
            for name, value in changes.items():
                setattr(row, name, value)


def _seen_in(campaign_id: int) -> ColumnElement[bool]:
    """Whether a campaign saw a bug."""
    return col(BugRow.fingerprint).in_(select(store_results.seen(campaign_id).subquery().c.fingerprint))


def _insert(session: Session, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add the rows that are not there yet."""
    if rows:
        statement = upserting(session, SQLModel.metadata.tables[table]).on_conflict_do_nothing(
            index_elements=_KEYS[table]
        )
        session.connection().execute(statement, rows)


def _upsert(session: Session, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows or replace those with equal keys; their ids stay."""
    if rows:
        statement = upserting(session, SQLModel.metadata.tables[table])
        new = {name: statement.excluded[name] for name in rows[0] if name not in _KEYS[table]}
        session.connection().execute(statement.on_conflict_do_update(index_elements=_KEYS[table], set_=new), rows)


def _take_up(session: Session, fingerprints: Sequence[str], moment: datetime) -> None:
    """What was only slipped to becomes a NEW bug."""
    slips = (col(BugRow.state) == State.SLIP) & col(BugRow.fingerprint).in_(fingerprints)
    if fingerprints:
        session.connection().execute(update(BugRow).where(slips).values(state=State.NEW, updated=moment))
