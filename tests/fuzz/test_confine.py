"""Confined programs: what they see, what they cannot do, and what is said where nothing can confine them."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from fuzz import confine
from fuzz.confine import Cage

every_means = pytest.mark.parametrize("name", [name for name, built in confine._MEANS.items() if confine._works(built)])


def run(cage: Cage, script: str) -> subprocess.CompletedProcess[str]:
    """A shell script in a cage."""
    return subprocess.run(
        confine.command(cage, ["/bin/sh", "-c", script]),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )


@every_means
def test_a_program_reads_what_it_is_given_and_writes_where_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Folders above may be closed to everybody but their owner, as those of tests and the home of root are."""
    monkeypatch.setattr(confine, "means", lambda: name)
    tmp_path.chmod(0o700)
    given, own, alone = tmp_path / "given", tmp_path / "it's own", tmp_path / "alone.py"
    for folder in (given, own):
        folder.mkdir()
    for file in (given / "model", alone, tmp_path / "secret"):
        file.write_text(f"a {file.stem}")
    cage = Cage(tmp_path / "home", read=(given, alone), write=(own,), folder=own)
    script = f"cat {given}/model {alone} > copy; cat {tmp_path}/secret >> copy; echo x > {given}/model; echo done"
    done = run(cage, f'cd "{own}"; {script}')
    assert done.stdout == "done\n"
    assert (own / "copy").read_text() == "a modela alone"
    assert (given / "model").read_text() == "a model"


def test_where_nobody_cannot_enter_a_folder_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(confine, "_hides", lambda: False)
    with pytest.raises(OSError, match=r"nobody, who is to run it, cannot enter /.*: install bubblewrap"):
        confine._as_nobody(Cage(tmp_path / "home", read=(tmp_path / "given",)), ["/bin/true"])


@every_means
def test_home_is_empty_and_holds_no_more_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(confine, "means", lambda: name)
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


#: Counts the processes that it can start; a shell that may start no more ends.
FORKS = "i=0; while [ $i -lt 600 ]; do sleep 60 >/dev/null 2>&1 & i=$((i+1)); echo $i; done"


@every_means
def test_a_program_starts_no_more_processes_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(confine, "_MOST_PROCESSES", 200)
    monkeypatch.setattr(confine, "means", lambda: name)
    command = confine.command(Cage(tmp_path / "home", processes=True), ["/bin/sh", "-c", FORKS])
    if os.geteuid() == 0 and "user" not in name:  # root itself may start as many as it likes
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", *command]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    assert len(done.stdout.split()) < 200, done.stdout[-100:]
    assert done.returncode, "it was never refused"


@pytest.mark.skipif(os.geteuid() != 0 or not confine._hides(), reason="only root can hide processes, if anybody")
def test_a_worker_beside_others_sees_no_process_but_those_of_its_user(tmp_path: Path) -> None:
    victim = subprocess.Popen(["/bin/sleep", "3600"])  # its command line may hold a secret
    try:
        done = run(
            Cage(tmp_path / "home"), f"cat /proc/{victim.pid}/cmdline; stat -c %u /proc/[0-9]*; cat /proc/self/comm"
        )
    finally:
        victim.kill()
        victim.wait()
    assert "sleep" not in done.stdout
    assert set(done.stdout.split()) == {str(pwd.getpwnam("nobody").pw_uid), "cat"}


def test_where_nothing_can_confine_a_program_it_is_not_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(confine, "means", lambda: "")
    with pytest.raises(OSError, match="install bubblewrap"):
        confine.command(Cage(tmp_path / "home"), ["/bin/true"])
