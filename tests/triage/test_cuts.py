"""What the search over nodes may ask about: cuts, and cuts with everything else simplified."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from fuzz.case import Case
from tests.triage.test_neighbour import case_of
from tests.triage.test_reduce import op_types, record, valid
from triage.cuts import Cuts
from triage.reduce import reduce
from triage.simplify import Simplifier
from triage.submodel import load
from triage.trials import Trials
from triage.wiring import MAIN

CHAIN = "g (float[4,5] long_name) => (float[4,5] y) { a = Exp(long_name) b = Tanh(a) c = Neg(b) y = Abs(c) }"
BRANCH = """g (float[2] x) => (float[2] y) { t = ReduceMax<keepdims = 0>(x)  c = Greater(t, t)  n = Not(c)
    y = If(n) <then_branch = a () => (float[2] p) { i = Relu(x) j = Neg(i) k = Exp(j) p = Abs(k) },
               else_branch = b () => (float[2] q) { r = Tanh(x) s = Abs(r) q = Exp(s) }> }"""


def chain() -> Case:
    return case_of(CHAIN, long_name=np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5))


def cuts_of(case: Case) -> Cuts:
    simplifier = Simplifier(Trials(lambda candidate: True), record, valid)
    return Cuts(case, MAIN, record, valid, simplifier.harmless)


def test_a_simplified_cut_has_the_same_nodes_and_all_else_simpler() -> None:
    cuts = cuts_of(chain())
    [plain], [simple] = cuts.plain(frozenset({1, 2})), cuts.simple(frozenset({1, 2}))
    assert op_types(plain) == op_types(simple) == ["Tanh", "Neg"] and valid(simple)
    [value] = simple.inputs.values()
    assert isinstance(value, np.ndarray) and max(value.shape) <= 3
    assert value.ravel().tolist() == [float(number) for number in range(1, 1 + value.size)]


def test_once_a_simplified_cut_fails_all_is_cut_from_that() -> None:
    cuts = cuts_of(chain())
    [simple] = cuts.simple(frozenset({1, 2, 3}))
    cuts.accept(simple)
    [later] = cuts.plain(frozenset({2}))
    assert op_types(later) == ["Neg"]
    [value] = later.inputs.values()
    assert isinstance(value, np.ndarray) and value.size <= 9


def test_a_plain_cut_that_fails_changes_nothing() -> None:
    cuts = cuts_of(chain())
    [plain] = cuts.plain(frozenset({1, 2}))
    cuts.accept(plain)
    [value] = cuts.plain(frozenset({1}))[0].inputs.values()
    assert isinstance(value, np.ndarray) and value.shape == (4, 5)


def test_where_nodes_stay_since_a_value_was_not_recorded_there_is_no_simplified_cut() -> None:
    text = "g (float[4,5] x) => (int64[4,5] y) { a = Cast<to = 7>(x) b = Abs(a) y = Neg(b) }"
    case = case_of(text, x=np.ones((4, 5), np.float32))
    cuts = Cuts(case, MAIN, lambda case: dict(case.inputs), valid, lambda case: case)
    assert op_types(cuts.plain(frozenset({2}))[0]) == ["Cast", "Abs", "Neg"]
    assert cuts.simple(frozenset({2})) == []


def test_what_decides_what_a_model_does_is_fed_as_an_input_or_else_as_a_constant() -> None:
    case = case_of(BRANCH, x=np.array([1, 2], np.float32))
    [fed, constant] = cuts_of(case).plain(frozenset({3}))
    assert set(fed.inputs) == {"x", "n"} and not load(fed).graph.initializer
    assert set(constant.inputs) == {"x"} and [t.name for t in load(constant).graph.initializer] == ["n"]
    assert valid(constant)


def test_a_predicate_that_is_not_given_the_inputs_is_asked_with_constants_first() -> None:
    case = case_of(BRANCH, x=np.array([1, 2], np.float32))
    simplifier = Simplifier(Trials(lambda candidate: True), record, valid)
    cuts = Cuts(case, MAIN, record, valid, simplifier.harmless, fed=False)
    assert [set(cut.inputs) for cut in cuts.plain(frozenset({3}))] == [{"x"}, {"n", "x"}]
    text = "g (float[2] x) => (float[2] y) { t = ReduceMax<keepdims = 0>(x)  s = Exp(t)  y = Mul(x, s) }"
    cuts = Cuts(case_of(text, x=np.array([1, 2], np.float32)), MAIN, record, valid, simplifier.harmless, fed=False)
    assert [set(cut.inputs) for cut in cuts.plain(frozenset({2}))] == [{"x"}, {"s", "x"}]
    assert [set(cut.inputs) for cut in cuts.plain(frozenset({1}))] == [{"t"}]  # a model of constants shows nothing


def test_small_constants_keep_their_values_in_a_simplified_cut() -> None:
    text = "g (float[2,5] x) => (float[2,5] y) <float low = {0.75}> { a = Exp(x) y = Clip(a, low) }"
    case = case_of(text, x=np.linspace(-1, 1, 10, dtype=np.float32).reshape(2, 5))
    simple = Simplifier(Trials(lambda candidate: True), record, valid).harmless(case)
    assert [numpy_helper.to_array(tensor).item() for tensor in load(simple).graph.initializer] == [0.75]
    [value] = simple.inputs.values()
    assert isinstance(value, np.ndarray) and value.ravel().tolist() == list(range(1, 1 + value.size))


def body_of(case: Case, name: str) -> list[str]:
    found = [a.g for node in load(case).graph.node for a in node.attribute if a.name == name]
    return [node.op_type for body in found for node in body.node]


def test_a_bug_in_a_branch_whose_condition_must_be_constant_keeps_neither_the_condition_nor_other_nodes() -> None:
    def fails(case: Case) -> bool:
        constants = {tensor.name for tensor in load(case).graph.initializer}
        made = {name for node in load(case).graph.node for name in node.output}
        ifs = [node for node in load(case).graph.node if node.op_type == "If"]
        return "Exp" in body_of(case, "then_branch") and all(node.input[0] in constants | made for node in ifs)

    found = reduce(case_of(BRANCH, x=np.array([1, 2], np.float32)), fails, values=record, valid=valid, neighbours=0)
    assert op_types(found.case) == ["If"]
    assert body_of(found.case, "then_branch") == ["Exp"] and body_of(found.case, "else_branch") == []
