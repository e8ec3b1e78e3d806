"""The results that may show a failure, found without a look at the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_SHOWING = sa.text("status IN ('exception', 'flaky', 'invalid', 'oom', 'signal', 'timeout', 'wrong')")


def upgrade() -> None:
    op.create_index(
        "ix_result_showing",
        "result",
        ["campaign_id", "status", "case_id", "target_id", "minute"],
        sqlite_where=_SHOWING,
        postgresql_where=_SHOWING,
    )


def downgrade() -> None:
    op.drop_index("ix_result_showing", "result")
