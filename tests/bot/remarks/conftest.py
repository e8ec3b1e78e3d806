"""The fixture `room`: a repository at the emulator, a ledger with bugs, and the bot's work on what people say there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.remarks.support import Room, room_of
from tests.github.support import World


@pytest.fixture
def room(github_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tmp_path / "revisions"))
    with room_of(github_world, tmp_path) as found:
        yield found
