"""A small stateful GitHub for what the emulator lacks or does otherwise; its answers grow from GitHub's own examples.

- Check runs: updates add annotations to those that are there (the emulator replaces them), any head SHA is known, and
  what the description does not allow (51 annotations at a time) is refused.
- The App's webhook deliveries: sent for real, listed by cursor, sent again on request.
- The repositories of an installation, the pull requests of a commit.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests

from tests.github import description

#: Seconds that a webhook's receiver has. GitHub gives it ten; here a busy machine is no fault of it.
PATIENCE = 600.0


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; `body` is a JSON document, or None for none."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Hook:
    """Where webhooks go, and the secret that they are signed with."""

    url: str = ""
    secret: bytes = b""


class Fake:
    """The state, and `answer` for the requests that it takes. Safe with several threads."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.hook = Hook()
        self.pulls: dict[str, list[dict[str, Any]]] = {}
        self.repositories: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.notes: dict[int, list[dict[str, Any]]] = {}
        self.deliveries: list[dict[str, Any]] = []
        self._lock = threading.RLock()
        self._again: list[threading.Thread] = []
        here = r"/repos/(?P<repository>[^/]+/[^/]+)"
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Answer]]] = [
            ("POST", re.compile(rf"{here}/check-runs"), self._create_check),
            ("GET", re.compile(rf"{here}/check-runs/(?P<run>\d+)"), self._get_check),
            ("PATCH", re.compile(rf"{here}/check-runs/(?P<run>\d+)"), self._update_check),
            ("GET", re.compile(rf"{here}/check-runs/(?P<run>\d+)/annotations"), self._annotations),
            ("GET", re.compile(rf"{here}/commits/(?P<ref>.+)/check-runs"), self._list_checks),
            ("GET", re.compile(rf"{here}/commits/(?P<ref>.+)/pulls"), self._pulls_of),
            ("GET", re.compile(r"/app/hook/deliveries"), self._list_deliveries),
            ("GET", re.compile(r"/app/hook/deliveries/(?P<attempt>\d+)"), self._get_delivery),
            ("POST", re.compile(r"/app/hook/deliveries/(?P<attempt>\d+)/attempts"), self._redeliver),
            ("GET", re.compile(r"/installation/repositories"), self._repositories),
        ]

    def answer(self, verb: str, target: str, body: bytes) -> Answer | None:
        """The answer to a request, None where the emulator has to answer."""
        path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query))
        for each, pattern, handler in self._routes:
            found = pattern.fullmatch(path)
            if each == verb and found:
                if any(description.request_faults(verb, target, body)):
                    return Answer(
                        422, {"message": "Invalid request.", "documentation_url": "https://docs.github.com/rest"}
                    )
                with self._lock:
                    return handler(**found.groupdict(), query=query, told=json.loads(body) if body else {})
        return None

    # Check runs

    def _create_check(self, repository: str, query: Any, told: dict[str, Any]) -> Answer:
        run = description.example("checks/create", "201")
        number = len(self.checks) + 1
        url = f"{self.base_url}/repos/{repository}/check-runs/{number}"
        run |= {"id": number, "url": url, "html_url": f"{self.base_url}/{repository}/runs/{number}"}
        run |= {"conclusion": None, "completed_at": None, "started_at": _now(), "status": "queued", "external_id": ""}
        run |= {"pull_requests": [], "repository": repository, "head_sha": told["head_sha"], "details_url": url}
        run["output"] = {"title": None, "summary": None, "text": None, "annotations_count": 0}
        run["output"]["annotations_url"] = f"{url}/annotations"
        self.checks.append(run)
        self.notes[number] = []
        self._change(run, told)
        return Answer(201, _shown(run))

    def _update_check(self, repository: str, run: str, query: Any, told: dict[str, Any]) -> Answer:
        found = self._run(repository, run)
        if found is None:
            return _missing()
        self._change(found, told)
        return Answer(200, _shown(found))

    def _change(self, run: dict[str, Any], told: dict[str, Any]) -> None:
        names = ("name", "status", "conclusion", "external_id", "details_url", "started_at", "completed_at")
        run |= {name: told[name] for name in names if name in told}
        if "conclusion" in told:
            run |= {"status": "completed", "completed_at": told.get("completed_at", _now())}
        output = told.get("output", {})
        run["output"] |= {name: output[name] for name in ("title", "summary", "text") if name in output}
        self.notes[run["id"]] += output.get("annotations", [])
        run["output"]["annotations_count"] = len(self.notes[run["id"]])

    def _get_check(self, repository: str, run: str, query: Any, told: Any) -> Answer:
        found = self._run(repository, run)
        return _missing() if found is None else Answer(200, _shown(found))

    def _annotations(self, repository: str, run: str, query: dict[str, str], told: Any) -> Answer:
        found = self._run(repository, run)
        if found is None:
            return _missing()
        blank = {"start_column": None, "end_column": None, "title": None, "raw_details": None}
        href = f"{self.base_url}/{repository}/blob/{found['head_sha']}/"
        shown = [{**blank, "blob_href": href + each["path"], **each} for each in self.notes[found["id"]]]
        return self._page(f"/repos/{repository}/check-runs/{run}/annotations", shown, query)

    def _list_checks(self, repository: str, ref: str, query: dict[str, str], told: Any) -> Answer:
        found = [run for run in self.checks if run["repository"] == repository and run["head_sha"] == ref]
        if "check_name" in query:
            found = [run for run in found if run["name"] == query["check_name"]]
        if query.get("filter", "latest") == "latest":
            found = list({run["name"]: run for run in found}.values())
        shown = [_shown(run) for run in reversed(found)]
        page = self._page(f"/repos/{repository}/commits/{ref}/check-runs", shown, query)
        return Answer(200, {"total_count": len(shown), "check_runs": page.body}, page.headers)

    def _run(self, repository: str, run: str) -> dict[str, Any] | None:
        return next((each for each in self.checks if each["id"] == int(run) and each["repository"] == repository), None)

    # Webhooks

    def deliver(self, event: str, payload: Mapping[str, Any], guid: str = "", *, again: bool = False) -> int:
        """Send a webhook as GitHub would, and list it; the status that came back, 0 where nobody answered."""
        body = json.dumps(payload).encode()
        with self._lock:
            attempt = len(self.deliveries) + 1
            guid = guid or f"{hashlib.sha256(str(attempt).encode()).hexdigest()[:12]}-guid"
            entry: dict[str, Any] = {
                "id": attempt,
                "guid": guid,
                "event": event,
                "payload": payload,
                "redelivery": again,
            }
            self.deliveries.append(entry | {"status_code": 0, "delivered_at": _now()})
            entry = self.deliveries[-1]
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/1234567",
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-Hub-Signature-256": "sha256=" + hmac.new(self.hook.secret, body, hashlib.sha256).hexdigest(),
        }
        try:
            entry["status_code"] = requests.post(
                self.hook.url, data=body, headers=headers, timeout=PATIENCE
            ).status_code
        except requests.RequestException:
            entry["status_code"] = 0
        return int(entry["status_code"])

    def _list_deliveries(self, query: dict[str, str], told: Any) -> Answer:
        shown = list(reversed(self.deliveries))
        if "status" in query:
            good = query["status"] == "success"
            shown = [each for each in shown if (200 <= each["status_code"] < 300) == good]
        if "cursor" in query:
            shown = [each for each in shown if each["id"] < int(query["cursor"])]
        most = int(query.get("per_page", 30))
        headers = {}
        if len(shown) > most:
            asked = "&".join(f"{name}={value}" for name, value in query.items() if name != "cursor")
            link = f"{self.base_url}/app/hook/deliveries?{asked}&cursor={shown[most - 1]['id']}"
            headers["Link"] = f'<{link}>; rel="next"'
        return Answer(200, [self._item(each) for each in shown[:most]], headers)

    def _get_delivery(self, attempt: str, query: Any, told: Any) -> Answer:
        found = next((each for each in self.deliveries if each["id"] == int(attempt)), None)
        if found is None:
            return _missing()
        shown = description.example("apps/get-webhook-delivery", "200") | self._item(found)
        shown["request"]["payload"] = found["payload"]
        return Answer(200, shown)

    def _redeliver(self, attempt: str, query: Any, told: Any) -> Answer:
        found = next((each for each in self.deliveries if each["id"] == int(attempt)), None)
        if found is None:
            return _missing()
        arguments = (found["event"], found["payload"], found["guid"])
        self._again.append(threading.Thread(target=self.deliver, args=arguments, kwargs={"again": True}, daemon=True))
        self._again[-1].start()
        return Answer(202, {})

    def settle(self) -> None:
        """Wait until all that was asked for again has been delivered."""
        while self._again:
            self._again.pop().join()

    def _item(self, entry: dict[str, Any]) -> dict[str, Any]:
        item: dict[str, Any] = description.example("apps/list-webhook-deliveries", "200")[0]
        good = 200 <= entry["status_code"] < 300
        item |= {name: entry[name] for name in ("id", "guid", "event", "redelivery", "status_code", "delivered_at")}
        item |= {
            "action": (entry["payload"] or {}).get("action"),
            "status": "OK" if good else "failed to connect to host",
        }
        return item

    # The rest

    def _pulls_of(self, repository: str, ref: str, query: dict[str, str], told: Any) -> Answer:
        return Answer(200, self.pulls.get(ref, []))

    def _repositories(self, query: dict[str, str], told: Any) -> Answer:
        return Answer(200, {"total_count": len(self.repositories), "repositories": self.repositories})

    def _page(self, path: str, things: list[Any], query: dict[str, str]) -> Answer:
        page, most = int(query.get("page", 1)), int(query.get("per_page", 30))
        headers = {}
        if page * most < len(things):
            asked = "&".join(f"{name}={value}" for name, value in query.items() if name != "page")
            headers["Link"] = f'<{self.base_url}{path}?{asked}&page={page + 1}>; rel="next"'
        return Answer(200, things[(page - 1) * most : page * most], headers)


def _shown(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in json.loads(json.dumps(run)).items() if name != "repository"}


def _missing() -> Answer:
    return Answer(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
