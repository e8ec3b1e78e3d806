"""What a bisection answers, on ranges whose outcomes are written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.case import Revision
from tests.triage.bisect.support import Busy, Written, bisected, flips, searched
from triage.bisect import bisection
from triage.bisect.bisection import Bisection, BrokenEnd, NoAnswer, OutOfTime
from triage.bisect.progress import Progress


@pytest.fixture(autouse=True)
def no_spot_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spot checks last as long as a minute allows; the tests that want them say so."""
    monkeypatch.setattr(bisection.Bisection, "_may_check", lambda self, *_: self.sweep)


@pytest.mark.parametrize("sweep", [False, True])
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_bad_revision_is_found_wherever_it_is(tmp_path: Path, sweep: bool, jobs: int) -> None:
    for first in range(1, 9):
        found = bisected(tmp_path, "P" * first + "E" * (9 - first), sweep=sweep, jobs=jobs)
        assert (found.first, found.last_before) == (str(first), str(first - 1))
        assert flips(found) == [[str(first - 1), str(first), "ok", "exception"]]
        assert found.confidence and found.confidence > 0.99
        assert found.finished and (found.unseen == ()) >= sweep


def test_a_steady_failure_costs_a_run_a_revision_and_a_few_where_it_matters(tmp_path: Path) -> None:
    tester = Written("P" * 700 + "W" * 324)
    found = searched(tmp_path, tester, 1024)
    assert (found.first, found.last_before) == ("700", "699")
    inside = [at for at in tester.asked if at not in (0, 1023, 699, 700)]
    assert len(inside) == len(set(inside)) <= 14
    assert max(tester.asked.count(at) for at in (0, 1023, 699, 700)) <= 5
    assert len(found.unseen) == 1024 - len(set(tester.asked))


def test_the_search_goes_back_from_the_newer_end_in_growing_steps(tmp_path: Path) -> None:
    tester = Written("P" + "W" * 999)
    searched(tmp_path, tester, 1000)
    order = [at for at in dict.fromkeys(tester.asked) if at not in (0, 999)]
    distances = [999 - at for at in order]
    assert distances[0] < 100 and distances == sorted(distances)


def test_a_fix_is_the_first_revision_that_passes(tmp_path: Path) -> None:
    found = bisected(tmp_path, "EEEEEWWPP", fix=True)
    assert (found.first, found.last_before) == ("7", "6")
    assert flips(found) == [["6", "7", "wrong", "ok"]]


def test_from_one_failure_to_another_is_a_change_but_not_the_one_that_is_asked_for(tmp_path: Path) -> None:
    found = bisected(tmp_path, "PPPCCWWW", sweep=True)
    assert (found.first, found.last_before) == ("3", "2")
    assert flips(found) == [["2", "3", "ok", "signal"]]
    assert [change.entry for change in found.changes] == [["4", "5", "signal", "wrong"]]
    assert "5: wrong where 4 was signal" in list(found.sentences(fix=False))


def test_where_neither_end_passes_the_newer_outcome_is_looked_for(tmp_path: Path) -> None:
    found = bisected(tmp_path, "EEEWWW")
    assert (found.first, found.last_before, flips(found)) == ("3", "2", [["2", "3", "exception", "wrong"]])
    assert next(found.sentences(fix=False)).startswith("first other revision: 3 (wrong)")


@pytest.mark.parametrize(
    ("letters", "places"),
    [
        ("PPEEPPPEE", [(1, 2), (3, 4), (6, 7)]),
        ("PEEEEEEEPP", [(0, 1), (7, 8)]),  # the ends are alike
        ("EPEEEE", [(0, 1), (1, 2)]),
        ("WWPWWPPPPP", [(1, 2), (2, 3), (4, 5)]),
        ("PPPPPPPWPPPPPPPPPE", [(6, 7), (7, 8), (16, 17)]),
    ],
)
def test_what_flips_to_and_fro_is_blamed_on_no_revision(
    tmp_path: Path, letters: str, places: list[tuple[int, int]]
) -> None:
    found = bisected(tmp_path, letters, sweep=True, fix=letters.endswith("P"))
    assert (found.first, found.last_before) == (None, None)
    assert [(int(change.before), int(change.after)) for change in found.flips] == places
    assert f"flips {len(places)} times" in next(found.sentences(fix=False))
    assert found.confidence and found.confidence > 0.99


def test_spot_checks_find_a_flip_that_the_search_has_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "PPPPWWWWPPPPPPPPPPPPPPPPPPPPPPPPPWWW"
    assert bisected(tmp_path, letters).first == "33"
    monkeypatch.undo()
    found = bisected(tmp_path, letters)
    assert found.first is None and [change.after for change in found.flips] == ["4", "8", "33"]


