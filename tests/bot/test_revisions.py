"""`graphwarden revisions` as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.support import Run
from tests.builds import tinyc
from tests.triage.revisions import support


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tmp_path / "root"))
    return tmp_path


def test_revisions_are_listed_installed_and_shown_as_installed(gw: Run, own_place: Path) -> None:
    for version, *faults in (("1.0",), ("1.1", "garbage")):
        tinyc.wheel(own_place, version, *faults)
    compiler = str(support.wheels(own_place).source)
    listed = gw("revisions", compiler, "--json").json
    assert [(entry["revision"], entry["installed"]) for entry in listed] == [("1.0", False), ("1.1", False)]
    done = gw("revisions", "install", compiler, "1.0", "1.1")
    assert done.code == 1
    assert "1.1 cannot be tested: its environment is broken: 7 of 7 tiny models fail" in done.err
    first, second = gw("revisions", compiler, "--json").json
    assert first["installed"] and first["identity"]
    assert not second["installed"] and "computes garbage" in second["problem"]
    assert "no: its environment is broken" in gw("revisions", compiler).out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["revisions", "glow"], "no configuration of a compiler 'glow'"),
        (["revisions", "/nowhere/glow.toml"], "/nowhere/glow.toml: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(gw: Run, own_place: Path, arguments: list[str], told: str) -> None:
    done = gw(*arguments)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_revision_that_is_not_there_is_answered_with_near_ones(gw: Run, own_place: Path) -> None:
    tinyc.wheel(own_place, "1.0")
    done = gw("revisions", "install", str(support.wheels(own_place).source), "1.00.1")
    assert done.code == 2
    assert "has no revision '1.00.1'; near it: 1.0" in done.err


def test_what_was_installed_is_told_to_scripts(gw: Run, own_place: Path) -> None:
    tinyc.wheel(own_place, "1.0")
    tinyc.wheel(own_place, "1.1", "no import")
    done = gw("revisions", "install", str(support.wheels(own_place).source), "1.0", "1.1", "--json")
    good, bad = done.json
    assert done.code == 1
    assert Path(good["python"]).exists() and not good["problem"]
    assert "cannot be imported" in bad["problem"]
