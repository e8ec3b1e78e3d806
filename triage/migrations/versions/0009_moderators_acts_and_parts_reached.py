"""Moderators, where they are signed in, what people did, and when campaigns reached which part of the compilers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _people()
    _acts()
    op.create_table(
        "reached",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("part", AutoString(), nullable=False),
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"]),
        sa.PrimaryKeyConstraint("campaign_id", "part", "name"),
        sqlite_with_rowid=False,
    )


def _people() -> None:
    op.create_table(
        "moderator",
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("secret", AutoString(), nullable=False),
        sa.Column("added", UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "signed_in",
        sa.Column("token", AutoString(), nullable=False),
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("since", UTCDateTime(), nullable=False),
        sa.Column("expires", UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["moderator.name"]),
        sa.PrimaryKeyConstraint("token"),
    )
    op.create_index("ix_signed_in_name", "signed_in", ["name"])
    op.create_table(
        "attempt",
        sa.Column("key", AutoString(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last", UTCDateTime(), nullable=False),
        sa.Column("until", UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_attempt_last", "attempt", ["last"])


def _acts() -> None:
    op.create_table(
        "act",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.Column("by", AutoString(), nullable=False),
        sa.Column("deed", AutoString(), nullable=False),
        sa.Column("bug_id", sa.Integer(), nullable=True),
        sa.Column("campaign_id", sa.Integer(), nullable=True),
        sa.Column("text", AutoString(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_act_bug_id", "act", ["bug_id"])
    op.create_index("ix_act_campaign_id", "act", ["campaign_id"])


def downgrade() -> None:
    for name in ("reached", "act", "attempt", "signed_in", "moderator"):
        op.drop_table(name)
