"""Predicates that feed the inputs of the original model, and no others."""

from __future__ import annotations

from fuzz.case import Case
from tests.triage.test_reduce import has_relu_of_transpose, large, record, relu_of_transpose, valid
from triage.holding import Holding
from triage.reduce import reduce
from triage.submodel import load


def inputs_of(case: Case) -> set[str]:
    return {info.name for info in load(case).graph.input}


def test_a_script_that_feeds_the_models_own_inputs_alone_is_asked_about_models_that_have_no_others() -> None:
    case = large(60, relu_of_transpose)

    def script(candidate: Case) -> bool:
        given = inputs_of(candidate)
        return bool(given) and given <= inputs_of(case) and has_relu_of_transpose(candidate)

    found = reduce(case, script, values=record, valid=valid, fed=False, simplifying=4, neighbours=2)
    assert found.nodes_after == 2 and found.runs < 40


def test_it_is_suspected_once_new_inputs_were_refused_and_never_taken_while_others_were() -> None:
    case = large(4, relu_of_transpose)
    other = Case(case.kind, case.model, {"new": case.inputs["left"]}, case.origin)
    holding = Holding(case.inputs.keys(), possible=True)
    for _ in range(3):
        assert not holding.suspected
        holding.saw(other, fails=False)
    assert not holding.suspected
    holding.saw(case, fails=True)
    assert holding.suspected
    holding.saw(other, fails=True)
    assert not holding.suspected
