"""The fixture that runs the command line, and builds of the tiny compiler for it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import cli
from tests.bot import suites
from tests.bot.checks.support import Shop, shop
from tests.bot.support import Done, Run


@pytest.fixture
def gw(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `graphwarden` with these arguments through its real entry point."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["graphwarden", *map(str, arguments)])
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        capfd.readouterr()
        try:
            cli.main()
        except SystemExit as leaving:
            code = leaving.code
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return Done(int(code or 0), *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> suites.Builds:
    """Builds of the tiny compiler, whose environments are made once for all tests."""
    return suites.builds(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def place(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a test whose revisions are the builds of the tiny compiler."""
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    return tmp_path


@pytest.fixture
def tiny_shop(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project on commits of the tiny compiler, and work on it."""
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent) as found:
        yield found
