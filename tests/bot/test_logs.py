"""The log of a process: whose name its lines bear."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog

from bot import logs

log = structlog.get_logger()


def test_a_logger_that_has_spoken_before_follows_the_process_that_begins(capsys: pytest.CaptureFixture[str]) -> None:
    logs.begin("web")
    log.info("first")
    logs.begin("work")
    log.info("second")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["event"], line["process"]) for line in lines] == [("first", "web"), ("second", "work")]


def test_foreign_text_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.begin("web", as_text=True)
    log.warning("refused", why="one\ntwo\x1b[31m")
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)
