"""A ledger in a real SQLite file, and in a real PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from triage.ledger import Ledger
from triage.store import open_store


@pytest.fixture
def ledger(database: str) -> Iterator[Ledger]:
    with open_store(database, create=True) as store:
        yield Ledger(store)
