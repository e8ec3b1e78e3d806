"""The gate's logic, on a replay that is told what cases do; tests/bot/test_gate.py runs it on real builds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.triage.suite.support import BASE, HEAD, Scripted, entry
from triage.suite import gate as gates
from triage.suite.compare import Change
from triage.suite.entries import Entry
from triage.suite.gate import Conclusion, Result, Sides, gate
from triage.suite.journal import Journal
from triage.suite.order import Order

ENTRIES = [entry(operator) for operator in ("Relu", "Abs", "Neg", "Exp")]


def run(
    folder: Path,
    base: Mapping[str, str],
    head: Mapping[str, str],
    entries: list[Entry] = ENTRIES,
    budget: float | None = None,
    filled: Mapping[tuple[str, str], str] | None = None,
) -> tuple[Result, Scripted]:
    replay = Scripted(entries, {"base": base, "head": head}, filled=filled or {})
    with Journal({"command": "gate"}, folder=folder) as journal:
        found = gate(entries, Order(entries), Sides(replay, BASE, HEAD), journal, budget=budget)
    return found, replay


def names(result: Result, change: Change) -> set[str]:
    return {pair.name for pair in result.of_change(change)}


def test_what_a_change_breaks_fixes_and_leaves_is_told_apart(tmp_path: Path) -> None:
    found, _ = run(tmp_path, {"Relu3": "W", "Abs3": "P", "Neg3": "C"}, {"Relu3": "P", "Abs3": "E", "Neg3": "C"})
    assert names(found, Change.FIXED) == {"Relu3"}
    assert names(found, Change.NEW_FAILURE) == {"Abs3"}
    assert names(found, Change.STILL_FAILING) == {"Neg3"}
    assert (found.conclusion, len(found.pairs), found.of) == (Conclusion.FAILURE, 4, 4)


def test_fixes_and_old_failures_are_a_success(tmp_path: Path) -> None:
    found, _ = run(tmp_path, {"Relu3": "W", "Neg3": "C"}, {"Neg3": "C"})
    assert found.conclusion is Conclusion.SUCCESS


@pytest.mark.parametrize(("base", "head"), [("P", "WP"), ("P", "WWP"), ("PPW", "W"), ("W", "PW"), ("P", "WE")])
def test_a_difference_that_does_not_repeat_on_both_sides_is_flaky(tmp_path: Path, base: str, head: str) -> None:
    found, _ = run(tmp_path, {"Relu3": base}, {"Relu3": head})
    assert names(found, Change.FLAKY) == {"Relu3"}
    assert found.conclusion is Conclusion.SUCCESS
    assert "runs disagree" in found.of_change(Change.FLAKY)[0].why


@pytest.mark.parametrize(("base", "head", "passing"), [("P", "W", "base"), ("W", "P", "head")])
def test_what_passes_only_by_what_memory_holds_is_neither_broken_nor_fixed(
    tmp_path: Path, base: str, head: str, passing: str
) -> None:
    found, _ = run(tmp_path, {"Relu3": base}, {"Relu3": head}, filled={(passing, "Relu3"): "W"})
    assert names(found, Change.FLAKY) == {"Relu3"} and found.conclusion is Conclusion.SUCCESS
    assert f"{passing} passes by chance" in found.of_change(Change.FLAKY)[0].why


def test_that_the_failing_side_depends_on_memory_excuses_nothing(tmp_path: Path) -> None:
    found, _ = run(tmp_path, {}, {"Relu3": "W"}, filled={("head", "Relu3"): "P"})
    assert names(found, Change.NEW_FAILURE) == {"Relu3"}


def test_only_differences_cost_further_runs(tmp_path: Path) -> None:
    _, replay = run(tmp_path, {"Relu3": "W", "Neg3": "C"}, {"Neg3": "C"})
    assert replay.ran["head", "Neg3"] == replay.ran["base", "Exp3"] == 1
    assert replay.ran["base", "Relu3"] == replay.ran["head", "Relu3"] == 1 + gates.REPEATS


def test_a_budget_that_ends_at_once_concludes_nothing(tmp_path: Path) -> None:
    found, replay = run(tmp_path, {}, {"Relu3": "W"}, budget=0.0)
    assert (found.conclusion, found.reason) == (Conclusion.NEUTRAL, "the budget ended before anything was known")
    assert replay.ran == {} and found.of == 4


def test_cases_that_cannot_be_judged_conclude_nothing(tmp_path: Path) -> None:
    nothing = {each.name: "S" for each in ENTRIES}
    found, _ = run(tmp_path, nothing, {})
    assert (found.conclusion, found.reason) == (Conclusion.NEUTRAL, "no case could be judged on both builds")


def test_an_interrupted_gate_goes_on_where_it_was(tmp_path: Path) -> None:
    replay = Scripted(ENTRIES, {"base": {}, "head": {"Relu3": "W", "Abs3": "W", "Neg3": "W", "Exp3": "W"}})

    class Stopped(Exception):
        pass

    def stop(pair: object) -> None:
        raise Stopped

    with Journal({"command": "gate"}, folder=tmp_path) as journal, pytest.raises(Stopped):
        gate(ENTRIES, Order(ENTRIES), Sides(replay, BASE, HEAD), journal, tell=stop)
    [kept] = [record["base"]["name"] for record in _records(tmp_path)]
    before = dict(replay.ran)
    with Journal({"command": "gate"}, folder=tmp_path) as journal:
        found = gate(ENTRIES, Order(ENTRIES), Sides(replay, BASE, HEAD), journal)
    assert names(found, Change.NEW_FAILURE) == {each.name for each in ENTRIES}
    assert replay.ran["head", kept] == before["head", kept]


def _records(folder: Path) -> list[dict[str, dict[str, str]]]:
    with Journal({"command": "gate"}, folder=folder) as journal:
        return journal.records


def test_a_head_that_fails_nearly_everything_is_suspected_as_environment(tmp_path: Path) -> None:
    many = [entry(operator, size) for operator in _OPERATORS for size in range(2, 32)]
    found, _ = run(tmp_path, {}, {each.name: "W" for each in many[:-1]}, many)
    assert found.conclusion is Conclusion.NEUTRAL
    assert "its environment is suspected rather than its code" in found.reason
    assert len(found.pairs) < len(many) / 2  # it does not go on to the end


def test_a_change_that_breaks_one_operator_entirely_is_no_environment(tmp_path: Path) -> None:
    many = [entry("Relu", size) for size in range(2, 60)]
    found, _ = run(tmp_path, {}, {each.name: "W" for each in many}, many)
    assert (found.conclusion, len(found.of_change(Change.NEW_FAILURE))) == (Conclusion.FAILURE, 58)


_OPERATORS = ("Relu", "Abs", "Neg", "Exp", "Tanh", "Sin", "Cos", "Sqrt", "Floor", "Ceil")


def test_both_builds_take_the_first_turn_by_turns() -> None:
    asked: list[str] = []

    class Asked(Scripted):
        def run(self, cases, revision):  # type: ignore[no-untyped-def]
            asked.append(revision.python)
            return super().run(cases, revision)

    sides = Sides(Asked(ENTRIES, {}), BASE, HEAD)
    for number in range(2):
        sides.pairs(number, ENTRIES)
    assert asked == ["base", "head", "head", "base"]
