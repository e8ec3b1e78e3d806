"""Campaigns that people pause and cancel, schedules, what campaigns taught, and what was pruned."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

#: Whether it added coverage is not known of what was recorded before.
_UNKNOWN = -1
_TEXTS = ("name", "mark", "marked_by", "owner")
_TIMES = ("marked", "seen")


def upgrade() -> None:
    for name in _TEXTS:
        op.add_column("campaign", sa.Column(name, AutoString(), nullable=False, server_default=""))
    for name in _TIMES:
        op.add_column("campaign", sa.Column(name, UTCDateTime(), nullable=True))
    op.add_column("result", sa.Column("adds", sa.Integer(), nullable=False, server_default=str(_UNKNOWN)))
    op.create_table(
        "schedule",
        *(sa.Column(name, AutoString(), nullable=False) for name in ("name", "project", "cron", "budget", "sources")),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("marked_by", AutoString(), nullable=False),
        *(sa.Column(name, UTCDateTime(), nullable=True) for name in ("marked", "rung", "cancelled")),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "covered",
        sa.Column("backend", AutoString(), nullable=False),
        sa.Column("possibility", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("backend", "possibility"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "experience",
        *(sa.Column(name, AutoString(), nullable=False) for name in ("backend", "operators")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("passed", "new", "again", "refused")),
        sa.PrimaryKeyConstraint("backend", "operators"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pruning",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.Column("rule", AutoString(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=True),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"]),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    for table in ("pruning", "experience", "covered", "schedule"):
        op.drop_table(table)
    op.drop_column("result", "adds")
    for name in (*_TEXTS, *_TIMES):
        op.drop_column("campaign", name)
