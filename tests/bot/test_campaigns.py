"""`graphwarden campaigns` and `prune` beside a real hunt: paused, killed, resumed and cancelled, it loses nothing."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bot.support import PLANTED, Run, ended, start
from triage import campaign_control as control
from triage.campaign_control import Standing
from triage.ledger import Ledger
from triage.ledger.records import Planned
from triage.records import Result
from triage.store import Store, open_store

HUNT = ("hunt", "--source", "onnx_models", "--budget", "none", "--timeout", 600, "--jobs", 1, "--no-drafts")
#: Each case of the hunt takes so many seconds, so that it can be caught in the middle.
SLOW = 0.1


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    path = tmp_path / "slow.py"
    path.write_text(PLANTED.read_text().replace("    hold()\n    return", f"    time.sleep({SLOW})\n    return"))
    return path


def until(true: Callable[[], object], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 600
    while not true():
        assert process.poll() is None and time.monotonic() < ends
        time.sleep(0.05)


def told(process: subprocess.Popen[str], words: str) -> None:
    """Wait until a process says that on stderr."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without a word of {words!r}")


def rows(store: Store) -> set[tuple[object, ...]]:
    return {(each.case_id, each.target_id, each.status, each.seconds) for each in store.recorded(1)}


def test_a_hunt_that_is_paused_killed_resumed_and_cancelled_loses_nothing_and_does_nothing_twice(
    backend: Path, gw: Run, tmp_path: Path
) -> None:
    command = (*HUNT, "--backend", backend)
    first = start(tmp_path, *command)
    until((tmp_path / "hunt.db").exists, first)
    with open_store(tmp_path / "hunt.db", create=True) as store:
        until(lambda: store.campaigns() and store.done(1), first)
        assert control.listed(store)[0].standing is Standing.RUNNING
        control.pause(store, "1")
        told(first, "campaign 1 is paused: `graphwarden campaigns resume 1 --db hunt.db` lets it go on")
        paused = rows(store)
        first.send_signal(signal.SIGKILL)
        ended(first)

        second = start(tmp_path, *command)
        told(second, "campaign 1 is paused")
        assert rows(store) == paused and [each.id for each in store.campaigns()] == [1]
        done = gw("campaigns", "resume", "1", "--db", tmp_path / "hunt.db", "--json")
        assert (done.code, done.json[0]["name"], done.json[0]["standing"]) == (0, "1", "running")
        until(lambda: len(rows(store)) > len(paused), second)
        assert gw("campaigns", "cancel", "1", "--db", tmp_path / "hunt.db").code == 0
        last = ended(second)
        assert last.code == 0 and "the campaign was cancelled; what it found stays" in last.out
        after = rows(store)
        assert paused < after and sum(store.counts(1).statuses.values()) == len(after), "each is counted once"
        assert control.listed(store)[0].standing is Standing.CANCELLED

        gone = gw("prune", "--db", tmp_path / "hunt.db", "--dry-run", "--json").json["removed"]
        assert rows(store) == after
        assert gw("prune", "--db", tmp_path / "hunt.db", "--json").json["removed"] == gone
        assert len(rows(store)) == len(after) - gone["results"]
        assert sum(each.removed for each in store.pruned()) == gone["results"]


def test_what_is_listed_and_what_cannot_be_done_is_told(gw: Run, tmp_path: Path) -> None:
    place = ("--db", tmp_path / "bot.db")
    with open_store(tmp_path / "bot.db", create=True) as store:
        Ledger(store).schedules.agree([Planned("nightly", "tvm", "0 2 * * *", "2h", ("isra", "onnx_node"))])
        number = store.begin_campaign({"sources": ["isra"], "targets": ["tvm@1"], "seed": 0}).id
        store.record(number, list[Result]())
    [schedule, campaign] = gw("campaigns", *place, "--json").json
    assert (schedule["name"], schedule["standing"], schedule["sources"]) == ("nightly", "idle", ["isra", "onnx_node"])
    assert (campaign["name"], campaign["standing"], campaign["targets"]) == ("1", "waiting", ["tvm@1"])
    shown = gw("campaigns", *place)
    assert shown.code == 0 and "nightly" in shown.out and "0 2 * * *" in shown.out
    wrong = gw("campaigns", "pause", "weekly", *place)
    assert (wrong.code, wrong.out) == (2, "") and wrong.err.startswith("graphwarden: there is no schedule 'weekly'")
    both = gw("campaigns", *place, "--config", "graphwarden.toml")
    assert both.code == 2 and "give one of them" in both.err
    assert "no such database" in gw("prune", "--db", tmp_path / "none.db").err
