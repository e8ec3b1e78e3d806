"""The command line as a whole: what it starts, and what it says when nothing was asked."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot import cli
from tests.bot.support import Run, start
from tests.databases import NewDatabase
from triage.store import open_store


@pytest.mark.parametrize("unneeded", ["sqlmodel", "github", "fastapi", "onnx"])
def test_a_command_starts_without_what_only_others_import(unneeded: str):
    looked = (
        "import sys; from bot.cli import assembled; assembled(['group'])(['--help'], standalone_mode=False);"
        f"sys.exit({unneeded!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", looked], capture_output=True).returncode == 0


def test_a_mistyped_command_is_told_the_one_that_was_meant(gw: Run):
    done = gw("huntt")
    assert (done.code, done.err.strip()) == (2, "graphwarden: No such command 'huntt'. Did you mean 'hunt'?")


def test_without_a_command_the_help_is_shown_and_no_empty_line_of_error(gw: Run):
    done = gw()
    assert done.code == 2
    assert done.err.strip() == ""
    assert all(f"│ {name} " in done.out for name in cli.COMMANDS)


def test_no_command_tells_the_password_of_a_database(postgres: NewDatabase, gw: Run, tmp_path: Path):
    place = postgres().replace("postgres@", "postgres:hidden@")
    with open_store(place, create=True) as store:
        store.begin_campaign({"sources": ["isra"], "targets": [], "seed": 0})
    told = [
        gw("prune", "--db", place, "--json"),
        gw("plot", "campaign", 1, "--db", place, "-o", tmp_path / "x.svg"),
        gw("bisect", "7", "tvm", "--db", place),
    ]
    assert not [each for each in told if "hidden" in each.out + each.err]
    pages = start(tmp_path, "pages", "--db", place, "--port", 0)
    assert pages.stderr is not None
    first = pages.stderr.readline()
    pages.terminate()
    pages.communicate()
    assert first.startswith("graphwarden: http://") and "hidden" not in first
