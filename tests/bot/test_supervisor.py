"""Processes that end are started again; none outlives the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import supervisor
from bot.supervisor import Supervisor

ROOT = Path(__file__).parents[2]
#: Stands in for `python -m bot.cli`: writes its process id into a folder and stays.
CHILD = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
time.sleep(1000)
"""


def until(said: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not said():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def started(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every process that is started leaves its id."""
    folder = tmp_path / "started"
    folder.mkdir()
    start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen

    def instead(command: list[str], **more: object) -> subprocess.Popen[bytes]:
        return start([sys.executable, "-c", CHILD, str(folder)], **more)

    monkeypatch.setattr(supervisor.subprocess, "Popen", instead)
    return folder


def test_a_process_that_is_killed_is_started_again_and_all_end_in_the_end(child: Path) -> None:
    stop = threading.Event()
    watching = threading.Thread(target=Supervisor({"one": ["one"], "two": ["two"]}, "X").watch, args=(stop,))
    watching.start()
    until(lambda: len(started(child)) == 2)
    os.kill(started(child)[0], signal.SIGKILL)
    until(lambda: len(started(child)) == 3)
    stop.set()
    watching.join()
    assert not [pid for pid in started(child) if alive(pid)]


SUPERVISING = """
import sys, threading
sys.path[:0] = {path!r}
from bot import supervisor
import subprocess
start = subprocess.Popen
supervisor.subprocess.Popen = lambda command, **more: start([sys.executable, "-c", {child!r}, {folder!r}], **more)
supervisor.Supervisor({{"one": ["one"]}}, "X").watch(threading.Event())
"""


def test_what_it_started_ends_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    text = SUPERVISING.format(path=[str(ROOT)], child=CHILD, folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.DEVNULL) as process:
        until(lambda: bool(started(tmp_path)))
        process.kill()
    until(lambda: not any(alive(pid) for pid in started(tmp_path)))
