"""Builds by a command: kept by commit, limited, and confined, since the code may be anybody's."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import confine
from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions import listing
from triage.revisions.environments import Environments, Untestable

COPY = "cp -r tinyc {output}"
confined = pytest.mark.skipif(not confine.means(), reason="programs cannot be confined on this machine")


@pytest.fixture
def environments(tmp_path: Path) -> Iterator[Environments]:
    with Runner(jobs=1) as runner:
        yield Environments(runner, tmp_path / "root")


@confined
def test_what_a_build_leaves_is_installed_and_commits_with_the_same_files_are_built_once(
    environments: Environments, tmp_path: Path
) -> None:
    commits = tinyc.repository(tmp_path / "repository", [tinyc.sources(), {}, tinyc.sources("sub swaps")])
    compiler = support.built(tmp_path, tmp_path / "repository", ["sh", "-c", COPY])
    first, same, other = (environments.ensure(compiler, listing.find(compiler, commit)) for commit in commits)
    assert first.python == same.python != other.python


@confined
def test_commits_are_the_same_build_when_they_leave_the_same_files(environments: Environments, tmp_path: Path) -> None:
    changes = [tinyc.sources(), {"NEWS": "nothing that is installed"}, tinyc.sources("sub swaps")]
    commits = tinyc.repository(tmp_path / "repository", changes)
    compiler = support.built(tmp_path, tmp_path / "repository", ["sh", "-c", COPY])
    ready = [environments.ensure(compiler, listing.find(compiler, commit)) for commit in commits]
    assert len({revision.python for revision in ready}) == 3
    first, same, other = (environments.identity(compiler, revision) for revision in ready)
    assert first == same != other


@confined
def test_a_build_that_fails_is_told_with_its_last_words_and_remembered(
    environments: Environments, tmp_path: Path
) -> None:
    [commit] = tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    command = ["sh", "-c", "echo compiling; echo error: no such type >&2; exit 3"]
    compiler = support.built(tmp_path, tmp_path / "repository", command)
    for _ in range(2):
        with pytest.raises(Untestable, match="its build failed with exit status 3: error: no such type") as refusal:
            environments.ensure(compiler, listing.find(compiler, commit))
        assert "compiling" in refusal.value.log


@confined
@pytest.mark.parametrize(
    ("command", "more", "told"),
    [
        ("sleep 1000 & sleep 1000", "timeout = 1", "did not end within 1 s"),
        ("head -c 30000000 /dev/zero > {output}/big; sleep 1000", "disk_mb = 20", "wrote more than 20 MiB"),
        ("python -c 'bytearray(1 << 30)'", "memory_mb = 512", "exit status 1: MemoryError"),
        ("true", "", "left nothing"),
        ("ln -s /etc/shadow {output}/stolen", "", "stolen, which is neither a file nor a folder"),
        ("mkfifo {output}/endless", "", "endless, which is neither a file nor a folder"),
    ],
)
def test_a_build_that_hangs_spends_too_much_or_leaves_no_plain_files_is_refused(
    environments: Environments, tmp_path: Path, command: str, more: str, told: str
) -> None:
    [commit] = tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    compiler = support.built(tmp_path, tmp_path / "repository", ["sh", "-c", command], more)
    with pytest.raises(Untestable, match=told):
        environments.ensure(compiler, listing.find(compiler, commit))


@confined
def test_a_build_sees_no_secret_of_ours_no_network_and_can_write_nowhere_else(
    environments: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHWARDEN_TEST_TOKEN", "sesame")
    secret = tmp_path / "bot.key"
    secret.write_text("sesame")
    place = tmp_path / "repository"
    [commit] = tinyc.repository(place, [tinyc.sources()])
    with tempfile.NamedTemporaryFile(dir=Path.home()) as at_home, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_answer, args=(server,), daemon=True).start()
        attack = f"""{COPY}
            env | grep sesame && echo GOT environment
            cat {secret} && echo GOT key
            cat /proc/{os.getpid()}/environ | grep -q sesame && echo GOT environ
            cat {at_home.name} && echo GOT home
            echo x > {place}/planted && echo GOT repository
            echo x > /usr/planted && echo GOT system
            kill -0 {os.getpid()} && echo GOT signal
            python -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 2)' && echo GOT network
            exit 4"""
        compiler = support.built(tmp_path, place, ["sh", "-c", attack])
        with pytest.raises(Untestable, match="exit status 4") as refusal:
            environments.ensure(compiler, listing.find(compiler, commit))
    assert "GOT" not in refusal.value.log
    assert not (place / "planted").exists()


@confined
def test_workers_of_an_untrusted_build_are_confined_as_its_build_was(
    environments: Environments, tmp_path: Path
) -> None:
    secret = tmp_path / "bot.key"
    secret.write_text("sesame")
    spying = f"""
import os, pathlib
def look(path):
    try:
        return pathlib.Path(path).read_bytes().decode(errors="replace")
    except OSError as error:
        return "refused"
SEEN = [look({str(secret)!r}), look("/proc/{os.getpid()}/environ"), str(os.environ.get("PYTEST_CURRENT_TEST"))]
if any(seen not in ("refused", "None") for seen in SEEN):
    raise ImportError("SPIED %r" % SEEN)
"""
    files = tinyc.sources()
    files["tinyc/frontend.py"] = spying + files["tinyc/frontend.py"]
    [commit] = tinyc.repository(tmp_path / "repository", [files])
    compiler = support.built(tmp_path, tmp_path / "repository", ["sh", "-c", COPY])
    assert environments.ensure(compiler, listing.find(compiler, commit)).python


def _answer(server: socket.socket) -> None:
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        return
