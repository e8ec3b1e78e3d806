"""Schedules ring once, never over themselves, and follow the configuration."""

from __future__ import annotations

from datetime import timedelta

from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import NewWork, Planned, WorkState
from triage.ledger.schedules import Rung

NIGHTLY = Planned("nightly", "tvm", "0 2 * * *", "1h", ("onnx_node",))
WEEKLY = Planned("weekly", "tvm", "0 3 * * 0", "8h", ("isra", "mcts"))


def test_a_ring_and_its_work_are_one_and_what_waits_takes_the_newer_budget(ledger: Ledger) -> None:
    ledger.schedules.agree([NIGHTLY])
    assert [ledger.schedules.ring("nightly") for _ in range(2)] == [Rung.QUEUED, Rung.QUEUED]
    [work] = ledger.work.listed()
    assert (work.key, work.project, work.payload["sources"]) == ("nightly", "tvm", ["onnx_node"])


def test_a_ring_during_the_campaign_before_it_adds_nothing(ledger: Ledger) -> None:
    ledger.schedules.agree([NIGHTLY])
    ledger.schedules.ring("nightly")
    running = ledger.work.claim(["hunt"])
    assert running is not None and ledger.schedules.ring("nightly") is Rung.RUNNING
    ledger.work.done(running)
    assert ledger.work.listed([WorkState.QUEUED]) == []
    assert ledger.schedules.ring("nightly") is Rung.QUEUED


def test_what_is_new_or_has_another_time_was_last_due_now(ledger: Ledger) -> None:
    [first] = ledger.schedules.agree([NIGHTLY])
    assert first.rung is not None and now() - first.rung < timedelta(minutes=10)
    [same] = ledger.schedules.agree([Planned("nightly", "tvm", "0 2 * * *", "2h", ("isra",))])
    assert (same.rung, same.planned.budget, same.planned.sources) == (first.rung, "2h", ("isra",))
    [moved] = ledger.schedules.agree([Planned("nightly", "tvm", "0 3 * * *", "2h", ("isra",))])
    assert moved.rung is not None and moved.rung > first.rung


def test_what_the_configuration_has_no_more_is_not_done_any_more(ledger: Ledger) -> None:
    ledger.schedules.agree([NIGHTLY, WEEKLY])
    ledger.schedules.ring("nightly")
    ledger.schedules.ring("weekly")
    weekly = ledger.work.listed(key="weekly")[0]
    assert [each.planned for each in ledger.schedules.agree([NIGHTLY])] == [NIGHTLY]
    assert [each.key for each in ledger.work.listed([WorkState.QUEUED])] == ["nightly"]
    assert ledger.schedules.ring("weekly") is Rung.GONE
    assert "does not have this schedule any more" in ledger.schedules.void(weekly)


def test_work_that_no_schedule_asked_for_is_nobodys_to_end(ledger: Ledger) -> None:
    ledger.work.add(NewWork("hunt", "by hand", "tvm", {"budget": "1h"}))
    assert ledger.schedules.void(ledger.work.listed()[0]) == ""


def test_a_gate_is_ahead_of_a_hunt_while_it_waits_and_while_it_runs_here(ledger: Ledger) -> None:
    ledger.work.add(NewWork("hunt", "nightly", "tvm", {}, priority=90))
    hunt = ledger.work.claim(["hunt"])
    assert hunt is not None and ledger.work.ahead(hunt, ["gate", "hunt"], ["gate"]) == ""
    ledger.work.add(NewWork("gate", "tvm#7", "tvm", {}, priority=10))
    assert ledger.work.ahead(hunt, ["gate", "hunt"], ["gate"]) == "gate tvm#7"
    gate = ledger.work.claim(["gate"])
    assert gate is not None and ledger.work.ahead(hunt, ["gate", "hunt"], ["gate"]) == "gate tvm#7"
    assert ledger.work.ahead(hunt, ["gate", "hunt"], []) == "", "other work may run beside"
    ledger.work.again(gate, 600, "waiting for a build")
    assert ledger.work.ahead(hunt, ["gate", "hunt"], ["gate"]) == "", "what only waits needs no processor"
