"""Which bug is which issue at GitHub, and what people decided about it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlmodel import col, select

from triage.ledger.records import Issue
from triage.ledger.rows import IssueRow
from triage.records import dump
from triage.store import Store, Unknown


class Taken(Exception):
    """The issue belongs to another bug, or the bug has another issue."""


class Issues:
    """The issues of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def link(self, issue: Issue) -> None:
        """Note that a bug has an issue; the same again changes nothing. Raises Taken."""
        with self._store.writing() as session:
            row = session.get(IssueRow, issue.bug_id)
            other = session.exec(
                select(IssueRow).where(IssueRow.repository == issue.repository, IssueRow.number == issue.number)
            ).first()
            if row is not None and (row.repository, row.number) == (issue.repository, issue.number):
                return
            if row is not None:
                raise Taken(f"bug {issue.bug_id} is {row.repository}#{row.number} already")
            if other is not None:
                raise Taken(f"{issue.repository}#{issue.number} is the issue of bug {other.bug_id} already")
            session.add(
                IssueRow(
                    bug_id=issue.bug_id,
                    repository=issue.repository,
                    number=issue.number,
                    ours=issue.ours,
                    linked_by=issue.linked_by,
                    open=issue.open,
                    human=dump(issue.human),
                    fixed_by=issue.fixed_by,
                )
            )

    def of_bugs(self, bug_ids: Collection[int]) -> dict[int, Issue]:
        """The issues that these bugs have, by bug."""
        with self._store.reading() as session:
            rows = session.exec(select(IssueRow).where(col(IssueRow.bug_id).in_(bug_ids)))
            return {row.bug_id: _issue(row) for row in rows}

    def of_bug(self, bug_id: int) -> Issue | None:
        """The issue of a bug."""
        with self._store.reading() as session:
            row = session.get(IssueRow, bug_id)
            return None if row is None else _issue(row)

    def by_number(self, repository: str, number: int) -> Issue | None:
        """The bug's issue with this number, if it is one."""
        query = select(IssueRow).where(IssueRow.repository == repository, IssueRow.number == number)
        with self._store.reading() as session:
            row = session.exec(query).first()
            return None if row is None else _issue(row)

    def listed(self, repository: str = "") -> list[Issue]:
        """All issues, or those of one repository."""
        query = select(IssueRow).order_by(col(IssueRow.bug_id))
        if repository:
            query = query.where(IssueRow.repository == repository)
        with self._store.reading() as session:
            return [_issue(row) for row in session.exec(query)]

    def update(
        self,
        bug_id: int,
        *,
        open: bool | None = None,
        human: Mapping[str, Any] | None = None,
        fixed_by: str | None = None,
        linked_by: str | None = None,
    ) -> None:
        """Change what is known of a bug's issue; what is None stays. Raises Unknown."""
        with self._store.writing() as session:
            row = session.get(IssueRow, bug_id)
            if row is None:
                raise Unknown(f"bug {bug_id} has no issue")
            row.open = row.open if open is None else open
            row.human = row.human if human is None else dump(human)
            row.fixed_by = row.fixed_by if fixed_by is None else fixed_by
            row.linked_by = row.linked_by if linked_by is None else linked_by


def _issue(row: IssueRow) -> Issue:
    return Issue(
        bug_id=row.bug_id,
        repository=row.repository,
        number=row.number,
        ours=row.ours,
        linked_by=row.linked_by,
        open=row.open,
        human=json.loads(row.human),
        fixed_by=row.fixed_by,
    )
