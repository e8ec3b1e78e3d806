"""What the bot does at GitHub: deliveries, work, the outbox, issues, checks, switches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _text(name: str, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, AutoString(), nullable=False, server_default=default)


def _number(name: str, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default=default)


def _moment(name: str, nullable: bool = False) -> sa.Column[sa.DateTime]:
    return sa.Column(name, UTCDateTime(), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "delivery",
        _text("id"),
        _text("event"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        _moment("received"),
        _text("state"),
        _number("attempts"),
        _text("note"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_delivery_state_received", "delivery", ["state", "received"])
    op.create_table(
        "work",
        _number("id"),
        *(_text(name) for name in ("kind", "key", "project", "payload", "state")),
        _number("priority"),
        _number("attempts"),
        _text("note"),
        _moment("not_before", nullable=True),
        _text("owner"),
        _moment("lease", nullable=True),
        _moment("created"),
        _moment("updated"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_work_state_priority", "work", ["state", "priority"])
    op.create_index("ix_work_kind_key", "work", ["kind", "key"])
    op.create_table(
        "outgoing",
        _number("id"),
        *(_text(name) for name in ("kind", "key", "repository", "payload", "stream", "state")),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("bug_id", sa.Integer(), nullable=True),
        _number("attempts"),
        _number("version"),
        _text("note"),
        _text("result"),
        _moment("not_before", nullable=True),
        _text("owner"),
        _moment("lease", nullable=True),
        _moment("created"),
        _moment("updated"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outgoing_state", "outgoing", ["state"])
    op.create_index("ix_outgoing_stream", "outgoing", ["stream"])
    op.create_table(
        "issue",
        _number("bug_id"),
        _text("repository"),
        _number("number"),
        sa.Column("ours", sa.Boolean(), nullable=False),
        _text("linked_by"),
        sa.Column("open", sa.Boolean(), nullable=False),
        _text("human"),
        _text("fixed_by"),
        sa.PrimaryKeyConstraint("bug_id"),
        sa.ForeignKeyConstraint(["bug_id"], ["bug.id"]),
        sa.UniqueConstraint("repository", "number", name="uq_issue_repository_number"),
    )
    op.create_table(
        "check_run",
        *(_text(name) for name in ("external_id", "repository", "head_sha", "project")),
        sa.Column("pull", sa.Integer(), nullable=True),
        _text("base"),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        _text("state"),
        _text("conclusion"),
        _moment("since", nullable=True),
        sa.Column("fork", sa.Boolean(), nullable=False),
        sa.Column("newest", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("external_id"),
    )
    op.create_index("ix_check_run_head", "check_run", ["repository", "head_sha"])
    op.create_table(
        "switch",
        _text("name"),
        _text("value"),
        _text("by"),
        _moment("changed"),
        sa.PrimaryKeyConstraint("name"),
    )


def downgrade() -> None:
    for table in ("switch", "check_run", "issue", "outgoing", "work", "delivery"):
        op.drop_table(table)
