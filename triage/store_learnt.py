"""What results taught, kept for the campaigns after this one: what was covered, and how operators' cases ended.

It is written in the transaction that records the results, so a kill loses none of it and counts none twice. For
`triage.store` alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, SQLModel, col, select

from fuzz.case import FAILING, Status
from fuzz.ranking.history import Ends
from triage.records import Lesson, NewFailure, dump
from triage.rows import BugRow, CoveredRow, ExperienceRow
from triage.store_upsert import upserting

#: How often a question about many values is split: SQLite takes some thousand at once.
_AT_ONCE = 500
#: What ran to a result. A compiler that honestly refuses a case has not run it.
_RAN = frozenset({Status.OK, Status.FLAKY, *FAILING})


def learn(
    session: Session, rows: Sequence[dict[str, Any]], failures: Iterable[NewFailure], lessons: Iterable[Lesson]
) -> None:
    """Keep what results (as columns, about to be written) taught, and note on each how much its case added."""
    of = {(each.case_id, each.target_id): each for each in lessons}
    found = [(row, of[key]) for row in rows if (key := (row["case_id"], row["target_id"])) in of]
    if not found:
        return
    bugs = {(each.failure.case.id, each.failure.target.id): each.fingerprint for each in failures}
    known = _known(session, set(bugs.values()))
    ends: Counter[tuple[str, str, str]] = Counter()
    for row, lesson in found:
        bug = bugs.get((row["case_id"], row["target_id"]), "")
        end = _end(Status(row["status"]), bug in known)
        known.add(bug)
        if end and lesson.meaning.operators:
            ends[lesson.backend, dump(lesson.meaning.operators), end] += 1
    _count(session, ends)
    _cover(session, found)


def _end(status: Status, known: bool) -> str:
    """The column that a result counts in, "" for none."""
    if status in FAILING:
        return "again" if known else "new"
    return {Status.OK: "passed", Status.UNSUPPORTED: "refused"}.get(status, "")


def _known(session: Session, fingerprints: Collection[str]) -> set[str]:
    if not fingerprints:
        return set()
    return set(session.exec(select(BugRow.fingerprint).where(col(BugRow.fingerprint).in_(fingerprints))))


def _count(session: Session, ends: Mapping[tuple[str, str, str], int]) -> None:
    table = SQLModel.metadata.tables["experience"]
    empty = dict.fromkeys(("passed", "new", "again", "refused"), 0)
    for (backend, operators, end), number in sorted(ends.items()):
        statement = upserting(session, table).values(backend=backend, operators=operators, **{**empty, end: number})
        added = {end: table.c[end] + number}
        session.connection().execute(
            statement.on_conflict_do_update(index_elements=["backend", "operators"], set_=added)
        )


def _cover(session: Session, found: Sequence[tuple[dict[str, Any], Lesson]]) -> None:
    ran = [(row, lesson) for row, lesson in found if row["status"] in _RAN]
    for row, _ in found:
        row["adds"] = 0
    for backend in sorted({lesson.backend for _, lesson in ran}):
        own = [(row, lesson.meaning.possibilities) for row, lesson in ran if lesson.backend == backend]
        covered = _covered(session, backend, {each for _, all_of_them in own for each in all_of_them})
        new: list[int] = []
        for row, possibilities in own:
            adds = possibilities - covered
            row["adds"] = len(adds)
            covered |= adds
            new += sorted(adds)
        if new:
            values = [{"backend": backend, "possibility": each} for each in new]
            table = SQLModel.metadata.tables["covered"]
            session.connection().execute(upserting(session, table).on_conflict_do_nothing(), values)


def _covered(session: Session, backend: str, wanted: Collection[int]) -> set[int]:
    """Those of the possibilities that are covered already."""
    found, listed = set[int](), sorted(wanted)
    for at in range(0, len(listed), _AT_ONCE):
        some = col(CoveredRow.possibility).in_(listed[at : at + _AT_ONCE])
        found |= set(session.exec(select(CoveredRow.possibility).where(CoveredRow.backend == backend, some)))
    return found


def backends(session: Session, targets: Collection[str]) -> list[str]:
    """The compilers, of which anything was learnt, of these targets' ids."""
    known = session.exec(select(ExperienceRow.backend).union(select(CoveredRow.backend))).all()  # type: ignore[call-overload]
    return sorted(each for (each,) in known if any(target.startswith(f"{each}@") for target in targets))


def covered(session: Session, names: Sequence[str]) -> set[int]:
    """What was covered on every one of these compilers."""
    if not names:
        return set()
    query = select(CoveredRow.possibility).where(col(CoveredRow.backend).in_(names))
    return set(session.exec(query.group_by(col(CoveredRow.possibility)).having(func.count() == len(names))))


def ends(session: Session, names: Sequence[str]) -> dict[tuple[str, ...], Ends]:
    """How cases ended on these compilers, by operators."""
    found: dict[tuple[str, ...], Ends] = {}
    for row in session.exec(select(ExperienceRow).where(col(ExperienceRow.backend).in_(names))):
        key = tuple(json.loads(row.operators))
        old = found.get(key, Ends())
        found[key] = Ends(old.passed + row.passed, old.new + row.new, old.again + row.again, old.refused + row.refused)
    return found
