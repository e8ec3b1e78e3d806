"""Stands between the bot and GitHub: sends each request on, holds it and its answer against GitHub's description, and
fails where a test wants it to.

Requests go to the fake where it takes them, else to the emulator. Answers get an ETag, as GitHub's do.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.github import description
from tests.github.completion import completed
from tests.github.fake import Answer, Fake
from tests.github.faults import Fault, How

#: Headers that concern one connection alone.
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "host"}


@dataclass(frozen=True)
class Call:
    """One request as it was seen, and how it failed; `status` 0: no whole answer was given."""

    verb: str
    target: str
    body: bytes
    status: int
    fault: Fault | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def told(self) -> Any:
        """The request's document."""
        return json.loads(self.body) if self.body else None


@dataclass
class Proxy:
    """The proxy's state. `faults`: the number of a call (from 0, since `forget`) -> how it fails.

    `violations` holds what was wrong with requests, `oddities` what was wrong with answers even after completion.
    `stall` chooses calls that take place and are never answered; `stalled` tells that there was one. `refused` holds
    what may not be done, as long as it stands there: verb, pattern of a path, answer.
    """

    url: str = ""
    upstream: str = ""
    fake: Fake | None = None
    patience: float = 1.0
    calls: list[Call] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)
    stall: Callable[[Call], bool] | None = None
    stalled: threading.Event = field(default_factory=threading.Event)
    refused: list[tuple[str, re.Pattern[str], Fault]] = field(default_factory=list)
    _numbers: int = 0
    _promised: int = 0
    _pending: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def forget(self) -> None:
        """Start anew: calls, faults, violations."""
        with self._lock:
            self.calls, self.faults, self.violations, self.oddities = [], {}, [], []
            self._numbers, self.stall, self.patience = 0, None, 1.0
            self.refused = []
            self.stalled.clear()
            self._pending, self._promised = self._pending - self._promised, 0

    def fail(self, at: int, fault: Fault, times: int = 1) -> None:
        """Let call number `at` fail, and the next ones up to `times`."""
        self.faults |= dict.fromkeys(range(at, at + times), fault)

    def refuse(self, verb: str, path: str, status: int = 403, message: str = "Not accessible by integration") -> None:
        """Refuse all calls whose whole path fits a pattern, until `refused` is emptied."""
        self.refused.append((verb, re.compile(path), Fault(How.ANSWER, status, message)))

    def fault(self, verb: str, target: str) -> Fault | None:
        """How the next call fails, which is this one."""
        path, planned = urlsplit(target).path, self.faults.get(self.number())
        ruled = (fault for each, pattern, fault in self.refused if each == verb and pattern.fullmatch(path))
        return planned or next(ruled, None)

    def restart(self, faults: Mapping[int, Fault]) -> None:
        """Count calls from 0 again, with these faults to come."""
        with self._lock:
            self.faults, self._numbers, self.stall = dict(faults), 0, None

    def number(self) -> int:
        """The next call's number."""
        with self._lock:
            self._numbers += 1
            return self._numbers - 1

    def promise(self) -> Fault | None:
        """The next call is about to be made; how it fails. Until it has come and taken place, nothing is idle."""
        with self._lock:
            number = self._numbers + self._promised
            self._promised += 1
            self._pending += 1
            return self.faults.get(number)

    def idle(self) -> bool:
        """Whether everything that was asked for has taken place."""
        return self._pending == 0

    @contextmanager
    def taking_place(self) -> Iterator[None]:
        """A call is at work inside."""
        with self._lock:
            kept = self._promised > 0
            self._promised -= kept
            self._pending += not kept
        try:
            yield
        finally:
            with self._lock:
                self._pending -= 1

    def answer(self, verb: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """What GitHub says, checked."""
        self.violations += description.request_faults(verb, target, body)
        assert self.fake is not None
        found = self.fake.answer(verb, target, body) or self._forwarded(verb, target, headers, body)
        found = completed(verb, target, found)
        told = b"" if found.body is None else json.dumps(found.body).encode()
        self.oddities += description.answer_faults(verb, target, found.status, told)
        return found

    def _forwarded(self, verb: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        upstream = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=600)
        try:
            kept = {name: value for name, value in headers.items() if name.lower() not in _HOP}
            upstream.request(verb, target, body or None, kept)
            came = upstream.getresponse()
            content = came.read()
        finally:
            upstream.close()
        kept = {name: value for name, value in came.getheaders() if name.lower() not in _HOP | {"content-type"}}
        return Answer(came.status, json.loads(content) if content else None, kept)


@contextmanager
def running(proxy: Proxy) -> Iterator[Proxy]:
    """The proxy on a port of its own, as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": proxy}))
    server.daemon_threads = True
    proxy.url = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    proxy: Proxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.proxy.taking_place():
            fault = self.proxy.fault(self.command, self.path)
            answer = Answer(0)
            if fault is None or fault.how in (How.AFTER, How.LATE, How.LOST, How.HALF, How.GARBLED):
                answer = self.proxy.answer(self.command, self.path, dict(self.headers.items()), body)
            # Before the answer is sent: who has it finds the call here.
            whole = fault is None or fault.how in (How.ANSWER, How.AFTER)
            status = fault.status if whole and fault is not None else answer.status
            call = Call(self.command, self.path, body, status if whole else 0, fault)
            self.proxy.calls.append(call)
        if self.proxy.stall is not None and self.proxy.stall(call):
            self.proxy.stalled.set()
            threading.Event().wait(self.proxy.patience)
            self.close_connection = True
            return
        if fault is None:
            self._send(answer)
        else:
            self._fail(fault, answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _take

    def _fail(self, fault: Fault, answer: Answer) -> None:
        if fault.how in (How.ANSWER, How.AFTER):
            body = {"message": fault.message, "documentation_url": "", **fault.more}
            self._send(Answer(fault.status, body, fault.headers))
            return
        if fault.how in (How.SILENCE, How.LATE):
            threading.Event().wait(self.proxy.patience)
        elif fault.how in (How.HALF, How.GARBLED):
            content = json.dumps(answer.body).encode()
            self._head(answer, len(content) if fault.how is How.HALF else len(content) // 2, ends=True)
            self.wfile.write(content[: len(content) // 2])
        self.close_connection = True

    def _send(self, answer: Answer) -> None:
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
        tag = '"' + hashlib.sha256(content).hexdigest()[:32] + '"'
        if self.command == "GET" and answer.status == 200:
            if self.headers.get("If-None-Match") == tag:
                answer, content = Answer(304), b""
            answer = Answer(answer.status, answer.body, {**answer.headers, "ETag": tag})
        self._head(answer, len(content))
        self.wfile.write(content)

    def _head(self, answer: Answer, length: int, ends: bool = False) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if ends:  # else the next request might be sent to where nobody reads any more
            self.send_header("Connection", "close")
        if length:
            self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: what matters is in `calls`."""
