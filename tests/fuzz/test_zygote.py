"""Private homes of workers that a killed campaign left behind."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fuzz.worker import is_readable
from fuzz.zygote import START_SECONDS, sweep_stale_homes


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in the place of the one for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def home(place: Path, name: str, age: float) -> Path:
    found = place / f"graphwarden-{name}"
    (found / "work").mkdir(parents=True)
    (found / "start.log").touch()
    then = found.stat().st_mtime - age
    os.utime(found, (then, then))
    return found


def test_only_homes_that_are_old_and_unused_are_removed(place: Path) -> None:
    stale, young, used = home(place, "a", 2 * START_SECONDS), home(place, "b", 0), home(place, "c", 2 * START_SECONDS)
    foreign = place / "graphwarden-notes"
    foreign.mkdir()
    os.utime(foreign, (0, 0))
    user = subprocess.Popen([sys.executable, "-c", "input()"], cwd=used / "work", stdin=subprocess.PIPE)
    try:
        sweep_stale_homes()
    finally:
        user.communicate()
    assert [each.exists() for each in (stale, young, used, foreign)] == [False, True, True, True]


def test_a_home_that_goes_away_between_two_looks_is_none_of_its_business(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = home(place, "a", 2 * START_SECONDS)

    def and_gone(path: Path) -> bool:
        found = os.path.exists(path)
        if gone in (path, *path.parents):
            shutil.rmtree(gone)
        return found

    monkeypatch.setattr(Path, "exists", and_gone)
    monkeypatch.setattr(Path, "is_dir", and_gone)
    sweep_stale_homes()
    assert not os.path.exists(gone)


def test_a_socket_is_readable_whatever_number_it_has() -> None:
    """A hunt on hundreds of compilers ended with "filedescriptor out of range in select()"."""
    limit, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("this machine allows no descriptor beyond 1023")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, 2048), hard))
    one, other = socket.socketpair()
    high = socket.socket(fileno=fcntl.fcntl(one.fileno(), fcntl.F_DUPFD, 1500))
    try:
        assert high.fileno() >= 1500 and not is_readable(high)
        other.send(b"x")
        assert is_readable(high, 1.0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        for end in (one, other, high):
            end.close()
