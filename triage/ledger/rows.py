"""The bot's tables, as SQLModel classes, beside those of `triage.rows`; only `triage.ledger` uses them.

A change here needs a migration in `triage/migrations/versions`. Documents (payload, result, human) are JSON.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlmodel import Field, SQLModel


class DeliveryRow(SQLModel, table=True):
    """A webhook delivery: stored before it is acknowledged."""

    __tablename__ = "delivery"
    __table_args__ = (Index("ix_delivery_state_received", "state", "received"),)

    id: str = Field(primary_key=True)
    event: str
    body: bytes
    received: datetime
    state: str
    attempts: int = 0
    note: str = ""


class _TakenRow(SQLModel):
    """What a process takes and ends. `owner` has it, until `lease` (UTC) unless it says that it lives."""

    attempts: int = 0
    note: str = ""
    not_before: datetime | None = None
    owner: str = ""
    lease: datetime | None = None
    created: datetime
    updated: datetime


class WorkRow(_TakenRow, table=True):
    """A piece of work."""

    __tablename__ = "work"
    __table_args__ = (
        Index("ix_work_state_priority", "state", "priority"),
        Index("ix_work_kind_key", "kind", "key"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    key: str
    project: str
    payload: str
    state: str
    priority: int


class OutgoingRow(_TakenRow, table=True):
    """Something for GitHub: the outbox."""

    __tablename__ = "outgoing"
    __table_args__ = (
        Index("ix_outgoing_state", "state"),
        Index("ix_outgoing_stream", "stream"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    key: str = Field(unique=True)
    repository: str
    payload: str
    stream: str
    state: str
    number: int | None = None
    bug_id: int | None = None
    version: int = 1
    result: str = "{}"


class IssueRow(SQLModel, table=True):
    """The issue of a bug."""

    __tablename__ = "issue"
    __table_args__ = (UniqueConstraint("repository", "number", name="uq_issue_repository_number"),)

    bug_id: int = Field(primary_key=True, foreign_key="bug.id")
    repository: str
    number: int
    ours: bool
    linked_by: str = ""
    open: bool = True
    human: str = "{}"
    fixed_by: str = ""


class CheckRow(SQLModel, table=True):
    """The check run of one head commit in one repository."""

    __tablename__ = "check_run"
    __table_args__ = (Index("ix_check_run_head", "repository", "head_sha"),)

    external_id: str = Field(primary_key=True)
    repository: str
    head_sha: str
    project: str
    pull: int | None = None
    base: str = ""
    run_id: int | None = Field(default=None, sa_type=BigInteger)
    state: str = "waiting"
    conclusion: str = ""
    since: datetime | None = None
    fork: bool = True
    newest: bool = False


class JudgedRow(SQLModel, table=True):
    """The newest build on which a bug was judged to be fixed."""

    __tablename__ = "judged"

    bug_id: int = Field(primary_key=True, foreign_key="bug.id")
    revision: str
    at: datetime


class ApartRow(SQLModel, table=True):
    """An issue of which a person has said that a bug is no duplicate of it; `repository` in lower case."""

    __tablename__ = "apart"

    bug_id: int = Field(primary_key=True, foreign_key="bug.id")
    repository: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    by: str
    at: datetime


class RepositoryRow(SQLModel, table=True):
    """GitHub's id of the repository that has, or had, a name (``owner/name`` in lower case)."""

    __tablename__ = "repository"

    name: str = Field(primary_key=True)
    github_id: int = Field(sa_type=BigInteger)
    at: datetime


class SwitchRow(SQLModel, table=True):
    """A setting that people change while the bot runs, e.g. the emergency stop; and cursors of polls."""

    __tablename__ = "switch"

    name: str = Field(primary_key=True)
    value: str
    by: str = ""
    changed: datetime


class ModeratorRow(SQLModel, table=True):
    """Who may decide on the pages. `secret` is what a key-derivation function made of it, never the secret itself."""

    __tablename__ = "moderator"

    name: str = Field(primary_key=True)
    secret: str
    added: datetime


class SignedInRow(SQLModel, table=True):
    """A moderator who is signed in somewhere, until `expires` (UTC). `token` is the hash of what the browser has."""

    __tablename__ = "signed_in"

    token: str = Field(primary_key=True)
    name: str = Field(foreign_key="moderator.name", index=True)
    since: datetime
    expires: datetime


class AttemptRow(SQLModel, table=True):
    """Failed sign-ins of one kind (`triage.ledger.attempts`): how many, and until when (UTC) the next one waits."""

    __tablename__ = "attempt"

    key: str = Field(primary_key=True)
    failures: int
    last: datetime = Field(index=True)
    until: datetime


class ScheduleRow(SQLModel, table=True):
    """A regular campaign of the configuration; `sources` is JSON.

    `rung` is when it was last due, whatever came of that; `cancelled` when a person ended what had been due until then.
    """

    __tablename__ = "schedule"

    name: str = Field(primary_key=True)
    project: str
    cron: str
    budget: str
    sources: str
    paused: bool = False
    marked_by: str = ""
    marked: datetime | None = None
    rung: datetime | None = None
    cancelled: datetime | None = None
