"""All SQL: campaigns, results, cases, failures and bugs in one database, an SQLite file or one of PostgreSQL.

Values of `triage.records` go in and out; no session or row leaves this module. Every method is one
transaction, so a process may be killed at any moment and other processes may write meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack

from sqlalchemy import Engine, func, make_url, update
from sqlalchemy.orm import defer
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, SQLModel, col, select

from fuzz.case import Case, Origin, Status
from fuzz.ranking.history import History
from triage import (
    records,
    store_acts,
    store_browse,
    store_decisions,
    store_learnt,
    store_pruning,
    store_results,
    store_rows,
    store_tally,
)
from triage.acts import Deed, NewAct
from triage.decisions import Decisions
from triage.lifecycle import WITH_DRAFT, State, check_move
from triage.records import (
    Bug,
    BugFields,
    CampaignInfo,
    Counts,
    Lesson,
    Mark,
    NewFailure,
    Overview,
    Pruned,
    Reached,
    Result,
    StoredDraft,
    StoredFailure,
)
from triage.rows import BugRow, CampaignRow, CaseRow, FailureRow, ResultRow
from triage.store_advice import one_line_errors
from triage.store_browse import Failing, Wanted
from triage.store_decisions import Undecidable
from triage.store_error import StoreError
from triage.store_file import open_file
from triage.store_locks import Holds, locked_file, locked_server
from triage.store_place import is_server, shown
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


#: Of failures joined with their cases.
_SMALLEST_FIRST = (func.length(CaseRow.model), func.length(CaseRow.inputs), col(FailureRow.id))
_WITHOUT_TEXTS = [defer(getattr(BugRow, name), raiseload=True) for name in ("body", "script")]


class Unknown(StoreError):
    """An id that the database does not hold."""


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


class Store:
    """One database, for use by the threads of one process; close it, or use it in a ``with``.

    `address` opens it once more; `place` is what people may see of that.
    """

    def __init__(self, address: str, engine: Engine) -> None:
        self.address, self.place = address, shown(address)
        self._engine = engine

    def close(self) -> None:
        """Close the connections; what was recorded is safe without this."""
        with one_line_errors(self.place):
            self._engine.dispose()

    def beside(self, name: str) -> Path:
        """Where a file of this machine lies that belongs to the database: beside it, or in the current folder."""
        if is_server(self.address):
            return Path(f"{make_url(self.address).database}.{name}").absolute()
        path = Path(self.address)
        return path.with_name(f"{path.name}.{name}")

    @contextmanager
    def sole(self, what: str) -> Iterator[Holds]:
        """Whether nobody else who shares the database is inside for this purpose; nobody waits.

        Once it is ours it may be lost: with the connection to a server. Raises StoreError.
        """
        server = is_server(self.address)
        with locked_server(self._engine, what, self.place) if server else locked_file(self.beside(what)) as holds:
            yield holds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _session(self, begin: str) -> Iterator[Session]:
        engine = self._engine.execution_options(begin=begin)
        with one_line_errors(self.place), Session(engine) as session, session.begin():
            yield session

    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that only reads; for this file and `triage.ledger`."""
        return self._session("DEFERRED")

    def writing(self) -> AbstractContextManager[Session]:
        """A transaction that takes the write lock at once; for this file and `triage.ledger`."""
        return self._session("IMMEDIATE")

    def checkpoint(self) -> None:
        """Move what was committed from the log into the file, so that nobody who is in a hurry has to; nobody waits.

        A server does that by itself.
        """
        if is_server(self.address):
            return
        with one_line_errors(self.place):
            lent = self._engine.raw_connection()
            try:
                lent.driver_connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # type: ignore[union-attr]
            finally:
                lent.close()

    # Campaigns

    def begin_campaign(self, parameters: Mapping[str, Any], resume: bool = True, name: str = "") -> CampaignInfo:
        """The newest unfinished campaign with equal `parameters` (a JSON document) and name, else a new one.

        `name` is that of a schedule: what it has begun with other parameters is ended, since nobody goes on with it.
        """
        text = records.dump(parameters)
        unfinished = (col(CampaignRow.finished).is_(None), col(CampaignRow.name) == name)
        same = select(CampaignRow).where(CampaignRow.parameters == text, *unfinished)
        others = update(CampaignRow).where(col(CampaignRow.parameters) != text, *unfinished)
        with self.writing() as session:
            if name:
                session.connection().execute(others.values(finished=_now(), mark=Mark.SUPERSEDED, marked=_now()))
            found = session.exec(same.order_by(col(CampaignRow.id).desc())).first() if resume else None
            row = found or CampaignRow(parameters=text, started=_now(), name=name)
            session.add(row)
            session.flush()
            return store_results.campaign(row, resumed=found is not None)

    def finish_campaign(self, campaign_id: int) -> None:
        """Mark a campaign as done: it will not be resumed. Raises Unknown."""
        with self.writing() as session:
            row = session.get(CampaignRow, campaign_id)
            if row is None:
                raise Unknown(f"{self.place}: no campaign {campaign_id}")
            row.finished = row.finished or _now()

    def done(self, campaign_id: int) -> set[tuple[str, str]]:
        """The (case id, target id) pairs that the campaign has results for."""
        query = select(ResultRow.case_id, ResultRow.target_id).where(ResultRow.campaign_id == campaign_id)
        known: dict[str, str] = {}  # equal ids share one string: there are few targets
        with self.reading() as session:
            return {
                (known.setdefault(case, case), known.setdefault(target, target)) for case, target in session.exec(query)
            }

    def counts(self, campaign_id: int) -> Counts:
        """The numbers of a campaign, all from one moment."""
        return self.overview(campaign_id).counts

    def overview(self, campaign_id: int) -> Overview:
        """The numbers, the bugs and the minutes of a campaign."""
        with self.reading() as session:
            ends, cases = store_tally.ends(session, campaign_id)
            seen = store_results.sightings(session, campaign_id)
            progress = store_tally.progress(session, campaign_id)
            reached = store_tally.reached(session, campaign_id)
        drafts = sum(each.state in WITH_DRAFT for each in seen)
        counts = Counts(ends, cases, sum(each.failures for each in seen), len(seen), drafts)
        return Overview(counts, seen, progress, reached)

    def totals(self) -> tuple[Mapping[Status, int], int]:
        """How many results of all campaigns have each status, and the sum of the campaigns' cases."""
        with self.reading() as session:
            return store_tally.totals(session)

    def campaigns(self) -> list[CampaignInfo]:
        """Every campaign, the oldest first."""
        with self.reading() as session:
            return store_results.campaigns(session)

    def prune(self, rule: str) -> int:
        """Take away one batch of what a rule allows (`triage.pruning`), with a record; how many rows that were."""
        with self.writing() as session:
            return store_pruning.prune(session, rule, _now())

    def prunable(self, rule: str) -> int:
        """How many rows a rule would take away now."""
        with self.reading() as session:
            return store_pruning.number(session, rule)

    def pruned(self) -> list[Pruned]:
        """What was taken away, the oldest first."""
        with self.reading() as session:
            return store_pruning.listed(session)

    def history(self, targets: Collection[str]) -> History:
        """What all campaigns so far taught of the compilers of these targets' ids."""
        with self.reading() as session:
            names = store_learnt.backends(session, targets)
            bugs = frozenset(session.exec(select(BugRow.fingerprint)))
            return History(store_learnt.covered(session, names), store_learnt.ends(session, names), bugs)

    # Results and failures

    def recorded(self, campaign_id: int) -> list[Recorded]:
        """All results of a campaign with the bugs that they show, by target and case."""
        with self.reading() as session:
            return store_results.recorded(session, campaign_id)

    def failed(self) -> set[str]:
        """The ids of all cases that any campaign saw fail."""
        with self.reading() as session:
            return store_results.failed(session)

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
        now = _now()
        with self.writing() as session:
            failures = store_decisions.load(session).settle(failures)
            minute = store_tally.minute(session, campaign_id, now)
            rows = [store_rows.result_columns(campaign_id, result, minute) for result in results]
            store_tally.count(session, campaign_id, rows)
            store_learnt.learn(session, rows, failures, lessons)
            store_tally.reach(session, campaign_id, reached, minute)
            _upsert(session, "result", rows)
            _insert(session, "case", [store_rows.case_columns(new.failure.case) for new in failures])
            _insert(session, "bug", [store_rows.new_bug_columns(new, state, now) for new in failures])
            if state is State.NEW:
                _take_up(session, [new.fingerprint for new in failures], now)
            _upsert(session, "failure", [store_rows.failure_columns(new) for new in failures])
            if failures:
                _choose_best_failures(session)

    def case(self, case_id: str) -> Case:
        """A case that was saved: a failing or a reduced one. Raises Unknown."""
        with self.reading() as session:
            return self._case(session, case_id)

    def failure_ids(self, bug_id: int) -> list[int]:
        """The failures of a bug, the one with the smallest model first. Raises Unknown."""
        query = select(FailureRow.id).join(CaseRow).where(FailureRow.fingerprint == self.bug(bug_id).fingerprint)
        with self.reading() as session:
            return [number for number in session.exec(query.order_by(*_SMALLEST_FIRST)) if number is not None]

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
            return [records.origin_from(text) for text in session.exec(query.order_by(*_SMALLEST_FIRST))]

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

    # Decisions of a person

    def decisions(self) -> Decisions:
        """What has been decided by hand."""
        with self.reading() as session:
            return store_decisions.load(session)

    def merge(self, kept_id: int, given_id: int, by: str = "") -> bool:
        """Give all failures of one bug to another, for good; False where that was done before.

        `by` is kept with it. Raises Unknown, Undecidable and IllegalMove.
        """
        with self.writing() as session:
            done = store_decisions.merge(session, self._row(session, kept_id), self._row(session, given_id), _now())
            if done:
                _choose_best_failures(session)
                _note(session, NewAct(by, Deed.MERGE, f"merged it into bug {kept_id}", given_id))
                _note(session, NewAct(by, Deed.MERGE, f"merged bug {given_id} into it", kept_id))
            return done

    def unmerge(self, given_id: int, why: str = "by hand") -> None:
        """Undo that a bug was merged: it is NEW and has its failures again, and is apart from the other for good.

        Raises Unknown, Undecidable and IllegalMove.
        """
        with self.writing() as session:
            store_decisions.unmerge(session, self._row(session, given_id), why, _now())
            _choose_best_failures(session)

    def split(self, bug_id: int, failure_ids: Sequence[int], why: str = "by hand", by: str = "") -> int:
        """Make a bug of its own, for good, of some failures of a bug; its id. `by` is kept with it.

        Raises Unknown and Undecidable.
        """
        with self.writing() as session:
            rows = []
            for number in dict.fromkeys(failure_ids):
                row = session.get(FailureRow, number)
                if row is None:
                    raise Unknown(f"{self.place}: no failure {number}")
                rows.append(row)
            new = store_decisions.split(session, self._row(session, bug_id), rows, why, _now())
            assert new.id is not None
            told = f"split {len(rows)} failure{'s' if len(rows) > 1 else ''} off as bug {new.id}"
            _note(session, NewAct(by, Deed.SPLIT, told, bug_id))
            _note(session, NewAct(by, Deed.SPLIT, f"split it off bug {bug_id}", new.id))
            return new.id

    def mute(self, bug_id: int, reason: str = "", by: str = "") -> bool:
        """Put a bug aside for good; False where it was before, and the first reason stands.

        `by` is kept with it. Raises Unknown and IllegalMove.
        """
        with self.writing() as session:
            done = store_decisions.mute(session, self._row(session, bug_id), reason, _now())
            if done:
                _note(session, NewAct(by, Deed.MUTE, "muted it" + (f": {reason}" if reason else ""), bug_id))
            return done

    def _row(self, session: Session, bug_id: int) -> BugRow:
        row = session.get(BugRow, bug_id)
        if row is None:
            raise Unknown(f"{self.place}: no bug {bug_id}")
        return row

    def _change(self, bug_id: int, expected: State, new: State, fields: BugFields) -> None:
        changes = store_rows.changed_columns(fields) | {"state": new.value, "updated": _now()}
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


def _now() -> datetime:
    return datetime.now(UTC)


def _note(session: Session, new: NewAct) -> None:
    """Keep what a person did; what the bot decides by itself is told elsewhere."""
    if new.by:
        store_acts.add(session, new)


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


def _take_up(session: Session, fingerprints: Sequence[str], now: datetime) -> None:
    """What was only slipped to becomes a NEW bug."""
    slips = (col(BugRow.state) == State.SLIP) & col(BugRow.fingerprint).in_(fingerprints)
    if fingerprints:
        session.connection().execute(update(BugRow).where(slips).values(state=State.NEW, updated=now))


def _choose_best_failures(session: Session) -> None:
    """Give every bug that nobody has worked on yet its smallest failure, and every one that has lost its best."""
    own = FailureRow.fingerprint == BugRow.fingerprint
    best = select(FailureRow.id).join(CaseRow).where(own).order_by(*_SMALLEST_FIRST).limit(1).scalar_subquery()
    lost = ~select(FailureRow.id).where(own, FailureRow.id == BugRow.best_failure_id).exists()
    untouched = col(BugRow.state) == State.NEW
    session.connection().execute(update(BugRow).where(lost | untouched).values(best_failure_id=best))
