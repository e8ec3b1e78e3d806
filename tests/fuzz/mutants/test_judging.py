"""Oracle 3 on a real compiler: agreement, rounding that float64 explains, logic errors, deaths, what is not judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.mutants.judging import Judge
from fuzz.runner import Runner
from tests.fuzz.mutants.subjects import built_in, mutated, small

CRASHING = str(Path(__file__).parents[2] / "faulty" / "crashes_at_once.py")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as running:
        yield running


def sums(order: str) -> Case:
    """x summed up in float32 with terms of 2^24 that cancel, in one order or the other: honest and far apart."""
    terms = {"one": ["x", "big", "small"], "other": ["big", "small", "x"]}[order]
    nodes = [
        helper.make_node("Add", terms[:2], ["a"]),
        helper.make_node("Add", ["a", terms[2]], ["y"]),
    ]
    model = small(*nodes, shape=(1, 4))
    for name, value in (("big", 2.0**24), ("small", -(2.0**24))):
        model.graph.initializer.append(numpy_helper.from_array(np.array(value, np.float32), name))
    inputs = {"x": np.array([[0.3, 1.4, 0.7, 3.2]], np.float32)}
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def test_mutants_agree_with_their_original(runner: Runner) -> None:
    subject = built_in("transformer")
    mutant, _ = mutated(subject, 30)
    found = Judge(runner, subject.case, catalogue.target("onnxruntime")).examine(subject.case_of(mutant, 30))
    assert found.kind == "agrees"


def test_another_order_of_rounding_is_numeric(runner: Runner) -> None:
    found = Judge(runner, sums("one"), catalogue.target("onnxruntime", {"opt": "off"})).examine(sums("other"))
    assert (found.kind, found.symptom) in (("numeric", "wrong:score"), ("numeric", "wrong:label"))
    assert found.distance > 0.1


def test_another_value_is_a_logic_error_however_small(runner: Runner) -> None:
    subject = built_in("transformer")
    model = onnx.load_model_from_string(subject.case.model)
    bias = next(each for each in model.graph.initializer if each.name == model.graph.node[-1].input[2])
    changed = numpy_helper.to_array(bias) + np.float32(3e-4)
    bias.CopyFrom(numpy_helper.from_array(changed, bias.name))
    mutant = replace(subject.case, model=model.SerializeToString())
    found = Judge(runner, subject.case, catalogue.target("onnxruntime")).examine(mutant)
    assert (found.kind, found.symptom) == ("wrong", "wrong:score")
    assert found.distance == pytest.approx(3e-4, rel=0.01)


def test_a_compiler_that_cannot_run_the_original_judges_nothing(runner: Runner) -> None:
    subject = built_in("lstm")
    mutant, _ = mutated(subject, 3)
    found = Judge(runner, subject.case, catalogue.target(CRASHING)).examine(subject.case_of(mutant, 3))
    assert found.kind == "unjudged" and "the original does not run" in found.detail


def test_a_mutant_that_does_not_load_has_died(runner: Runner) -> None:
    subject = built_in("lstm")
    model = onnx.load_model_from_string(subject.case.model)
    model.graph.node[-1].input[0] = "missing"
    found = Judge(runner, subject.case, catalogue.target("onnxruntime")).examine(
        replace(subject.case, model=model.SerializeToString())
    )
    assert found.kind == "died" and found.symptom.startswith("exception:")
