"""What Prometheus and whoever watches the process are told."""

from __future__ import annotations

from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families as parse

from fuzz.case import Origin, Status
from tests.bot.pages.conftest import TVM, failing
from tests.bot.support import start
from triage.ledger import Ledger
from triage.ledger.records import NewDelivery, NewOutgoing, NewWork, OutKind
from triage.records import Result
from triage.store import open_store


def numbers(text: str) -> dict[tuple[str, ...], float]:
    """(name, values of the labels in order of their names) -> value."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in parse(text)
        for sample in family.samples
    }


def test_metrics_count_what_the_database_holds_at_that_moment(tmp_path: Path, web: requests.Session) -> None:
    path = tmp_path / "bot.db"
    with open_store(path, create=True) as store:
        process = start(tmp_path, "pages", "--db", path, "--port", 0)
        assert process.stderr is not None
        site = process.stderr.readline().split()[1].rstrip("/")
        try:
            empty = web.get(f"{site}/metrics")
            assert empty.headers["content-type"].startswith("text/plain; version=")
            assert numbers(empty.text)["graphwarden_cases_total",] == 0
            campaign = store.begin_campaign({"seed": 1}).id
            new = failing("a", "gather", TVM)
            case = new.failure.case
            rows = [Result(name, TVM.id, Origin("t"), end) for name, end in ((case.id, Status.WRONG), ("b", Status.OK))]
            store.record(campaign, rows, [new])
            ledger = Ledger(store)
            ledger.deliveries.add_many([NewDelivery("d1", "push", b"{}")])
            ledger.work.add(NewWork("suite", "k", "tvm"))
            ledger.outbox.add(NewOutgoing(OutKind.ISSUE, "issue:x", "o/r", {"title": "t", "body": "b"}, "s"))
            told = numbers(web.get(f"{site}/metrics").text)
            assert told["graphwarden_bugs", "tvm", "new"] == 1
            assert told["graphwarden_results_total", "wrong"] == told["graphwarden_results_total", "ok"] == 1
            assert told["graphwarden_cases_total",] == 2 and told["graphwarden_campaigns", "unfinished"] == 1
            assert told["graphwarden_deliveries", "new"] == told["graphwarden_work", "suite", "queued"] == 1
            assert sum(value for (name, *_), value in told.items() if name == "graphwarden_outgoing") == 1
            assert told["graphwarden_delivery_waiting_seconds",] >= 0
            assert web.get(f"{site}/healthz").text == "ok"
        finally:
            process.terminate()
            process.communicate()


def test_a_database_that_is_gone_is_no_health(tmp_path: Path, web: requests.Session) -> None:
    path = tmp_path / "h.db"
    with open_store(path, create=True) as store:
        store.begin_campaign({"seed": 1})
    process = start(tmp_path, "pages", "--db", path, "--port", 0)
    assert process.stderr is not None
    site = process.stderr.readline().split()[1].rstrip("/")
    try:
        assert web.get(f"{site}/healthz").status_code == 200
        for each in tmp_path.glob("h.db*"):
            each.write_bytes(b"no database any more" * 400)
        assert web.get(f"{site}/healthz").status_code == 503
        assert web.get(f"{site}/metrics").status_code == 503
    finally:
        process.terminate()
        process.communicate()
