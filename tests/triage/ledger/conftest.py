"""A ledger on a real SQLite file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from triage.ledger import Ledger
from triage.store import open_store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "bot.db"


@pytest.fixture
def ledger(database: Path) -> Iterator[Ledger]:
    with open_store(database, create=True) as store:
        yield Ledger(store)
