"""What is taken away of ended campaigns, and the record of it. For `triage.store` alone.

Never a result or a case that a bug, a failure, a decision of a person or a suite (by its bugs) refers to, nothing of a
campaign that may go on, and nothing that failed or was flaky, whether or not a failure is kept of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, or_, tuple_
from sqlalchemy import select as chosen
from sqlalchemy.orm import Mapped
from sqlmodel import Session, SQLModel, col, select

from fuzz.case import Status
from triage.records import Pruned
from triage.rows import BugRow, CampaignRow, CaseRow, DecisionRow, FailureRow, PruningRow, ResultRow

#: Rows that one transaction takes away: others wait for its end.
AT_ONCE = 2000
#: Results that say nothing of a compiler that the campaign's numbers do not say.
_EMPTY = (Status.SKIPPED, Status.INVALID, Status.UNSUPPORTED)
_RESULT = (col(ResultRow.campaign_id), col(ResultRow.case_id), col(ResultRow.target_id))


def results() -> Select[*tuple[Any, ...]]:
    """Results of ended campaigns that passed without adding coverage, or were not run."""
    passed = (col(ResultRow.status) == Status.OK) & (col(ResultRow.adds) == 0)
    plain = or_(passed, col(ResultRow.status).in_(_EMPTY))
    ended = col(ResultRow.campaign_id).in_(select(CampaignRow.id).where(col(CampaignRow.finished).is_not(None)))
    return chosen(*_RESULT).where(ended, plain, ~_wanted(col(ResultRow.case_id)))


def cases() -> Select[*tuple[Any, ...]]:
    """Saved cases that nothing refers to any more."""
    return chosen(col(CaseRow.id)).where(~_wanted(col(CaseRow.id)))


#: By rule: the table, the columns that name its rows, and which rows may go.
RULES: Mapping[str, tuple[type[SQLModel], tuple[Any, ...], Callable[[], Select[*tuple[Any, ...]]]]] = {
    "results": (ResultRow, _RESULT, results),
    "cases": (CaseRow, (col(CaseRow.id),), cases),
}


def number(session: Session, rule: str) -> int:
    """How many rows a rule would take away now."""
    every = RULES[rule][2]().subquery()
    return session.connection().execute(chosen(func.count()).select_from(every)).scalar_one()


def prune(session: Session, rule: str, now: datetime) -> int:
    """One batch of a rule with its record; how many rows it took away."""
    table, key, query = RULES[rule]
    rows = [tuple(row) for row in session.connection().execute(query().limit(AT_ONCE))]
    if not rows:
        return 0
    session.connection().execute(delete(table).where(tuple_(*key).in_(rows)))
    for campaign, removed in Counter(row[0] if table is ResultRow else None for row in rows).items():
        session.add(PruningRow(at=now, rule=rule, campaign_id=campaign, removed=removed))
    return len(rows)


def listed(session: Session) -> list[Pruned]:
    """What was taken away, the oldest first."""
    rows = session.exec(select(PruningRow).order_by(col(PruningRow.id)))
    return [Pruned(row.at, row.rule, row.campaign_id, row.removed) for row in rows]


def _wanted(case: Mapped[str]) -> ColumnElement[bool]:
    """Whether a failure, a bug or a decision refers to a case."""
    return or_(
        select(FailureRow.id).where(col(FailureRow.case_id) == case).exists(),
        select(BugRow.id).where(col(BugRow.reduced_case_id) == case).exists(),
        select(DecisionRow.id).where(col(DecisionRow.case_id) == case).exists(),
    )
