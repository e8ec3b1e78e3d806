"""The web application on a real port and a real database, in this process."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
import uvicorn
from structlog.testing import LogCapture

from bot import settings
from bot.settings import Settings
from bot.web import app, health, request, server
from tests.bot.web.support import configured
from triage import store_file
from triage.ledger import Ledger
from triage.store import open_store


@pytest.fixture
def told(tmp_path: Path) -> Settings:
    return settings.load(configured(tmp_path, 0))


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables; making them takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "bot.db"
    open_store(path, create=True).close()
    return path


@pytest.fixture
def ledger(told: Settings, empty: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 600.0)  # whoever waits for a lock in a test gets it
    shutil.copy(empty, told.database)
    with open_store(told.database, create=True) as store:
        yield Ledger(store)


@pytest.fixture
def lines() -> Iterator[LogCapture]:
    """What is logged."""
    capture = LogCapture()
    before = structlog.get_config()
    structlog.configure(processors=[capture])
    yield capture
    structlog.configure(**before)


@pytest.fixture
def port(told: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of the running application, which has time for its answers: a busy machine is no fault of it."""
    for module in (app, request, health):
        monkeypatch.setattr(module, "PATIENCE", 600.0)
    web = uvicorn.Server(server.configuration(told, ledger))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
        thread.start()
        while not web.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield listening.getsockname()[1]
        web.should_exit = True
        thread.join()
