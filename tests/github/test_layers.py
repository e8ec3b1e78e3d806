"""What plays GitHub in the tests does so: the proxy sees what is wrong, and faults happen as they are named."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import requests

from tests.github import description, hooks
from tests.github.emulator import token
from tests.github.faults import FAULTS
from tests.github.proxy import Proxy
from tests.github.support import SECRET, World

HEAD = "a" * 40


def ask(world: World, verb: str, path: str, body: Any = None, **headers: str) -> requests.Response:
    """A request through the proxy, by the maintainer."""
    told = {"Authorization": f"Bearer {token(world.maintainer)}", **headers}
    return requests.request(verb, world.url + path, json=body, headers=told, timeout=600)


@pytest.fixture
def proxy(github_world: World) -> Iterator[Proxy]:
    """The proxy, whose complaints the test expects."""
    yield github_world.proxy
    github_world.proxy.violations.clear()
    github_world.proxy.oddities.clear()


@pytest.mark.parametrize(
    ("verb", "path", "body", "complaint"),
    [
        ("POST", "/issues", {"body": "no title"}, '"title" is a required property'),
        ("POST", "/issues", {"title": "t", "body": 5}, "body: "),
        ("POST", "/issues", {"title": "t", "body": "x" * 65_537}, "body has 65537 characters"),
        ("POST", "/issues", {"title": "t", "colour": "red"}, "no property 'colour'"),
        ("PATCH", "/issues/1", {"state": "shut"}, "state: "),
        ("PATCH", "/issues/1", {"state": "closed", "state_reason": "because"}, "state_reason: "),
        ("POST", "/check-runs", {"name": "n"}, '"head_sha" is a required property'),
        ("POST", "/check-runs", {"name": "n", "head_sha": HEAD, "output": {"title": "t"}}, "summary"),
        (
            "POST",
            "/check-runs",
            {"name": "n", "head_sha": HEAD, "output": {"title": "t", "summary": "x" * 65_536}},
            "65535",
        ),
        ("GET", "/issues?state=any", None, "state='any'"),
        ("GET", "/issues?per_page=many", None, "per_page='many'"),
        ("GET", "/issues?owner=me", None, "no parameter 'owner'"),
        ("GET", "/no-such-thing", None, "no such operation"),
        ("DELETE", "/issues/1/labels/x", {"a": 1}, "a body, where none is taken"),
    ],
)
def test_the_proxy_sees_requests_that_github_does_not_describe(
    github_world: World, proxy: Proxy, verb: str, path: str, body: Any, complaint: str
) -> None:
    ask(github_world, verb, f"/repos/{github_world.repository}{path}", body)
    assert any(complaint in each for each in proxy.violations), proxy.violations


def test_more_than_fifty_annotations_are_seen_and_refused(github_world: World, proxy: Proxy) -> None:
    note = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [note] * 51}
    path = f"/repos/{github_world.repository}/check-runs"
    assert ask(github_world, "POST", path, {"name": "n", "head_sha": HEAD, "output": output}).status_code == 422
    assert any("50" in each for each in proxy.violations) and not github_world.checks()


def test_answers_that_github_would_not_give_are_seen() -> None:
    faults = list(description.answer_faults("GET", "/repos/o/r/issues/1", 200, b'{"number": "one"}'))
    assert any("number" in each for each in faults) and any("required" in each for each in faults)
    assert list(description.answer_faults("GET", "/repos/o/r/issues/1", 299, b"{}"))


def test_githubs_own_examples_keep_to_its_description() -> None:
    for name, verb, path, status in (
        ("issues/get", "GET", "/repos/o/r/issues/1", 200),
        ("checks/create", "POST", "/repos/o/r/check-runs", 201),
        ("apps/list-webhook-deliveries", "GET", "/app/hook/deliveries", 200),
    ):
        told = json.dumps(description.example(name, str(status))).encode()
        assert not list(description.answer_faults(verb, path, status, told))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_happens_once_at_its_call_and_has_an_effect_or_none(github_world: World, name: str) -> None:
    effect = name in ("500 after the effect", "502 after the effect", "late", "lost", "half", "garbled")
    github_world.proxy.patience = 0.2
    github_world.proxy.fail(1, FAULTS[name])
    path = f"/repos/{github_world.repository}/issues"
    assert ask(github_world, "POST", path, {"title": "before"}).status_code == 201
    try:
        answer = ask(github_world, "POST", path, {"title": "faulty"})
        with pytest.raises((ValueError, AssertionError)):
            assert answer.status_code == 201
            answer.json()
    except requests.RequestException:
        pass
    assert ask(github_world, "POST", path, {"title": "after"}).status_code == 201
    titles = [each["title"] for each in github_world.issues()]
    assert titles == (["before", "faulty", "after"] if effect else ["before", "after"])


def test_an_answer_that_has_not_changed_is_told_so(github_world: World) -> None:
    path = f"/repos/{github_world.repository}"
    tag = ask(github_world, "GET", path).headers["ETag"]
    assert ask(github_world, "GET", path, **{"If-None-Match": tag}).status_code == 304
    github_world.ask("", "PATCH", {"description": "changed"})
    assert ask(github_world, "GET", path, **{"If-None-Match": tag}).status_code == 200


class _Receiver(BaseHTTPRequestHandler):
    """Takes webhooks and keeps them."""

    kept: list[tuple[dict[str, str], bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.kept.append((dict(self.headers.items()), body))
        self.send_response(202)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


def test_webhooks_are_signed_listed_and_delivered_again_under_the_same_id(github_world: World) -> None:
    kept: list[tuple[dict[str, str], bytes]] = []
    server = HTTPServer(("127.0.0.1", 0), type("Receiver", (_Receiver,), {"kept": kept}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        github_world.fake.hook.url = f"http://localhost:{server.server_port}/webhook"
        assert github_world.send("issues", "closed", {"issue": {"number": 7}}) == 202
        headers, body = kept[0]
        assert headers["X-Hub-Signature-256"] == "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        told = json.loads(body)
        assert (told["action"], told["issue"]["number"]) == ("closed", 7)
        assert (told["repository"]["full_name"], told["sender"]["login"]) == (github_world.repository, "maintainer")
        github_world.fake.answer("POST", "/app/hook/deliveries/1/attempts", b"")
        github_world.fake.settle()
        assert kept[1][0]["X-GitHub-Delivery"] == headers["X-GitHub-Delivery"] and kept[1][1] == body
    finally:
        server.shutdown()
        server.server_close()


def test_every_event_that_the_bot_hears_has_examples() -> None:
    wanted = "push pull_request issue_comment issues check_run check_suite workflow_run release installation ping"
    assert {*wanted.split()} <= hooks.examples().keys()
    told = hooks.payload("pull_request", "synchronize", {"pull_request": {"head": {"sha": HEAD}}})
    assert (told["action"], told["pull_request"]["head"]["sha"]) == ("synchronize", HEAD)
    assert told["pull_request"]["base"]["ref"], "what is not changed stays"
