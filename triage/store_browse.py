"""What people look at page by page: bugs that match, and how many there are. For `triage.store` alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, or_
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, col, select

from fuzz.case import Origin
from triage import records
from triage.lifecycle import State
from triage.rows import BugRow, CaseRow, FailureRow

#: Columns in which words are looked for.
_SEARCHED = (BugRow.title, BugRow.symptom, BugRow.conversion_function, BugRow.operators, BugRow.message, BugRow.backend)


@dataclass(frozen=True)
class Wanted:
    """Which bugs: of these states (empty: all but slips), of a compiler, in which each of the words stands.

    With `ids`, only bugs of these numbers.
    """

    states: frozenset[State] = frozenset()
    backend: str = ""
    words: tuple[str, ...] = ()
    ids: frozenset[int] | None = None


@dataclass(frozen=True)
class Failing:
    """One failure of a bug, without its values."""

    id: int
    target_id: str
    symptom: str
    origin: Origin


def failures(session: Session, fingerprint: str, limit: int) -> list[Failing]:
    """So many of the failures of a bug, the oldest first."""
    query = select(FailureRow.id, FailureRow.target_id, FailureRow.symptom, CaseRow.origin).join(CaseRow)
    found = session.exec(query.where(FailureRow.fingerprint == fingerprint).order_by(col(FailureRow.id)).limit(limit))
    return [Failing(number or 0, target, symptom, records.origin_from(text)) for number, target, symptom, text in found]


def matching(wanted: Wanted, muted: Collection[str]) -> list[ColumnElement[bool]]:
    """As conditions. Bugs that a person muted, and those whose failures all turned out to be another's, never match."""
    states = wanted.states or frozenset(State) - {State.SLIP}
    has_failures = select(FailureRow.id).where(FailureRow.fingerprint == BugRow.fingerprint).exists()
    found: list[ColumnElement[bool]] = [col(BugRow.state).in_(sorted(states)), has_failures]
    if muted:
        found.append(col(BugRow.fingerprint).not_in(list(muted)))
    if wanted.ids is not None:
        found.append(col(BugRow.id).in_(wanted.ids))
    if wanted.backend:
        found.append(col(BugRow.backend) == wanted.backend)
    found += [or_(*(col(each).icontains(word, autoescape=True) for each in _SEARCHED)) for word in wanted.words]
    return found


def number(session: Session, conditions: list[ColumnElement[bool]]) -> int:
    """How many bugs match."""
    return session.exec(select(func.count()).select_from(BugRow).where(*conditions)).one()


def kinds(session: Session, conditions: list[ColumnElement[bool]]) -> dict[tuple[str, str], int]:
    """How many of the bugs that match are of which compiler and in which state."""
    kind = (col(BugRow.backend), col(BugRow.state))
    query = select(*kind, func.count()).where(*conditions).group_by(*kind).order_by(*kind)
    return {(backend, state): count for backend, state, count in session.exec(query)}
