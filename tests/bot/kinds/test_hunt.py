"""Scheduled hunts, on real builds of the tiny compiler."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from bot.kinds import Done, hunt
from tests.bot.checks.support import Shop
from triage.ledger.records import NewWork, WorkState
from triage.lifecycle import State


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
