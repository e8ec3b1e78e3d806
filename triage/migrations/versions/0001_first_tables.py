"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("parameters", AutoString(), nullable=False),
        sa.Column("started", UTCDateTime(), nullable=False),
        sa.Column("finished", UTCDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "case",
        sa.Column("id", AutoString(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("model", sa.LargeBinary(), nullable=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=False),
        sa.Column("expected", sa.LargeBinary(), nullable=True),
        sa.Column("origin", AutoString(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "bug",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", AutoString(), nullable=False),
        sa.Column("backend", AutoString(), nullable=False),
        sa.Column("revision", AutoString(), nullable=False),
        sa.Column("target", AutoString(), nullable=False),
        sa.Column("state", AutoString(), nullable=False),
        sa.Column("symptom", AutoString(), nullable=False),
        sa.Column("conversion_function", AutoString(), nullable=False),
        sa.Column("operators", AutoString(), nullable=False),
        sa.Column("message", AutoString(), nullable=False),
        sa.Column("why", AutoString(), nullable=False),
        sa.Column("best_failure_id", sa.Integer(), nullable=True),
        sa.Column("reduced_case_id", AutoString(), nullable=True),
        sa.Column("nodes", sa.Integer(), nullable=True),
        sa.Column("report_path", AutoString(), nullable=True),
        sa.Column("title", AutoString(), nullable=True),
        sa.Column("body", AutoString(), nullable=True),
        sa.Column("script", AutoString(), nullable=True),
        sa.Column("labels", AutoString(), nullable=True),
        sa.Column("note", AutoString(), nullable=False),
        sa.Column("created", UTCDateTime(), nullable=False),
        sa.Column("updated", UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["reduced_case_id"],
            ["case.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("fingerprint"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "result",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("case_id", AutoString(), nullable=False),
        sa.Column("target_id", AutoString(), nullable=False),
        sa.Column("origin", AutoString(), nullable=False),
        sa.Column("status", AutoString(), nullable=False),
        sa.Column("stage", AutoString(), nullable=False),
        sa.Column("reason", AutoString(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("peak_mb", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaign.id"],
        ),
        sa.PrimaryKeyConstraint("campaign_id", "case_id", "target_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "failure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("case_id", AutoString(), nullable=False),
        sa.Column("target_id", AutoString(), nullable=False),
        sa.Column("target", AutoString(), nullable=False),
        sa.Column("fingerprint", AutoString(), nullable=False),
        sa.Column("oracle", AutoString(), nullable=False),
        sa.Column("symptom", AutoString(), nullable=False),
        sa.Column("detail", AutoString(), nullable=False),
        sa.Column("outcome", AutoString(), nullable=False),
        sa.Column("outcome_values", sa.LargeBinary(), nullable=True),
        sa.Column("reference", AutoString(), nullable=True),
        sa.Column("reference_values", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["case.id"],
        ),
        sa.ForeignKeyConstraint(
            ["fingerprint"],
            ["bug.fingerprint"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("failure", schema=None) as batch_op:
        batch_op.create_index("ix_failure_case_target", ["case_id", "target_id"], unique=True)
        batch_op.create_index(batch_op.f("ix_failure_fingerprint"), ["fingerprint"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("failure", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_failure_fingerprint"))
        batch_op.drop_index("ix_failure_case_target")

    op.drop_table("failure")
    op.drop_table("result")
    op.drop_table("bug")
    op.drop_table("case")
    op.drop_table("campaign")
