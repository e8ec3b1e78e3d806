"""A hunt whose disk fills up, and one whose database is locked by somebody else: nothing is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.bot.support import PLANTED, ended, start

HUNT = ("hunt", "--source", "onnx_models", "--budget", "none", "--no-drafts", "--jobs", 2, "--db", "hunt.db", "--json")
RESULTS = "SELECT case_id, target_id, status FROM result"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own that holds half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=512k", "none", folder], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small disk can only be made by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def results(folder: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(folder / "hunt.db")) as connection:
        return sorted(connection.execute(RESULTS))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    done = ended(start(folder, *HUNT, "--backend", compiler(folder)))
    assert done.code == 0, done.err
    return folder


def compiler(folder: Path) -> Path:
    return Path(shutil.copy(PLANTED, folder.parent / "planted.py"))


def test_a_full_disk_ends_a_hunt_in_one_line_and_it_goes_on_once_there_is_space(whole: Path, small_disk: Path) -> None:
    (small_disk / "other").write_bytes(bytes(200_000))
    done = ended(start(small_disk, *HUNT, "--backend", compiler(whole)))
    assert done.code == 2 and done.err.strip().count("\n") == 0, done.err
    assert "what was committed is safe" in done.err or "No space left" in done.err
    (small_disk / "other").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    done = ended(start(small_disk, *HUNT, "--backend", compiler(whole)))
    assert done.code == 0, done.err
    assert results(small_disk) == results(whole)


def test_a_hunt_waits_for_whoever_writes_to_its_database(whole: Path, tmp_path: Path) -> None:
    process = start(tmp_path, *HUNT, "--backend", compiler(whole))
    while not (tmp_path / "hunt.db").exists() or not tables(tmp_path):
        time.sleep(0.05)
    with closing(sqlite3.connect(tmp_path / "hunt.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 60000")
        other.execute("BEGIN IMMEDIATE")
        time.sleep(5)
        other.execute("COMMIT")
    done = ended(process)
    assert done.code == 0, done.err
    assert results(tmp_path) == results(whole)


def tables(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "hunt.db")) as connection:
        (number,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'result'").fetchone()
    return int(number)
