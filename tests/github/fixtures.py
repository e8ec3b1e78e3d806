"""The fixtures `github` and `github_world`; `tests/conftest.py` gives them to all tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.github.emulator import Emulator
    from tests.github.fake import Fake
    from tests.github.proxy import Proxy
    from tests.github.support import World


@pytest.fixture(scope="session")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Emulator, Proxy, Fake]]:
    """One emulator, proxy and fake for all tests of a process."""
    from tests.github import description, emulator, fake, proxy

    description.operation("GET", "/app")  # reads it all, so that no answer is late for that
    with proxy.running(proxy.Proxy()) as door:
        door.fake = fake.Fake(door.url)
        with emulator.running(tmp_path_factory.mktemp("github"), called=door.url) as behind:
            door.upstream = behind.url
            yield behind, door, door.fake


@pytest.fixture
def github_world(github: tuple[Emulator, Proxy, Fake], tmp_path: Path) -> Iterator[World]:
    """A GitHub with a repository of the test's own. At the end every request and answer must have been valid."""
    from tests.github import support

    made = support.make(*github, tmp_path)
    yield made
    while not made.proxy.idle():  # what a killed process asked for is not the next test's
        time.sleep(0.01)
    assert not made.proxy.violations, f"requests that GitHub does not describe: {made.proxy.violations}"
    assert not made.proxy.oddities, f"answers that GitHub would not give: {made.proxy.oddities}"
