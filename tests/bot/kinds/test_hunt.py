"""Scheduled hunts, on real builds of the tiny compiler."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.kinds import Again, Done, hunt
from fuzz.case import Origin, Status
from fuzz.generators import onnx_node
from tests.bot.checks.support import Shop
from triage import campaign_control as control
from triage.ledger.records import NewWork, Planned, Work, WorkState
from triage.ledger.schedules import Rung
from triage.lifecycle import State
from triage.records import Mark, Result


def test_a_hunt_runs_the_newest_build_that_works_and_gives_way_to_a_gate(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps", "neg raises")
    tiny_shop.lands("no import")
    ledger = tiny_shop.ledger
    ledger.work.add(NewWork("hunt", "it", "tiny", {"sources": ["onnx_node"], "budget": "1h"}, priority=90))
    work = ledger.work.claim(["hunt"])
    assert work is not None

    def say(note: str) -> None:
        if ledger.store.bugs():
            ledger.work.add(NewWork("gate", "tiny#7", "tiny", {"commit": broken}, priority=10))

    answer = hunt.run(work, replace(tiny_shop.desk, say=say))
    assert isinstance(answer, Done) and "gave way" in answer.note
    bugs = ledger.store.bugs()
    assert bugs and all((bug.state, bug.revision) == (State.NEW, broken) for bug in bugs)
    found = [each.payload["bug"] for each in answer.works if each.kind == "triage"]
    assert sorted(found) == sorted(bug.id for bug in bugs)
    [rest] = [each for each in answer.works if each.kind == "hunt"]
    assert (rest.key, rest.priority) == ("it", 90)
    assert 0 < float(str(rest.payload["budget"]).removesuffix("s")) <= 3600


def test_a_source_that_there_is_not_is_told(tiny_shop: Shop) -> None:
    done = tiny_shop.do("hunt", sources=["no_such_source"], budget="10s")
    assert done.state is WorkState.FAILED and "unknown source 'no_such_source'" in done.note


def test_a_hunt_in_which_no_build_works_says_why(tiny_shop: Shop) -> None:
    tiny_shop.git("checkout", "--quiet", "--orphan", "other")
    only = tiny_shop.lands("no import")
    tiny_shop.git("branch", "--force", "main", only)
    done = tiny_shop.do("hunt", sources=["onnx_node"], budget="10s")
    assert done.state is WorkState.FAILED and "cannot be tested" in done.note


def test_a_hunt_with_a_source_that_learns_goes_on_from_what_the_one_before_it_learnt(tiny_shop: Shop) -> None:
    ledger, models = tiny_shop.ledger, [0]
    kept = ledger.store.beside("tinyc_backend.mcts.json")

    def say(note: str) -> None:
        if kept.exists() and _models(kept) > models[-1]:
            ledger.work.add(NewWork("gate", "tiny#7", "tiny", {"commit": "0" * 40}, priority=10))

    for key in ("first", "second"):
        ledger.work.add(NewWork("hunt", key, "tiny", {"sources": ["mcts"], "budget": "1h"}, priority=90))
        work = ledger.work.claim(["hunt"])
        assert work is not None
        assert isinstance(hunt.run(work, replace(tiny_shop.desk, say=say)), Done)
        models.append(_models(kept))
        ledger.work.cancel("gate", "tiny#7", "it was only to end the hunt")
    assert 0 < models[1] < models[2]


def _models(kept: Path) -> int:
    """How many models the search that was kept has seen."""
    return int(json.loads(kept.read_text())["chooser"]["made"])


def claimed(shop: Shop, **payload: object) -> Work:
    """A schedule's work, claimed."""
    shop.ledger.schedules.agree([Planned("nightly", "tiny", "0 2 * * *", "1h", ("onnx_node",))])
    shop.ledger.schedules.ring("nightly")
    work = shop.ledger.work.claim(["hunt"])
    assert work is not None
    return replace(work, payload={**work.payload, **payload})


def once(shop: Shop, act: Callable[[], object]) -> Callable[[str], None]:
    """A way to say how it goes that acts as soon as there are results."""
    done: list[object] = []

    def say(note: str) -> None:
        if not done and (found := shop.ledger.store.campaigns()) and shop.ledger.store.done(found[-1].id):
            done.append(act())

    return say


