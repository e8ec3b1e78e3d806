"""The webhook endpoint: what it takes, and what it refuses without storing anything."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import pytest
from structlog.testing import LogCapture

from bot.settings import BadSettings, Server, Settings
from bot.web import request as requests
from bot.web.app import make_app
from tests.bot.web.support import SECRET, Connections, ask, deliver, headers, payload, raw
from triage.ledger import Ledger
from triage.ledger.records import NewDelivery

GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
BODY = payload(1)


def stored(ledger: Ledger) -> list[tuple[str, str, bytes]]:
    return [(each.id, each.event, each.body) for each in ledger.deliveries.waiting()]


def test_a_delivery_is_stored_as_it_came_and_then_acknowledged(port: int, ledger: Ledger, lines: LogCapture) -> None:
    body = b' {"a":\t"\xc3\xa9"}\n'
    reply = deliver(port, body, GUID)
    assert (reply.status, reply.json) == (202, {"status": "stored"})
    assert stored(ledger) == [(GUID, "planted", body)]
    (line,) = lines.entries
    assert (line["event"], line["delivery"], line["bytes"]) == ("delivery_stored", GUID, len(body))


def test_a_replay_changes_nothing(port: int, ledger: Ledger, lines: LogCapture) -> None:
    deliver(port, BODY, GUID)
    ledger.deliveries.handled(GUID)
    reply = deliver(port, BODY, GUID)
    assert (reply.status, reply.json) == (202, {"status": "known"})
    assert stored(ledger) == []
    assert [line["event"] for line in lines.entries] == ["delivery_stored", "delivery_known"]


def test_a_ping_is_answered(port: int) -> None:
    assert deliver(port, b'{"zen": "Design for failure."}', GUID, "ping").json == {"status": "pong"}


def test_a_form_is_taken_by_the_signature_of_its_raw_bytes(port: int, ledger: Ledger) -> None:
    form = urlencode({"payload": '{"name": "é & +"}'}).encode()
    kind = "application/x-www-form-urlencoded; charset=utf-8"
    assert deliver(port, form, GUID, **{"Content-Type": kind}).status == 202
    assert stored(ledger) == [(GUID, "planted", '{"name": "é & +"}'.encode())]


@pytest.mark.parametrize(
    "form", [b"", b"payload", b"other=1", b"payload=%7B%7D&payload=%7B%7D", b"payload=%ff", b"payload=x"]
)
def test_a_form_without_one_document_is_refused(form: bytes, port: int, ledger: Ledger) -> None:
    kind = "application/x-www-form-urlencoded"
    assert deliver(port, form, GUID, **{"Content-Type": kind}).status == 400
    assert stored(ledger) == []


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"X-Hub-Signature-256": "sha256=" + "0" * 64}, 401),
        ({"X-Hub-Signature-256": ""}, 401),
        ({"X-Hub-Signature-256": "\u00e9"}, 401),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Type": ""}, 415),
        ({"X-GitHub-Delivery": ""}, 400),
        ({"X-GitHub-Delivery": "../../etc/passwd"}, 400),
        ({"X-GitHub-Delivery": "a" * 65}, 400),
        ({"X-GitHub-Delivery": "'; DROP TABLE delivery; --"}, 400),
        ({"X-GitHub-Event": ""}, 400),
        ({"X-GitHub-Event": "../kinds/hunt"}, 400),
        ({"X-GitHub-Event": "Push"}, 400),
    ],
    ids=lambda value: str(value)[:60],
)
def test_bad_headers_are_refused_with_a_line_in_the_log(
    changed: Mapping[str, str], status: int, port: int, ledger: Ledger, lines: LogCapture
) -> None:
    reply = deliver(port, BODY, GUID, **changed)
    assert reply.status == status
    assert stored(ledger) == []
    (line,) = lines.entries
    assert (line["event"], line["status"], line["log_level"]) == ("delivery_rejected", status, "warning")
    assert SECRET.decode() not in str(line) and "compiler" not in str(line)


def test_headers_that_are_not_there_at_all_are_refused(port: int, ledger: Ledger) -> None:
    for name in ("X-GitHub-Delivery", "X-GitHub-Event", "X-Hub-Signature-256", "Content-Type"):
        told = headers(BODY, GUID)
        del told[name]
        assert ask(port, "POST", "/webhook", BODY, told).status in (400, 401, 415)
    assert stored(ledger) == []


def test_the_signature_counts_before_what_is_signed(port: int) -> None:
    """Nobody without the secret learns anything from how a body is read."""
    assert ask(port, "POST", "/webhook", b"{", headers(BODY, GUID)).status == 401


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 50_000], ids=lambda body: repr(body[:5])
)
def test_what_is_no_json_object_is_refused(body: bytes, port: int, ledger: Ledger) -> None:
    assert deliver(port, body, GUID).status == 400
    assert stored(ledger) == []


def test_an_announced_body_that_is_too_long_is_refused_unread(port: int, ledger: Ledger) -> None:
    told = headers(b"", GUID) | {"Content-Length": str(requests.MOST_BYTES + 1)}
    assert ask(port, "POST", "/webhook", b"", told).status == 413
    assert stored(ledger) == []


def test_a_body_without_a_length_is_cut_off_at_the_limit(port: int, ledger: Ledger, lines: LogCapture) -> None:
    piece = b"a" * 1_000_000
    with socket.create_connection(("127.0.0.1", port), timeout=300) as speaking:
        told = headers(b"", GUID) | {"Host": "x", "Transfer-Encoding": "chunked"}
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        speaking.sendall(f"POST /webhook HTTP/1.1\r\n{head}\r\n".encode())
        for _ in range(requests.MOST_BYTES // len(piece) + 1):
            speaking.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        assert speaking.recv(100).startswith(b"HTTP/1.1 413")
    assert stored(ledger) == []
    assert [line["status"] for line in lines.entries] == [413]


def test_a_body_of_just_the_limit_is_taken(port: int, ledger: Ledger) -> None:
    body = b'{"a": "%b"}' % (b"x" * (requests.MOST_BYTES - 9))
    assert len(body) == requests.MOST_BYTES
    assert deliver(port, body, GUID).status == 202
    assert [len(each[2]) for each in stored(ledger)] == [requests.MOST_BYTES]


def test_a_body_that_is_shorter_than_it_says_is_not_taken(port: int, ledger: Ledger, lines: LogCapture) -> None:
    told = headers(BODY, GUID)
    request = raw(BODY, told).replace(b"Content-Length: %d" % len(BODY), b"Content-Length: %d" % (len(BODY) + 10))
    with socket.create_connection(("127.0.0.1", port), timeout=300) as speaking:
        speaking.sendall(request)
        speaking.shutdown(socket.SHUT_WR)
        speaking.recv(100)
    assert deliver(port, BODY, str(uuid.uuid4())).status == 202  # it lives
    assert len(stored(ledger)) == 1
    assert "delivery_cut_off" in [line["event"] for line in lines.entries]


def test_a_body_that_is_longer_than_it_says_ends_where_it_says(port: int, ledger: Ledger) -> None:
    request = raw(BODY, headers(BODY, GUID)) + b"and more\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=300) as speaking:
        speaking.sendall(request)
        assert speaking.recv(100).startswith(b"HTTP/1.1 ")
    assert [each[2] for each in stored(ledger)] in ([BODY], [])


def test_a_body_that_takes_too_long_is_given_up(port: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=300) as speaking:
        speaking.sendall(raw(BODY, headers(BODY, GUID))[:-5])
        assert speaking.recv(100).startswith(b"HTTP/1.1 408")
    assert stored(ledger) == []


def test_those_who_are_not_github_cannot_fill_the_memory(
    port: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_HELD", 3 * len(BODY))
    request = raw(payload(1, 10 * len(BODY)), headers(BODY, GUID))
    with socket.create_connection(("127.0.0.1", port), timeout=300) as speaking:
        speaking.sendall(request)
        assert speaking.recv(100).startswith(b"HTTP/1.1 503")
    for _ in range(10):  # what was read is given up with the request
        assert ask(port, "POST", "/webhook", BODY, headers(BODY + b" ", GUID)).status == 401
    assert deliver(port, BODY, GUID).status == 202


def test_two_thousand_at_once_are_stored_once_each(port: int, ledger: Ledger) -> None:
    """Each id comes twice, all at the same time."""
    guids = [str(uuid.uuid4()) for _ in range(1000)]
    wanted = [raw(body, headers(body, guid)) for guid in guids * 2 for body in [payload(1)]]

    async def all_at_once() -> list[int]:
        connections = Connections(port)
        try:
            return await asyncio.gather(*(connections.send(each) for each in wanted))
        finally:
            connections.close()

    assert Counter(asyncio.run(all_at_once())) == {202: 2000}
    assert sorted(each.id for each in ledger.deliveries.waiting(5000)) == sorted(guids)


def test_nothing_is_acknowledged_that_cannot_be_stored(
    port: int, told: Settings, ledger: Ledger, lines: LogCapture
) -> None:
    with sqlite3.connect(told.database) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON delivery BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
    reply = deliver(port, BODY, GUID)
    assert (reply.status, reply.json) == (503, {"status": "cannot be stored now"})
    assert "delivery_not_acknowledged" in [line["event"] for line in lines.entries]
    with sqlite3.connect(told.database) as other:
        other.execute("DROP TRIGGER full")
    assert deliver(port, BODY, GUID).status == 202
    assert len(stored(ledger)) == 1


def test_a_database_that_stays_locked_is_answered_before_github_gives_up(
    port: int, told: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = sqlite3.connect(told.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with monkeypatch.context() as patched:
        patched.setattr("bot.web.app.PATIENCE", 0.3)
        assert deliver(port, BODY, GUID).status == 503
    other.execute("COMMIT")
    other.close()
    while not stored(ledger):  # it is stored after all; GitHub's redelivery is known then
        time.sleep(0.01)
    assert deliver(port, BODY, GUID).json == {"status": "known"}


def test_there_is_nothing_else_to_be_found(port: int) -> None:
    about = ask(port, "GET", "/")
    assert about.status == 200 and b"Graphwarden" in about.body
    for path in ("/docs", "/redoc", "/openapi.json", "/webhook/", "/../bot.db", "/secret"):
        assert ask(port, "GET", path).status == 404, path
    assert ask(port, "GET", "/webhook").status == 405
    assert ask(port, "POST", "/webhook/x", BODY, headers(BODY, GUID)).status == 404


def test_a_fault_of_ours_shows_nothing_of_the_inside(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(requests, "head", broken)
    reply = deliver(port, BODY, GUID)
    assert (reply.status, reply.json) == (500, {"status": "internal error"})


def test_the_path_is_the_configured_one(told: Settings, ledger: Ledger) -> None:
    other = told.model_copy(update={"server": Server(path="/github/hook-1")})
    paths = {getattr(route, "path", "") for route in make_app(other, ledger).routes}
    assert paths == {"/github/hook-1", "/healthz", "/"}


def test_without_a_secret_there_is_no_application(told: Settings, ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\n")
    with pytest.raises(BadSettings, match="webhook_secret_file"):
        make_app(told, ledger)


def test_the_id_of_a_delivery_is_all_that_tells_it_apart(ledger: Ledger) -> None:
    first, second = NewDelivery("one", "push", b"1"), NewDelivery("one", "push", b"2")
    assert ledger.deliveries.add_many([first, second]) == {"one"}
    assert stored(ledger) == [("one", "push", b"1")]


def test_a_payload_of_the_benchmarks_size_is_json() -> None:
    assert 20_000 < len(payload(1, 22_000)) <= 22_000
    json.loads(payload(1, 22_000))
