"""Which failure stands for a bug: the one with the smallest model. For the store alone."""

from __future__ import annotations

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from triage.lifecycle import State
from triage.rows import BugRow, CaseRow, FailureRow

#: Of failures joined with their cases.
SMALLEST_FIRST = (func.length(CaseRow.model), func.length(CaseRow.inputs), col(FailureRow.id))


def choose_best_failures(session: Session) -> None:
    """Give every bug that nobody has worked on yet its smallest failure, and every one that has lost its best."""
    own = FailureRow.fingerprint == BugRow.fingerprint
    best = select(FailureRow.id).join(CaseRow).where(own).order_by(*SMALLEST_FIRST).limit(1).scalar_subquery()
    lost = ~select(FailureRow.id).where(own, FailureRow.id == BugRow.best_failure_id).exists()
    untouched = col(BugRow.state) == State.NEW
    session.connection().execute(update(BugRow).where(lost | untouched).values(best_failure_id=best))