def test_a_paused_hunt_keeps_its_place_and_goes_on_there(tiny_shop: Shop) -> None:
    store = tiny_shop.ledger.store
    work = claimed(tiny_shop)
    paused = hunt.run(work, replace(tiny_shop.desk, say=once(tiny_shop, lambda: control.pause(store, "nightly"))))
    assert isinstance(paused, Done) and paused.note.endswith(", paused")
    [rest] = [each for each in paused.works if each.kind == "hunt"]
    assert rest.payload["rung"] == work.payload["rung"] and rest.not_before is not None
    tiny_shop.ledger.work.done(work, paused.note, paused.works)
    [campaign] = store.campaigns()
    before = store.done(campaign.id)
    assert before and campaign.finished is None and tiny_shop.ledger.schedules.ring("nightly") is Rung.PAUSED
    [waits] = tiny_shop.queued("hunt")
    assert hunt.run(waits, tiny_shop.desk) == Again(60.0, "paused") and store.done(campaign.id) == before
    control.resume(store, "nightly")
    tiny_shop.ledger.work.cancel("triage", "bug:*", "else it goes first")
    again = tiny_shop.ledger.work.claim(["hunt"])
    assert again is not None
    cancelling = replace(tiny_shop.desk, say=once(tiny_shop, lambda: control.cancel(store, "nightly", "me")))
    ended = hunt.run(again, cancelling)
    assert isinstance(ended, Done) and ended.note.endswith(", cancelled")
    assert [each.kind for each in ended.works if each.kind == "hunt"] == []
    [campaign] = store.campaigns()
    assert campaign.mark is Mark.CANCELLED and store.counts(campaign.id).cases >= len(before), "nothing is lost"


def test_work_of_a_cancelled_schedule_that_a_killed_process_left_is_not_begun_again(tiny_shop: Shop) -> None:
    work = claimed(tiny_shop)
    control.cancel(tiny_shop.ledger.store, "nightly")
    assert hunt.run(work, tiny_shop.desk) == Done("cancelled")
    assert tiny_shop.ledger.store.campaigns() == []


def test_a_hunt_killed_when_all_its_cases_were_run_is_no_second_campaign_and_its_bugs_are_worked_out(
    tiny_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign had ended, but not the work that a killed process leaves: its answer was never saved."""
    monkeypatch.setattr(onnx_node, "_collect", some)
    tiny_shop.lands("sub swaps")
    store = tiny_shop.ledger.store
    work = claimed(tiny_shop)
    lost, again = hunt.run(work, tiny_shop.desk), hunt.run(work, tiny_shop.desk)
    assert isinstance(lost, Done) and isinstance(again, Done)
    assert [(each.name, each.mark) for each in store.campaigns()] == [("nightly", Mark.NONE)]
    assert again.works == lost.works and [each.kind for each in again.works] == ["triage"]
    tiny_shop.ledger.work.done(work, again.note, again.works)
    tiny_shop.ledger.work.cancel("triage", "bug:*", "else it goes first")
    later = hunt.run(claimed(tiny_shop), tiny_shop.desk)
    assert isinstance(later, Done)
    assert [each.parameters["seed"] for each in store.campaigns()] == [0, 1], "the next ring begins another one"


def some(collect: Callable[[], list[Any]] = onnx_node._collect) -> list[Any]:
    """A few node tests, among them such as a faulty subtraction breaks."""
    return [test for test in collect() if test.name.startswith(("test_sub", "test_add", "test_neg"))]


def test_a_hunt_does_not_begin_while_a_gate_runs_here(tiny_shop: Shop) -> None:
    tiny_shop.ledger.work.add(NewWork("gate", "tiny#7", "tiny", {"commit": "0" * 40}, priority=10))
    gate = tiny_shop.ledger.work.claim(["gate"])
    assert gate is not None
    work = claimed(tiny_shop)
    assert hunt.run(work, tiny_shop.desk) == Again(5.0, "gives way to gate tiny#7")


def test_a_hunt_prunes_what_ended_before_it_and_teaches_the_next(tiny_shop: Shop) -> None:
    store = tiny_shop.ledger.store
    old = store.begin_campaign({"sources": ["x"], "targets": ["x@1"]}, name="nightly").id
    store.record(old, [Result("0" * 16, "x@1", Origin("x", "y"), Status.SKIPPED)])
    work = claimed(tiny_shop)
    ended = hunt.run(work, replace(tiny_shop.desk, say=once(tiny_shop, lambda: control.cancel(store, "nightly"))))
    assert isinstance(ended, Done)
    assert store.campaigns()[0].mark is Mark.SUPERSEDED and store.done(old) == set()
    assert (old, 1) in {(each.campaign_id, each.removed) for each in store.pruned()}
    known = store.history([store.campaigns()[1].parameters["targets"][0]])
    assert known.covered and known.ends
