"""When a result was recorded, and the numbers of a campaign by the minute."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

#: Of what was recorded before.
_UNKNOWN = -1

_columns = ("campaign_id", "minute", "status", "stage", "results", "cases")
_tally = sa.table("tally", *(sa.column(name) for name in _columns))
_result = sa.table("result", *(sa.column(name) for name in ("campaign_id", "case_id", "status", "stage")))


def upgrade() -> None:
    op.add_column("result", sa.Column("minute", sa.Integer(), nullable=False, server_default=str(_UNKNOWN)))
    op.create_table(
        "tally",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.Column("status", AutoString(), nullable=False),
        sa.Column("stage", AutoString(), nullable=False),
        sa.Column("results", sa.Integer(), nullable=False),
        sa.Column("cases", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"]),
        sa.PrimaryKeyConstraint("campaign_id", "minute", "status", "stage"),
        sqlite_with_rowid=False,
    )
    _count()


def _count() -> None:
    connection = op.get_bind()
    distinct = sa.select(_result.c.campaign_id, sa.func.count(_result.c.case_id.distinct()))
    cases = {row[0]: row[1] for row in connection.execute(distinct.group_by(_result.c.campaign_id))}
    kinds = (_result.c.campaign_id, _result.c.status, _result.c.stage)
    for number, status, stage, results in connection.execute(sa.select(*kinds, sa.func.count()).group_by(*kinds)).all():
        # The cases of a campaign stand with the first of its kinds of result: only their sum is known.
        row = (number, _UNKNOWN, status, stage, results, cases.pop(number, 0))
        connection.execute(_tally.insert().values(dict(zip(_columns, row, strict=True))))


def downgrade() -> None:
    op.drop_table("tally")
    op.drop_column("result", "minute")
