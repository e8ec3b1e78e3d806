"""Check runs and sweeps on the pages and as JSON; the numbers of a hunt as they come."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.checks import run
from bot.checks.run import Words
from tests.bot.pages.conftest import HOSTILE, TVM, failing, record, served
from tests.bot.pages.door import Browser
from tests.bot.support import Run, start
from triage.ledger import Ledger
from triage.ledger.records import Check
from triage.store import Store, open_store
from triage.suite.entries import LETTERS

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SUMMARY = f"""#### New failures

| case | before | now |
|---|---|---|
| gather_negative | pass | **wrong** |

{HOSTILE}
"""
PLACE = {
    "path": "src/gather.cc",
    "start_line": 7,
    "end_line": 9,
    "annotation_level": "warning",
    "title": f"Gather {HOSTILE}",
    "message": "it was right before",
}


def check(number: int, state: str = "done", conclusion: str = "success") -> Check:
    head = f"{number:040x}"
    return Check(
        "o/r",
        head,
        f"{run.external_id('o/r', 'tvm', head)}-{number}",
        "tvm",
        pull=number,
        base="b" * 40,
        state=state,
        conclusion=conclusion,
        since=NOW + timedelta(minutes=number),
        newest=True,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    """60 check runs: the last one fails, the one before is not over, nothing is said of the first."""
    with open_store(folder / "bot.db", create=True) as opened:
        ledger = Ledger(opened)
        for number in range(1, 61):
            one = check(number)
            ledger.checks.put(one)
            if number > 1:
                ledger.outbox.add(run.completed(one, "success", Words("Nothing new", "All as before.")))
        broken, waits = check(60, conclusion="failure"), check(59, "running", "")
        ledger.checks.put(broken)
        ledger.checks.put(waits)
        ledger.outbox.add(run.completed(broken, "failure", Words("Breaks 1 case", SUMMARY, (PLACE,))))
        opened.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 1})
        yield opened


@pytest.fixture(scope="module")
def sweep(folder: Path) -> Path:
    cases = {f"case {HOSTILE}": "PWP-", "steady": "PPP-"}
    document: dict[str, Any] = {
        "compiler": "tvm",
        "revisions": ["0.25", "0.26", "0.27", "0.28"],
        "cases": cases,
        "changed": [f"case {HOSTILE}"],
        "flip_flops": [f"case {HOSTILE}"],
        "untestable": {"0.28": "no wheel"},
        "letters": dict(LETTERS),
    }
    path = folder / "sweep.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture(scope="module")
def door(folder: Path, store: Store, sweep: Path) -> Iterator[str]:
    with served(folder / "bot.db", "--sweep", sweep) as address:
        yield address


def test_gates_are_listed_the_last_first_with_what_they_say(door: str) -> None:
    pages = [Browser(door).get(f"/api/v1/gates?page={page}").json() for page in (1, 2)]
    assert [each["pull"] for page in pages for each in page["gates"]] == list(range(60, 0, -1))
    first, second = pages[0]["gates"][:2]
    assert (first["conclusion"], first["title"], first["base"]) == ("failure", "Breaks 1 case", "b" * 40)
    assert (second["state"], second["conclusion"]) == ("running", "")
    assert pages[1]["gates"][-1]["title"] == "" and pages[0]["total"] == 60
    page = Browser(door).get("/gates").text
    assert "Breaks 1 case" in page and "o/r#60" in page and "page 1 of 2" in page


def test_one_gate_tells_what_it_breaks_and_where(door: str) -> None:
    number = check(60).external_id
    told = Browser(door).get(f"/api/v1/gates/{number}").json()
    assert told["summary"] == SUMMARY and told["annotations"][0]["line"] == 7 and told["ended"]
    page = Browser(door).get(f"/gates/{number}").text
    assert "<td>gather_negative</td>" in page and "src/gather.cc:7" in page and "https://github.com/o/r/pull/60" in page
    assert "<script>document" not in page and "<img" not in page
    assert Browser(door).get("/gates/none").status_code == Browser(door).get("/api/v1/gates/none").status_code == 404


def test_a_sweep_is_a_map_with_nothing_in_it_that_acts(door: str) -> None:
    told = Browser(door).get("/api/v1/sweeps").json()
    assert told == [
        {"id": 1, "compiler": "tvm", "first": "0.25", "last": "0.28", "revisions": 4}
        | {"cases": 2, "changed": 1, "flip_flops": 1}
    ]
    assert Browser(door).get("/api/v1/sweeps/1").json()["cases"]["steady"] == "PPP-"
    page = Browser(door).get("/sweeps/1").text
    assert "<svg" in page and "flip-flop" in page and "no wheel" in page
    assert "<script>document" not in page and "<img" not in page
    assert "tvm" in Browser(door).get("/sweeps").text
    assert [Browser(door).get(f"/sweeps/{number}").status_code for number in (2, 0)] == [404, 422]


def test_a_sweep_that_is_written_anew_is_shown_anew(door: str, sweep: Path) -> None:
    before = sweep.read_text()
    try:
        sweep.write_text(before.replace('"steady"', '"ready"'))
        assert "ready" in Browser(door).get("/api/v1/sweeps/1").json()["cases"]
        sweep.write_text("{")
        assert Browser(door).get("/sweeps/1").status_code == Browser(door).get("/api/v1/sweeps").status_code == 503
    finally:
        sweep.write_text(before)
    assert Browser(door).get("/sweeps/1").status_code == 200


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no document of `graphwarden sweep --json`"),
        ("[]", "no document of `graphwarden sweep --json`"),
        ('{"compiler": "tvm"}', "revisions: field required"),
    ],
)
def test_a_file_that_is_no_sweep_is_refused_at_once(gw: Run, sweep: Path, tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "no.json"
    path.write_text(text)
    for file in (path, tmp_path / "missing.json"):
        done = gw("pages", "--db", "h.db", "--port", 0, "--sweep", sweep, "--sweep", file)
        assert done.code == 2 and len(done.err.splitlines()) == 1
        assert (told if file is path else "No such file") in done.err


def events(answer: requests.Response) -> Iterator[tuple[str, str]]:
    """The events of a stream as (name, text)."""
    name, lines = "", list[str]()
    for line in answer.iter_lines(decode_unicode=True):
        kind, _, value = line.partition(": ")
        if kind == "event":
            name = value
        elif kind == "data":
            lines.append(value)
        elif not line and name:
            yield name, "\n".join(lines)
            name, lines = "", []


def test_the_numbers_of_a_hunt_come_as_they_change_until_it_is_over(door: str, store: Store) -> None:
    campaign = store.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 2}).id
    with requests.Session() as session:
        session.trust_env = False
        with session.get(f"{door}/campaigns/{campaign}/live", stream=True) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            told = events(answer)
            name, text = next(told)
            assert name == "numbers" and "<dd>0</dd>" in text and "<form" not in text
            record(store, campaign, failing("live", "live", TVM))
            name, text = next(told)
            assert name == "numbers" and "<dd>1</dd>" in text and "polyline" in text
            store.finish_campaign(campaign)
            assert [name for name, _ in told] == ["numbers", "end"]  # and nothing more
    assert Browser(door).get("/campaigns/999/live").status_code == 404


def test_an_open_page_does_not_keep_the_process(folder: Path, store: Store, sweep: Path) -> None:
    process = start(folder, "pages", "--db", store.address, "--port", 0)
    assert process.stderr is not None
    site = process.stderr.readline().split()[1].rstrip("/")
    with requests.Session() as session:
        session.trust_env = False
        with session.get(f"{site}/campaigns/1/live", stream=True) as answer:
            assert next(events(answer))[0] == "numbers"
            process.send_signal(signal.SIGINT)
            process.communicate()  # it ends, although nobody has hung up
    assert process.returncode is not None


def test_more_than_enough_watchers_are_told_to_ask_instead(door: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        open_ones = [session.get(f"{door}/campaigns/1/live", stream=True) for _ in range(40)]
        try:
            codes = [each.status_code for each in open_ones]
            assert codes[0] == 200 and codes[-1] == 503 and codes.count(200) <= 40
        finally:
            for each in open_ones:
                each.close()
