"""Oracle 2 by value on real compilers: nothing parts that is right, and a planted fault is put down to its pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import catalogue, sequences
from fuzz.runner import Runner
from fuzz.sequences import NoSequences, Sequences
from tests.fuzz.mutants.subjects import built_in, mutated
from triage.asking import with_options
from triage.sequenced import Levels

FAULTS = str(Path(__file__).parents[1] / "mutants" / "faults.py")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as running:
        yield running


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_drawn_sequences_change_nothing_on_a_right_compiler(runner: Runner, name: str) -> None:
    subject = built_in("transformer")
    mutant, _ = mutated(subject, 4)
    case = subject.case_of(mutant, 4)
    levels = Levels(runner, subject.case, catalogue.target(name))
    known = levels.sequences(case)
    found = [levels.examine(known, known.draw(seed), case) for seed in range(3)]
    assert {each.kind for each in found} <= {"agrees", "numeric"}, found
    assert len({each.steps for each in found}) > 1


def test_a_guilty_pass_is_found_among_innocent_ones_and_is_in_the_signature(runner: Runner) -> None:
    subject = built_in("lstm")
    mutant, _ = mutated(subject, 6, seed=1)
    case = subject.case_of(mutant, 6)
    levels = Levels(runner, subject.case, catalogue.target(FAULTS, {"fault": "ranges"}))
    known = levels.sequences(case)
    assert "RangeAnalysis" in known.met and len(known.met) > 1
    found = levels.examine(known, known.met, case)
    assert (found.kind, found.form, found.guilty) == ("wrong", "mutated and optimised", ("RangeAnalysis",))
    assert found.signature == f"{found.symptom} after RangeAnalysis"
    innocent = [name for name in known.met if name != "RangeAnalysis"]
    assert levels.examine(known, innocent, case).kind == "agrees"


def test_a_pass_that_breaks_the_seed_itself_parts_without_a_mutant(runner: Runner) -> None:
    subject = built_in("lstm")
    mutant, _ = mutated(subject, 6, seed=1)
    case = subject.case_of(mutant, 6)
    levels = Levels(runner, case, catalogue.target(FAULTS, {"fault": "ranges"}))
    known = levels.sequences()
    found = levels.examine(known, known.met)
    assert (found.like, found.form, found.guilty) == ("original", "optimised", ("RangeAnalysis",))


def test_other_numbers_of_threads_compute_the_same(runner: Runner) -> None:
    subject = built_in("lstm")
    levels = Levels(runner, subject.case, catalogue.target("onnxruntime"))
    for options in sequences.devices("onnxruntime"):
        found = levels.across(options)
        assert (found.kind, found.steps) == ("agrees", (f"threads={options['threads']}",))


def test_the_same_seed_draws_the_same_sequence_and_others_another_order() -> None:
    known = Sequences("tvm", ())
    drawn = [known.draw(seed) for seed in range(100)]
    assert drawn == [known.draw(seed) for seed in range(100)]
    assert len(set(drawn)) > 90
    folding = [
        (each.index("FoldConstant"), each.index("LegalizeOps"))
        for each in drawn
        if {"FoldConstant", "LegalizeOps"} <= {*each}
    ]
    assert any(one < other for one, other in folding) and any(one > other for one, other in folding)
    assert known.options(drawn[0]) == {"sequence": ",".join(drawn[0])}


def test_a_compiler_whose_passes_cannot_be_chosen_has_no_sequences() -> None:
    with pytest.raises(NoSequences, match="no optimisation sequences of mnn are known"):
        Sequences("mnn", ()).draw(0)


def test_an_option_may_be_called_like_what_it_changes() -> None:
    assert with_options(catalogue.target("tvm"), target="native").options == (("target", "native"),)


def test_a_hunt_gets_drawn_sequences_of_backends_that_take_an_order() -> None:
    targets = [catalogue.target("onnxruntime"), catalogue.target("tvm", {"target": "native"}), catalogue.target("tvm")]
    found = sequences.drawn(targets, 3, seed=7)
    assert [each.backend for each in found] == ["tvm"] * 3 and len({each.id for each in found}) == 3
    assert all(dict(each.options)["target"] == "native" for each in found)
    assert found == sequences.drawn(targets, 3, seed=7) != sequences.drawn(targets, 3, seed=8)
