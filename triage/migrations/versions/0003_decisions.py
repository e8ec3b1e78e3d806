"""What a person has decided about bugs; where a bug lies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("fingerprint", AutoString(), nullable=False),
        sa.Column("other", AutoString(), nullable=False),
        sa.Column("case_id", AutoString(), nullable=False),
        sa.Column("target_id", AutoString(), nullable=False),
        sa.Column("made", UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("bug") as batch_op:
        batch_op.add_column(sa.Column("location", AutoString(), nullable=True))
        batch_op.add_column(sa.Column("passes_with", AutoString(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("bug") as batch_op:
        batch_op.drop_column("passes_with")
        batch_op.drop_column("location")
    op.drop_table("decision")
