"""Alembic's entry point.

`triage.store` hands over its connection, already inside BEGIN IMMEDIATE. Developers who write a migration use
``alembic -x db=PATH revision --autogenerate -m "what changes"`` on a database made by the version before.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, create_engine
from sqlmodel import SQLModel

import triage.ledger.rows
import triage.rows  # noqa: F401  (both declare the tables)


def migrate(connection: Connection) -> None:
    """Run the migrations; SQLite changes tables by copying them (batch), and its DDL is transactional."""
    context.configure(
        connection=connection,
        target_metadata=SQLModel.metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    engine = create_engine("sqlite:///" + context.get_x_argument(as_dictionary=True)["db"])
    with engine.begin() as own:
        migrate(own)
