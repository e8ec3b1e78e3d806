"""HirGen's graphs as cases: forms of one graph, what is judged beside what, and what is kept over campaigns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fuzz import generators
from fuzz.campaign import Campaign, Policy
from fuzz.case import Case, Revision, Status, Target, Verdict
from fuzz.generators import hirgen, hirgen_disruptive
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.oracles import refusal
from fuzz.runner import Runner
from fuzz.validity import reference_target
from tests.fuzz.conftest import FAULTY, make_case

BREAKS = Target(str(FAULTY / "breaks_functions.py"), Revision("0"))
ACCEPTS = Target(str(FAULTY / "accepts_anything.py"), Revision("0"))
REFERENCE = reference_target("0")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def first(count: int, seed: int = 3, begun: int = 0) -> list[Case]:
    found = itertools.islice(hirgen.stream(seed, begun=begun), count)
    return [each for each in found if isinstance(each, Case)]


def verdicts(runner: Runner, cases: list[Case], target: Target) -> list[Verdict]:
    found = Campaign(runner, [target], REFERENCE, Policy()).run(cases)
    return [each for chunk in found for each in chunk if isinstance(each, Verdict)]


def test_a_graph_comes_plain_wrapped_and_rewritten_with_the_same_inputs() -> None:
    cases = first(60)
    tests = [case.origin.test for case in cases]
    assert tests[:3] == ["0", "0/wrapped", "0/call-through"] and "1/closure" in tests
    plain = {case.id: case for case in cases if case.origin.variant == "plain"}
    for case in cases:
        if case.origin.variant != "plain":
            [parent] = case.origin.parents
            assert case.inputs is plain[parent].inputs and generators.original(case) is not None


def test_the_same_seed_gives_the_same_cases() -> None:
    assert [case.id for case in first(30)] == [case.id for case in first(30)]
    assert {case.id for case in first(30)}.isdisjoint(case.id for case in first(30, seed=4))


def test_a_campaign_begins_with_what_earlier_ones_ran_and_only_with_that(tmp_path: Path) -> None:
    path = tmp_path / "covered.json"
    stream = hirgen.stream(3)
    stream.keep(path)
    cases = [each for each in itertools.islice(stream, 90) if isinstance(each, Case)]
    for case in cases[:60]:
        stream.observe(case.id, Status.OK)
    stream.write()
    again, fresh = hirgen.stream(3), hirgen.stream(3)
    again.keep(path)
    run = {case.id for case in cases[:60]}
    later = {each.id for each in itertools.islice(again, 90) if isinstance(each, Case)}
    anew = {each.id for each in itertools.islice(fresh, 90) if isinstance(each, Case)}
    assert run <= anew and not run & later


def test_an_interrupted_campaign_goes_on_behind_what_it_had() -> None:
    assert first(1, begun=7)[0].origin.test == "7"


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "covered.json"
    path.write_text("no")
    with pytest.raises(ValueError, match="holds no coverage"):
        hirgen.stream(3).keep(path)


def test_a_fault_around_functions_is_found_beside_the_same_graph_without_them(runner: Runner) -> None:
    cases = [case for case in first(24) if any(np.asarray(v).dtype == np.float32 for v in case.inputs.values())]
    found = verdicts(runner, cases, BREAKS)
    failures = [each for each in found if each.failure]
    assert failures and all(each.case.origin.variant == generators.MUTANT for each in failures)
    assert {each.failure.oracle for each in failures if each.failure} == {"metamorphic"}
    assert not [each for each in found if each.case.origin.variant == "plain" and each.status is Status.WRONG]


@pytest.mark.parametrize(("fault", "blamed"), [("rewriting", True), ("always", False), ("", False)])
def test_a_rewriting_is_blamed_only_for_what_does_not_fail_without_it(runner: Runner, fault: str, blamed: bool) -> None:
    target = Target(BREAKS.backend, BREAKS.revision, (("functions", "closure"),))
    verdict = Judge(runner, REFERENCE).examine(make_case(fault), target)
    assert bool(verdict.failure) is blamed
    if fault == "always":
        assert verdict.status is Status.SKIPPED and "comes without the rewriting" in verdict.reason


def test_disruptive_cases_are_shown_to_the_compiler_and_must_be_refused(runner: Runner) -> None:
    found = itertools.islice(hirgen_disruptive.cases(5), 24)
    cases = [each for each in found if isinstance(each, Case)]
    assert all(refusal.broken(case.origin) for case in cases)
    by_test = {each.case.origin.test: each for each in verdicts(runner, cases, ACCEPTS)}
    assert len(by_test) == len(cases)
    accepted = {each.failure.symptom for each in by_test.values() if each.failure}
    assert accepted <= {f"accepts-invalid:{kind}" for kind in ("dtype", "shape", "rank", "attribute")}
    assert len(accepted) > 1 and any(each.failure is None for each in by_test.values())
    assert all(each.status is Status.INVALID for each in by_test.values())
