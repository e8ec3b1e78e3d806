"""A repository is called otherwise now: what is known of its issues, and what is still to be said, goes on there."""

from __future__ import annotations

from sqlalchemy import func, update
from sqlmodel import col

from triage.ledger.records import OutState
from triage.ledger.rows import IssueRow, OutgoingRow
from triage.store import Store

_ENDED = (OutState.SENT.value, OutState.REJECTED.value)


def rename(store: Store, old: str, new: str) -> int:
    """Let the rows of one repository (``owner/name``) be another's, in one transaction; how many issues.

    What GitHub refused or was taken back may be put forward again, so it goes along; what was said stays as it was. An
    issue that another bug has under the new name already is left where it is.
    """
    issues = (
        update(IssueRow)
        .prefix_with("OR IGNORE")
        .where(func.lower(col(IssueRow.repository)) == old.lower())
        .values(repository=new)
    )
    unsaid = update(OutgoingRow).where(
        func.lower(col(OutgoingRow.repository)) == old.lower(), col(OutgoingRow.state).not_in(_ENDED)
    )
    with store.writing() as session:
        session.connection().execute(unsaid.values(repository=new))
        return int(session.connection().execute(issues).rowcount)
