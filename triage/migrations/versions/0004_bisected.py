"""What bisection has found out about bugs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("bug") as batch_op:
        batch_op.add_column(sa.Column("bisected", AutoString(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("bug") as batch_op:
        batch_op.drop_column("bisected")
