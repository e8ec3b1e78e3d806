"""Confined programs: what they see, what they cannot do, and what is said where nothing can confine them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fuzz import confine
from fuzz.confine import Cage

confined = pytest.mark.skipif(not confine.means(), reason="programs cannot be confined on this machine")


def run(cage: Cage, script: str) -> subprocess.CompletedProcess[str]:
    """A shell script in a cage."""
    return subprocess.run(
        confine.command(cage, ["/bin/sh", "-c", script]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )


@confined
def test_a_program_reads_what_it_is_given_and_writes_where_it_may(tmp_path: Path) -> None:
    given, own = tmp_path / "given", tmp_path / "own"
    for folder in (given, own):
        folder.mkdir()
    (given / "model").write_text("a model")
    cage = Cage(tmp_path / "home", read=(given,), write=(own,))
    done = run(cage, f"cat {given}/model > {own}/copy; echo x > {given}/model; echo done")
    assert done.stdout == "done\n"
    assert (own / "copy").read_text() == "a model"
    assert (given / "model").read_text() == "a model"


@pytest.mark.skipif("bubblewrap" not in confine.means(), reason="bubblewrap does not work on this machine")
def test_home_is_empty_and_holds_no_more_than_it_may(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "key").write_text("sesame")
    done = run(Cage(home, disk_mb=4), f"cd {home}; ls; head -c 10000000 /dev/zero > big; ls -s --block-size=1M big")
    assert "key" not in done.stdout
    assert done.stdout.split() == ["4", "big"]
    assert (home / "key").read_text() == "sesame"


@pytest.mark.skipif("bubblewrap" not in confine.means(), reason="bubblewrap does not work on this machine")
def test_a_build_sees_no_other_process_and_a_worker_at_least_not_what_it_holds(tmp_path: Path) -> None:
    alone = run(Cage(tmp_path / "home", processes=True), f"ls -d /proc/[0-9]* | wc -l; cat /proc/{os.getpid()}/environ")
    assert int(alone.stdout.splitlines()[0]) < 8
    beside = run(Cage(tmp_path / "home"), f"cat /proc/{os.getpid()}/environ; kill -0 {os.getpid()} && echo reached")
    assert "PATH" not in beside.stdout
    if os.geteuid() == 0:
        assert "reached" not in beside.stdout


def test_where_nothing_can_confine_a_program_it_is_not_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(confine, "means", lambda: "")
    with pytest.raises(OSError, match="install bubblewrap"):
        confine.command(Cage(tmp_path / "home"), ["/bin/true"])
