"""`graphwarden serve` says what keeps it from running before it has begun anything."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.commands import serve
from bot.failures import Interrupted
from tests.bot.support import Done, ended, start
from tests.bot.web.support import ask, configured


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot that could run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    (tmp_path / "app.pem").write_bytes(key.private_bytes(*form))
    configured(tmp_path, 0, app_id=1, private_key_file="app.pem", api="http://127.0.0.1:9")
    return tmp_path


def refused(folder: Path) -> Done:
    """What serving ends with; nothing was started before."""
    process = start(folder, "serve")
    try:
        done = ended(process)
    except subprocess.TimeoutExpired:
        process.terminate()
        raise
    lines = done.err.splitlines()
    assert done.code == 2 and lines[-1].startswith("graphwarden: ")
    assert not [line for line in lines if "process_started" in line or "listening" in line]
    return done


def configure(folder: Path, old: str, new: str) -> None:
    path = folder / "graphwarden.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_port_that_is_taken_is_named(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        lines = (folder / "graphwarden.toml").read_text().splitlines()
        [line] = [line for line in lines if line.startswith("port = ")]
        configure(folder, line, f"port = {taken}")
        assert f"server.port: 127.0.0.1:{taken} is taken" in refused(folder).err


def test_a_host_that_is_none_of_this_machine_is_named(folder: Path) -> None:
    configure(folder, "[server]", '[server]\nhost = "192.0.2.1"')
    assert "server.host: 192.0.2.1" in refused(folder).err


@pytest.mark.parametrize("key", [None, "no key"])
def test_a_key_that_cannot_be_used_is_named(folder: Path, key: str | None) -> None:
    (folder / "app.pem").unlink() if key is None else (folder / "app.pem").write_text(key)
    assert "github.private_key_file" in refused(folder).err


def test_a_compiler_that_cannot_be_read_is_named(folder: Path) -> None:
    configure(folder, '"onnxruntime"', '"mine.toml"')
    (folder / "mine.toml").write_text("this is = no TOML [")
    assert "mine.toml" in refused(folder).err


def whole(log: Path) -> list[str]:
    """The lines that have been written to their ends."""
    return log.read_text().rpartition("\n")[0].splitlines()


def test_it_listens_when_it_says_so(folder: Path) -> None:
    configure(folder, "[server]", '[server]\nhost = "localhost"')
    log = folder / "log"
    with log.open("w") as out:
        process = start(folder, "serve", stderr=out)
    try:
        deadline = time.monotonic() + 600
        while not (told := [json.loads(line) for line in whole(log) if '"listening"' in line]):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        assert ask(told[0]["port"], "GET", "/healthz").status in (200, 404, 503)
    finally:
        process.send_signal(signal.SIGTERM)
        assert ended(process).code == 0


def heeds(process: subprocess.Popen[str], number: int) -> bool:
    """Whether a process has begun to catch a signal; before, the system ends it by that."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    [caught] = [line for line in lines if line.startswith("SigCgt")]
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("times", [1, 2], ids=["once", "and again before it has ended"])
@pytest.mark.parametrize("command", ["serve", "post", "work", "pages"])
def test_one_that_is_told_to_end_while_it_begins_has_not_failed(folder: Path, command: str, times: int) -> None:
    process = start(folder, command)
    deadline = time.monotonic() + 600
    while not heeds(process, signal.SIGTERM):
        assert time.monotonic() < deadline
    for _ in range(times):
        process.send_signal(signal.SIGTERM)
    done = ended(process)
    assert done.code == 0, done.err


def test_one_that_must_end_before_its_processes_have_ended_has_not_failed(folder: Path) -> None:
    """As on a busy machine, where it has some seconds until its alarm."""
    log = folder / "log"
    with log.open("w") as out:
        process = start(folder, "serve", stderr=out)
    deadline = time.monotonic() + 600
    while len(started := [each["pid"] for each in map(json.loads, whole(log)) if "pid" in each]) < 3:
        assert process.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    try:
        for pid in started:
            os.kill(pid, signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        while not heeds(process, signal.SIGALRM):
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGALRM)
        assert process.wait(900) == 0  # what it started still has its pipes
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)


def test_a_bot_that_is_told_to_end_while_it_begins_has_not_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told_to_end(*_: object, **__: object) -> None:
        raise Interrupted

    monkeypatch.setattr(serve, "open_store", told_to_end)
    serve.serve(folder / "graphwarden.toml")
