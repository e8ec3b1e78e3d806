"""The fixture `tiny_shop`: a project on commits of the tiny compiler, whose texts need no moderator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.settings import Filing
from tests.bot import suites
from tests.bot.checks.support import Shop, shop


@pytest.fixture
def tiny_shop(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent) as found:
        found.configure(filing=Filing(moderation=False, per_day=9, per_component=9))
        yield found