def test_untestable_revisions_are_skipped_and_the_range_that_is_left_is_told(tmp_path: Path) -> None:
    found = bisected(tmp_path, "PP-P--WW-W", sweep=True)
    assert (found.first, found.last_before, found.between) == ("6", "3", ("4", "5"))
    assert [name for name, _ in found.skipped] == ["2", "4", "5", "8"]
    assert found.confidence and 0.2 < found.confidence < 0.5  # it may have come with any of three
    told = " ".join(found.sentences(fix=False))
    assert (
        "between them lie 4, 5, which could not be tested" in told and "4 could not be tested: its build hangs" in told
    )


def test_a_revision_that_a_busy_machine_could_not_make_is_tried_once_more_before_it_is_skipped(tmp_path: Path) -> None:
    found = searched(tmp_path, Busy("PPPWWW", {3: 1, 1: 99}), 6, sweep=True)
    assert (found.first, found.last_before) == ("3", "2")
    assert [name for name, _ in found.skipped] == ["1"]


@pytest.mark.parametrize("letters", ["-PPWW", "PPWW-"])
def test_an_end_that_cannot_be_tested_is_said_to_be_the_environment(tmp_path: Path, letters: str) -> None:
    with pytest.raises(BrokenEnd, match="cannot be tested, choose another end: its build hangs"):
        bisected(tmp_path, letters)


@pytest.mark.parametrize(("letters", "told"), [("PPPP", "both pass"), ("EEEE", "exception in both")])
def test_ends_that_do_not_differ_are_told(tmp_path: Path, letters: str, told: str) -> None:
    found = bisected(tmp_path, letters)
    assert (found.first, found.flips, found.differ) == (None, (), False)
    assert f"0 and 3 do not differ: {told}" in next(found.sentences(fix=False))


def test_the_answer_to_the_other_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="0 is wrong and 3 is ok: ask for the first good revision with --fix"):
        bisected(tmp_path, "WWPP")
    with pytest.raises(NoAnswer, match="0 is ok and 3 is wrong: ask for the first revision without --fix"):
        bisected(tmp_path / "other", "PPWW", fix=True)


def test_a_case_with_nothing_to_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="nothing to judge on 0"):
        bisected(tmp_path, "SPWW")


# ---------------------------------------------------------------- equal builds


def test_a_build_is_run_once_however_many_revisions_have_it(tmp_path: Path) -> None:
    tester = Written("PPPWWW", ["a", "b", "b", "c", "c", "c"])
    found = searched(tmp_path, tester, 6, sweep=True)
    assert (found.first, found.last_before) == ("3", "2")
    assert {"b", "c"} == {"abbccc"[at] for at in tester.asked if at not in (0,)}
    assert [each.revision for each in found.tested] == list("012345")
    assert all(each.same_build for each in found.tested if not each.runs)


def test_builds_that_come_back_make_the_place_more_certain(tmp_path: Path) -> None:
    found = searched(tmp_path, Written("PPWWWW", "abcdec"), 6, sweep=True)
    assert (found.first, found.last_before) == ("2", "1")
    assert found.confidence and found.confidence > 0.99


def test_equal_builds_that_answer_differently_are_not_blamed(tmp_path: Path) -> None:
    """Revisions 2 and 3 are the same files: what differs between their runs is no change of the compiler."""
    tester = Written(["P", "P", 0.5, 0.5, "W", "W"], ["a", "b", "c", "c", "d", "e"])
    found = searched(tmp_path, tester, 6, sweep=True)
    assert {found.last_before, found.first} != {"2", "3"}
    statuses = {each.revision: each.status for each in found.tested}
    assert statuses["2"] == statuses["3"]


def test_ends_that_are_the_same_build_are_told(tmp_path: Path) -> None:
    found = searched(tmp_path, Written("PWP", "aba"), 3)
    assert next(found.sentences(fix=False)) == "0 and 2 do not differ: they are the same build (ok)"


# ---------------------------------------------------------------- failures that come and go


@pytest.mark.parametrize(("rate", "seed"), [(0.3, 1), (0.5, 2), (0.7, 3)])
def test_a_failure_that_comes_and_goes_is_run_until_it_is_clear(tmp_path: Path, rate: float, seed: int) -> None:
    for first in (3, 11):
        tester = Written([0.0] * first + [rate] * (16 - first), seed=seed)
        found = searched(tmp_path, tester, 16)
        assert (found.first, found.last_before) == (str(first), str(first - 1))
        assert found.confidence and found.confidence > 0.9
        steady = searched(tmp_path, Written("P" * first + "W" * (16 - first)), 16)
        assert len(tester.asked) > sum(each.runs for each in steady.tested)
        [newest] = [each for each in found.tested if each.revision == "15"]
        assert newest.status == "wrong" and 0 < newest.failed < newest.runs


