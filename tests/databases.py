"""Databases for tests that hold on every kind: a file of SQLite, and a database of a real PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

#: Makes a new database and tells its URL.
NewDatabase = Callable[[], str]
_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
#: Whom the server runs as where we are root, as which it refuses to run.
_USER = "postgres"


@pytest.fixture(scope="session")
def postgres() -> Iterator[NewDatabase]:
    """A PostgreSQL server of this test run, behind a socket in its own folder."""
    if not _PROGRAMS:
        pytest.skip("no PostgreSQL server here (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="gw-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _USER)
        _run("initdb", "-D", folder / "data", "-U", _USER, "-A", "trust", "-N")
        quick = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=300"
        _run("pg_ctl", "-D", folder / "data", "-w", "-t", "300", "-l", folder / "log", "-o", quick, "start")
        try:
            yield _maker(folder)
        finally:
            _run("pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a database of each kind; nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "some.db")
    made: str = request.getfixturevalue("postgres")()
    return made


def _maker(folder: Path) -> NewDatabase:
    numbers = itertools.count()

    def make() -> str:
        name = f"test{next(numbers)}"
        _run("createdb", "-h", folder, "-U", _USER, name)
        return f"postgresql://{_USER}@/{name}?host={folder}"

    return make


def _run(program: str, *arguments: object) -> None:
    before: Sequence[str] = ("runuser", "-u", _USER, "--") if os.geteuid() == 0 else ()
    command = [*before, str(_PROGRAMS[-1] / program), *map(str, arguments)]
    # To a file and not to a pipe: the server, which outlives its starter, would keep that open.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/")
        said.seek(0)
        assert done.returncode == 0, said.read().decode(errors="replace")
