"""Issues that lie elsewhere now: with their repository, which is called otherwise, or alone, moved to another one.

What is known of them, and what is still to be said there, goes along.
"""

from __future__ import annotations

import json

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from triage.ledger.issues import Taken
from triage.ledger.records import Issue, OutState
from triage.ledger.rows import ApartRow, IssueRow, OutgoingRow
from triage.records import dump
from triage.store import Store, Unknown

_ENDED = (OutState.SENT.value, OutState.REJECTED.value)


def rename(store: Store, old: str, new: str) -> int:
    """Let the rows of one repository (``owner/name``) be another's, in one transaction; how many issues.

    What GitHub refused or was taken back may be put forward again, so it goes along; what was said stays as it was. An
    issue that another bug has under the new name already is left where it is.
    """
    unsaid = update(OutgoingRow).where(
        func.lower(col(OutgoingRow.repository)) == old.lower(), col(OutgoingRow.state).not_in(_ENDED)
    )
    with store.writing() as session:
        session.connection().execute(unsaid.values(repository=new))
        _rename_apart(session, old.lower(), new.lower())
        return _rename_issues(session, old.lower(), new)


def _rename_issues(session: Session, old: str, new: str) -> int:
    renamed = 0
    for row in session.exec(select(IssueRow).where(func.lower(col(IssueRow.repository)) == old)).all():
        there = select(IssueRow).where(IssueRow.repository == new, IssueRow.number == row.number)
        if session.exec(there).first() in (None, row):
            row.repository = new
            renamed += 1
    return renamed


def _rename_apart(session: Session, old: str, new: str) -> None:
    for row in session.exec(select(ApartRow).where(func.lower(col(ApartRow.repository)) == old)).all():
        if session.get(ApartRow, (row.bug_id, new, row.number)) is None:
            row.repository = new


def move(store: Store, issue: Issue, repository: str, number: int) -> None:
    """Let a bug's issue be this one from now on, in one transaction: it was moved there. Raises Taken, Unknown.

    Comments that are edited in place are looked for by their marks there.
    """
    there = select(IssueRow).where(IssueRow.repository == repository, IssueRow.number == number)
    here = (OutgoingRow.bug_id == issue.bug_id, OutgoingRow.repository == issue.repository)
    with store.writing() as session:
        row, other = session.get(IssueRow, issue.bug_id), session.exec(there).first()
        if row is None:
            raise Unknown(f"bug {issue.bug_id} has no issue")
        if other is not None and other.bug_id != issue.bug_id:
            raise Taken(f"{repository}#{number} is the issue of bug {other.bug_id} already")
        row.repository, row.number = repository, number
        for one in session.exec(select(OutgoingRow).where(*here, OutgoingRow.number == issue.number)):
            if one.state not in _ENDED:
                one.repository, one.number = repository, number
            kept = {name: value for name, value in json.loads(one.result).items() if name != "comment"}
            one.result = dump(kept)