def test_a_failure_that_comes_and_goes_may_be_fixed_too(tmp_path: Path) -> None:
    found = searched(tmp_path, Written([0.5] * 5 + [0.0] * 7, seed=4), 12, fix=True)
    assert (found.first, found.last_before) == ("5", "4")


def test_one_revision_that_answers_at_random_does_not_hide_the_change(tmp_path: Path) -> None:
    tester = Written(["P", "P", 0.5, "P", "P", "W", "W", "W"], seed=1)
    found = searched(tmp_path, tester, 8, sweep=True)
    assert (found.first, found.last_before) == ("5", "4")
    assert {each.revision: each.status for each in found.tested}["2"] == "flaky"


# ---------------------------------------------------------------- interruption and time


def test_a_killed_search_goes_on_where_it_was(tmp_path: Path) -> None:
    letters = "PPPPPPPWWWWW"
    whole = Written(letters)
    searched(tmp_path, whole, 12)
    for killed_after in range(1, len(whole.asked), 3):
        first = Written(letters, dies_after=killed_after)
        with pytest.raises(KeyboardInterrupt):
            searched(tmp_path, first, 12)
        second = Written(letters)
        assert searched(tmp_path, second, 12).first == "7"
        assert first.asked + second.asked == whole.asked


def test_a_finished_search_is_forgotten(tmp_path: Path) -> None:
    first, second = Written("PPWW"), Written("PPWW")
    searched(tmp_path, first, 4)
    searched(tmp_path, second, 4)
    assert first.asked == second.asked


def test_a_damaged_record_of_progress_is_not_believed(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"format": 1}', '{"format": 1, "records": {"0": {"runs": [7]}}}', '{"format": 0}'):
        (tmp_path / "progress.json").write_text(text)
        assert bisected(tmp_path, "PPWW").first == "2"


def test_without_time_for_the_ends_there_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="the time ran out before both ends were known"):
        bisected(tmp_path, "PPWW", deadline=0.0)


def test_when_the_time_is_up_the_range_that_is_left_is_told(tmp_path: Path) -> None:
    """The ends are known from before; the time is over at once."""
    ends = Written("P" * 50 + "W" * 50, dies_after=10)
    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path, ends, 100)
    found = searched(tmp_path, Written("P" * 50 + "W" * 50), 100, deadline=0.0)
    assert (found.first, found.last_before, len(found.between), found.finished) == ("99", "0", 98, False)
    assert found.confidence and found.confidence < 0.5
    assert list(found.sentences(fix=False))[-1].startswith("the time ran out")
    assert Progress(tmp_path / "progress.json").load(["0", "99"]).tested(0)


def test_inside_a_merge_a_revision_that_fails_in_another_way_sides_with_neither(tmp_path: Path) -> None:
    tester = Written("PPEEWW")
    found = searched(tmp_path, tester, 6, exact=True)
    assert (found.first, found.last_before, found.between) == ("4", "1", ("2", "3"))
    assert found.finished and max(tester.asked.count(at) for at in (2, 3)) <= 2
    assert (bisected(tmp_path, "PPEEWW").first, bisected(tmp_path, "WWEEPP", fix=True, exact=True).between) == (
        "2",
        ("2", "3"),
    )


def test_a_search_without_checks_goes_on_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    tester = Written("P" * 30 + "W")
    search = Bisection([Revision(str(at)) for at in range(31)], tester, Progress(tmp_path / "progress.json"))
    first = search.run(checks=False)
    seen = len(tester.asked)
    assert first.first == "30" and len(first.unseen) > 20
    second = search.run()
    assert second.first == "30" and not second.unseen and tester.asked[:seen].count(30) == tester.asked.count(30)


def test_time_that_runs_out_is_told_apart_from_other_reasons(tmp_path: Path) -> None:
    with pytest.raises(OutOfTime):
        bisected(tmp_path, "PW", deadline=0.0)


@pytest.mark.parametrize("outcomes", ["PE", "PEP", "PEEP", "EPE"])
def test_nothing_is_told_to_be_certain_however_near_the_revisions_are(tmp_path: Path, outcomes: str) -> None:
    found = bisected(tmp_path, outcomes, sweep=True)
    assert found.flips and found.confidence == 0.9999
