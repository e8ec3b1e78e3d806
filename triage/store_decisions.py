"""Decisions of a person in the database: merging, splitting and muting bugs. For `triage.store` alone.

Every function runs inside a write transaction of the store, so a decision and what follows from it come together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, tuple_, update
from sqlmodel import Session, col, select

from triage.decisions import Decisions, Kind, split_fingerprint
from triage.lifecycle import State, check_move
from triage.rows import BugRow, DecisionRow, FailureRow
from triage.store_error import StoreError


class Undecidable(StoreError):
    """A decision that contradicts what is there; the message says what to do instead."""


def load(session: Session) -> Decisions:
    """All decisions."""
    rows = session.exec(select(DecisionRow)).all()
    return Decisions(
        merged={row.fingerprint: row.other for row in rows if row.kind == Kind.MERGE},
        split={(row.case_id, row.target_id): row.other for row in rows if row.kind == Kind.SPLIT},
        apart=frozenset(frozenset((row.fingerprint, row.other)) for row in rows if row.kind == Kind.APART),
        muted=frozenset(row.fingerprint for row in rows if row.kind == Kind.MUTE),
    )


def merge(session: Session, kept: BugRow, given: BugRow, now: datetime) -> bool:
    """Give all failures of one bug to another, now and whenever they are seen again; False where they were given
    before. Raises Undecidable.
    """
    if kept.id == given.id:
        raise Undecidable(f"bug {kept.id} cannot be merged with itself")
    if kept.backend != given.backend:
        raise Undecidable(
            f"bug {kept.id} is {kept.backend}'s and bug {given.id} {given.backend}'s: a bug has one compiler"
        )
    if kept.state == State.DUPLICATE:
        raise Undecidable(f"bug {kept.id} is itself a duplicate ({kept.note}): name the bug that is kept")
    before = _merged(session, given.fingerprint)
    if before == kept.fingerprint:
        return False
    if before:
        raise Undecidable(f"bug {given.id} was {given.note} already")
    if _muted(session, given):
        raise Undecidable(
            f"bug {given.id} is muted: merge bug {kept.id} into it, and nobody hears of either, or leave them apart"
        )
    _forget(session, Kind.APART, kept.fingerprint, given.fingerprint)
    _forget(session, Kind.APART, given.fingerprint, kept.fingerprint)
    session.add(DecisionRow(kind=Kind.MERGE, fingerprint=given.fingerprint, other=kept.fingerprint, made=now))
    _remember(session, given.fingerprint, now)
    _give(session, given.fingerprint, kept.fingerprint)
    if given.state != State.DUPLICATE:
        check_move(State(given.state), State.DUPLICATE)
        given.state = State.DUPLICATE
    given.note, given.updated, given.best_failure_id = f"merged into bug {kept.id} by hand", now, None
    kept.updated = now
    return True


def _merged(session: Session, fingerprint: str) -> str:
    """The fingerprint that a bug was merged into by hand, "" for none."""
    query = select(DecisionRow.other).where(DecisionRow.kind == Kind.MERGE, DecisionRow.fingerprint == fingerprint)
    return session.exec(query).first() or ""


def unmerge(session: Session, given: BugRow, why: str, now: datetime) -> str:
    """Give a merged bug its failures back, to be judged anew; the fingerprint of the bug that had them.

    The two are apart from then on. What was seen for the first time since then stays where it is until it is seen
    again. Raises Undecidable.
    """
    if not _merged(session, given.fingerprint):
        raise Undecidable(f"bug {given.id} was not merged with another")
    kept = load(session).fingerprint(given.fingerprint)
    _forget(session, Kind.MERGE, given.fingerprint)
    session.add(DecisionRow(kind=Kind.APART, fingerprint=kept, other=given.fingerprint, made=now))
    mine = select(DecisionRow.case_id, DecisionRow.target_id).where(
        DecisionRow.kind == Kind.GIVEN, DecisionRow.fingerprint == given.fingerprint
    )
    theirs = tuple_(col(FailureRow.case_id), col(FailureRow.target_id)).in_(mine)
    back = update(FailureRow).where(col(FailureRow.fingerprint) == kept, theirs)
    session.connection().execute(back.values(fingerprint=given.fingerprint))
    _forget(session, Kind.GIVEN, given.fingerprint)
    check_move(State(given.state), State.NEW)
    given.state, given.note, given.updated = State.NEW, why, now
    return kept


def split(session: Session, bug: BugRow, failures: Sequence[FailureRow], why: str, now: datetime) -> BugRow:
    """Make a bug of its own of some failures of a bug, now and whenever they are seen again. Raises Undecidable."""
    strangers = [str(row.id) for row in failures if row.fingerprint != bug.fingerprint]
    if strangers:
        raise Undecidable(f"failure {', '.join(strangers)} is not of bug {bug.id} (see graphwarden bugs failures)")
    best = next((row.id for row in failures if row.id == bug.best_failure_id), None)
    if best is not None:
        raise Undecidable(f"failure {best} is the one that bug {bug.id} stands on: split the others off instead")
    keys = [(row.case_id, row.target_id) for row in failures]
    fingerprint = split_fingerprint(bug.fingerprint, keys)
    new = _new_bug(bug, fingerprint, failures[0], why, now)
    session.add(new)
    session.flush()
    for row in failures:
        _forget_split(session, row)
        session.add(
            DecisionRow(
                kind=Kind.SPLIT,
                fingerprint=bug.fingerprint,
                other=fingerprint,
                case_id=row.case_id,
                target_id=row.target_id,
                made=now,
            )
        )
        row.fingerprint = fingerprint
    session.add(DecisionRow(kind=Kind.APART, fingerprint=bug.fingerprint, other=fingerprint, made=now))
    bug.updated = now
    return new


def mute(session: Session, bug: BugRow, reason: str, now: datetime) -> bool:
    """Put a bug aside for good: it is neither worked on nor shown, however often it is seen again.

    False where that was decided before. Raises Undecidable.
    """
    if _muted(session, bug):
        return False
    if bug.state == State.DUPLICATE:
        raise Undecidable(f"bug {bug.id} is a duplicate ({bug.note}): mute the bug that is kept")
    if bug.state != State.INVALID:
        check_move(State(bug.state), State.INVALID)
        bug.state = State.INVALID
    session.add(DecisionRow(kind=Kind.MUTE, fingerprint=bug.fingerprint, other="", made=now))
    bug.note, bug.updated = "muted by hand" + (f": {reason}" if reason else ""), now
    return True


def _muted(session: Session, bug: BugRow) -> bool:
    query = select(DecisionRow.id).where(DecisionRow.kind == Kind.MUTE, DecisionRow.fingerprint == bug.fingerprint)
    return session.exec(query).first() is not None


def _remember(session: Session, fingerprint: str, now: datetime) -> None:
    """Which failures a bug has before it gives them away, those that it was given itself among them."""
    rows = session.exec(select(FailureRow).where(FailureRow.fingerprint == fingerprint)).all()
    _forget(session, Kind.GIVEN, fingerprint)
    places = dict.fromkeys((row.case_id, row.target_id) for row in rows)
    session.add_all(
        DecisionRow(kind=Kind.GIVEN, fingerprint=fingerprint, other="", case_id=case, target_id=target, made=now)
        for case, target in places
    )


def _give(session: Session, old: str, new: str) -> None:
    mine = update(FailureRow).where(col(FailureRow.fingerprint) == old).values(fingerprint=new)
    session.connection().execute(mine)


def _forget(session: Session, kind: Kind, fingerprint: str, other: str | None = None) -> None:
    """Drop an older decision that a new one takes the place of."""
    old = delete(DecisionRow).where(col(DecisionRow.kind) == kind, col(DecisionRow.fingerprint) == fingerprint)
    session.connection().execute(old if other is None else old.where(col(DecisionRow.other) == other))


def _forget_split(session: Session, failure: FailureRow) -> None:
    same = (col(DecisionRow.case_id) == failure.case_id) & (col(DecisionRow.target_id) == failure.target_id)
    session.connection().execute(delete(DecisionRow).where(col(DecisionRow.kind) == Kind.SPLIT, same))


def _new_bug(bug: BugRow, fingerprint: str, failure: FailureRow, why: str, now: datetime) -> BugRow:
    return BugRow(
        fingerprint=fingerprint,
        backend=bug.backend,
        revision=bug.revision,
        target=failure.target,
        state=State.NEW,
        symptom=failure.symptom,
        conversion_function=bug.conversion_function,
        operators=bug.operators,
        message=bug.message,
        why=f"split from bug {bug.id}: {why}",
        best_failure_id=failure.id,
        created=now,
        updated=now,
    )
