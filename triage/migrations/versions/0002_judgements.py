"""The court's judgement, and the byte that an uninitialised read needs, in columns of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

#: How the note of a bug said it before.
_NOTE = "reads uninitialised memory: fails every time when fresh memory is filled with byte 170"


def upgrade() -> None:
    with op.batch_alter_table("bug") as batch_op:
        batch_op.add_column(sa.Column("judgement", AutoString(), nullable=True))
        batch_op.add_column(sa.Column("perturb", sa.Integer(), nullable=True))
    bug = sa.table("bug", sa.column("note", sa.String()), sa.column("perturb", sa.Integer()))
    op.execute(bug.update().where(bug.c.note == _NOTE).values(perturb=170))


def downgrade() -> None:
    with op.batch_alter_table("bug") as batch_op:
        batch_op.drop_column("perturb")
        batch_op.drop_column("judgement")
