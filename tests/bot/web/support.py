"""Deliveries as GitHub sends them, and the server and dispatcher as processes that can be killed."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.web import signature

ROOT = Path(__file__).parents[3]
SECRET = b"It's a Secret to Everybody"
REPOSITORY = "octo/compiler"


@dataclass(frozen=True)
class Reply:
    """An answer of the server."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def payload(number: int = 0, size: int = 0, **more: Any) -> bytes:
    """A body of an event in REPOSITORY, filled up to about `size` bytes with what payloads are made of."""
    told: dict[str, Any] = {"repository": {"full_name": REPOSITORY}, "number": number, **more}
    url = "https://api.example.com/repos/octo/compiler/{}{{/sha}}"
    entry = {name: url.format(name) for name in ("commits", "statuses", "trees", "pulls")}
    entry |= {"fork": False, "id": 186853002, "ssh": None}  # type: ignore[dict-item]
    room = size - len(json.dumps(told | {"filled": []}))
    told["filled"] = [entry] * max(0, room // len(json.dumps([entry])))
    return json.dumps(told).encode()


def headers(body: bytes, delivery: str, event: str = "planted", **more: str) -> dict[str, str]:
    """The headers that GitHub sends with a body."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/1234567",
        "X-GitHub-Delivery": delivery,
        "X-GitHub-Event": event,
        "X-Hub-Signature-256": signature.sign(SECRET, body),
        **more,
    }


def ask(port: int, verb: str, path: str, body: bytes | None = None, told: Mapping[str, str] | None = None) -> Reply:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request(verb, path, body, dict(told or {}))
        answer = connection.getresponse()
        return Reply(answer.status, answer.read())
    finally:
        connection.close()


def deliver(port: int, body: bytes, delivery: str, event: str = "planted", **more: str) -> Reply:
    return ask(port, "POST", "/webhook", body, headers(body, delivery, event, **more))


def raw(body: bytes, told: Mapping[str, str]) -> bytes:
    """A request as bytes."""
    lines = ["POST /webhook HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in told.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connections:
    """Connections to one port that are used again, as many as are needed at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, request: bytes) -> int:
        """The status of the answer, 0 where there is none: refused, or cut off. Never repeats."""
        try:
            reader, writer = self._free.pop() if self._free else await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            return 0
        try:
            writer.write(request)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            return 0
        self._free.append((reader, writer))
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()


def configured(folder: Path, port: int, database: str = "bot.db", **github: object) -> Path:
    """A configuration file with a secret beside it."""
    (folder / "secret").write_bytes(SECRET)
    lines = [
        f"database = {json.dumps(database)}",
        "[server]",
        f"port = {port}",
        "[github]",
        'webhook_secret_file = "secret"',
    ]
    lines += [f"{name} = {json.dumps(value)}" for name, value in github.items()]
    lines += ["[projects.one]", f'repository = "{REPOSITORY}"', 'compiler = "onnxruntime"']
    path = folder / "graphwarden.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Program:
    """`tests.bot.web.programs` in a process of its own, which may be killed and started again."""

    def __init__(self, name: str, config: Path, port: int = 0) -> None:
        self.name, self.config, self.port = name, config, port
        self.log = config.with_name(f"{name}.log")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; the server answers when this returns."""
        command = [sys.executable, "-m", "tests.bot.web.programs", self.name, str(self.config)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=log, env={**os.environ, "PYTHONPATH": str(ROOT)})
        while self.port and not self._listens():
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as the kernel does when memory runs out."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True
