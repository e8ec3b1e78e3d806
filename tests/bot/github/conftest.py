"""The fixture `post`: an outbox on a database of its own, and a GitHub to send it to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.github.outgoing import Post, ledger_in
from tests.github.support import World


@pytest.fixture
def post(github_world: World) -> Iterator[Post]:
    """An empty outbox and its sender."""
    with ledger_in(github_world.folder) as ledger:
        yield Post(github_world, ledger)
