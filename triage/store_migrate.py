"""Brings a database to the newest schema, inside a transaction that writes. For `triage.store_file` and `_postgres`."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from triage.rows import SCHEMA
from triage.store_error import StoreError

_MIGRATIONS = Path(__file__).with_name("migrations")


def upgrade(connection: Connection, version: str | None, place: object) -> bool:
    """Bring the schema from `version` (None: no tables) to `SCHEMA`; whether it was another. Raises StoreError."""
    if version == SCHEMA:  # another process was faster
        return False
    # Alembic takes a third of a second to import and is needed once per database.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(
            f"{place}: was made by a newer Graphwarden (schema {version}, this one knows {SCHEMA}): upgrade"
        )
    command.upgrade(config, SCHEMA)
    return True
