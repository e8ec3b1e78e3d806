"""A failure that was mended, then came again and now comes and goes, is not blamed on one revision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.triage.bisect.support import Written, flips, searched
from triage.bisect import bisection
from triage.bisect.ends import Ends
from triage.bisect.outcome import Ledger, Question, Record, Run
from triage.bisect.sides import Sides
from triage.bisect.uneven import Seen, doubts


@pytest.fixture(autouse=True)
def each_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spot checks go on until every revision was run once, however fast this machine is."""

    def unseen(search: bisection.Bisection, *_: object) -> bool:
        return any(not search._ledger.tested(at) for at in range(len(search._ledger)))

    monkeypatch.setattr(bisection.Bisection, "_may_check", unseen)


@pytest.mark.parametrize("rate", [0.25, 0.4])
@pytest.mark.parametrize("mended", [1, 3, 8])
def test_what_was_mended_before_it_came_and_went_flips_three_times(tmp_path: Path, rate: float, mended: int) -> None:
    outcomes: list[str | float] = ["P"] * 9 + ["W"] * 6 + ["P"] * mended + [rate] * 5
    found = searched(tmp_path, Written(outcomes, seed=mended), len(outcomes))
    assert found.first is None and found.finished
    assert [(int(flip[0]), int(flip[1])) for flip in flips(found)] == [(8, 9), (14, 15), (14 + mended, 15 + mended)]


def test_the_same_of_a_fix(tmp_path: Path) -> None:
    outcomes: list[str | float] = [0.3] * 5 + ["P"] * 2 + ["E"] * 6 + ["P"] * 9
    found = searched(tmp_path, Written(outcomes, seed=3), len(outcomes), fix=True)
    assert [(int(flip[0]), int(flip[1])) for flip in flips(found)] == [(4, 5), (6, 7), (12, 13)]


@pytest.mark.parametrize("rate", [0.25, 0.4])
def test_what_fails_now_and_then_where_it_failed_each_time_flips_once(tmp_path: Path, rate: float) -> None:
    outcomes: list[str | float] = ["P"] * 9 + ["W"] * 6 + [rate] * 5
    found = searched(tmp_path, Written(outcomes, seed=5), len(outcomes))
    assert (found.first, found.last_before) == ("9", "8")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("mended", [1, 5, 12])
def test_a_fix_after_which_it_fails_now_and_then_again_is_no_fix(tmp_path: Path, mended: int, seed: int) -> None:
    outcomes: list[str | float] = ["W"] * 5 + ["P"] * mended + [0.4] * 4
    found = searched(tmp_path, Written(outcomes, seed=seed), len(outcomes), fix=True)
    assert [(int(flip[0]), int(flip[1])) for flip in flips(found)] == [(4, 5), (4 + mended, 5 + mended)]
    assert found.first is None and found.finished


def test_what_failed_now_and_then_before_it_was_mended_and_broken_flips_twice(tmp_path: Path) -> None:
    outcomes: list[str | float] = [0.4] * 5 + ["P"] * 5 + ["W"] * 5
    found = searched(tmp_path, Written(outcomes, seed=1), len(outcomes))
    assert [(int(flip[0]), int(flip[1])) for flip in flips(found)] == [(4, 5), (9, 10)]


@pytest.mark.parametrize("fix", [True, False])
def test_from_each_time_to_now_and_then_is_one_change_of_few_runs(tmp_path: Path, fix: bool) -> None:
    rare: list[str | float] = [0.4] * 4
    outcomes = ["W"] * 5 + rare if fix else rare + ["W"] * 5
    tester = Written(outcomes, seed=1)
    found = searched(tmp_path, tester, 9, fix=fix)
    assert (found.first, found.last_before) == (("5", "4") if fix else ("4", "3"))
    assert found.confidence and found.confidence > 0.99 and len(tester.asked) < 60


@pytest.mark.parametrize(("runs", "doubted"), [(5, [0, 2]), (200, [])])
def test_a_rare_failure_between_ends_has_them_run_again_but_not_for_ever(runs: int, doubted: list[int]) -> None:
    passed, failed = Run("P", "ok"), Run("W", "wrong")
    records = {"0": Record((passed,) * runs), "1": Record((failed,) + (passed,) * 119), "2": Record((passed,) * runs)}
    ledger = Ledger(["0", "1", "2"], records)
    assert Sides(ledger, Ends(question=Question("P", but=True), differ=True)).doubted_ends() == doubted


def stretch(*runs: tuple[int, int]) -> Sequence[Seen]:
    return [Seen(at, like, unlike) for at, (like, unlike) in enumerate(runs)]


def test_a_stretch_with_one_rate_is_not_looked_at_again() -> None:
    assert not list(doubts(stretch()))
    assert not list(doubts(stretch((5, 0))))
    assert not list(doubts(stretch(*[(1, 0)] * 40)))
    assert not list(doubts(stretch((1, 3), (0, 1), (2, 2), (0, 1), (7, 21))))


def test_every_place_where_the_rate_changes_is_told() -> None:
    steady, rare = [(1, 0)] * 12, [(2, 6)] * 4
    assert list(doubts(stretch(*steady, (0, 1), (0, 1), *rare, *steady))) == [(11, 14), (17, 18)]
