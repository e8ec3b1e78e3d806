"""What no run takes is reduced to a valid model as well: compilers convert every branch."""

from __future__ import annotations

import numpy as np

from fuzz.case import Case
from tests.triage.test_neighbour import case_of
from tests.triage.test_reduce import op_types, record, valid
from triage.forced import forced
from triage.reduce import reduce
from triage.submodel import all_nodes, load

GATHERS = """g (float[6, 4] x, bool c) => (float[a, b] y) {
    h = Tanh(x) k = Abs(h)
    z = If(c) <
        then_branch = t () => (float[2, 4] p) { i = Constant<value = int64[2] {5, 3}>() p = Gather(k, i) },
        else_branch = e () => (float[6, 4] q) { q = Neg(k) }>
    y = Relu(z) }"""
NESTED = """g (float[2] x, bool c) => (float[2] y) {
    y = If(c) <
        then_branch = t () => (float[2] p) {
            p = If(c) <
                then_branch = tt () => (float[2] a) { a = Abs(x) },
                else_branch = te () => (float[2] b) { b = Neg(x) }> },
        else_branch = e () => (float[2] q) { q = Exp(x) }> }"""


def test_each_if_is_taken_one_way_and_the_other_and_nested_ones_otherwise_than_the_outer() -> None:
    case = case_of(NESTED, x=np.float32([1, -2]), c=np.array(True))
    found = [np.asarray(record(one)["y"]).round(3).tolist() for one in forced(case)]
    exponential = [2.718, 0.135]
    assert np.allclose(found, [[1, 2], exponential, [-1, 2], exponential], atol=1e-3)
    assert forced(case_of("g (float[2] x) => (float[2] y) { y = Abs (x) }", x=np.float32([1, 2]))) == []


def test_an_index_in_a_branch_that_is_not_taken_stays_within_its_data() -> None:
    def gathers_in_a_branch(case: Case) -> bool:
        gathered = [node for node in all_nodes(load(case)) if node.op_type == "Gather"]
        return bool(gathered) and "If" in op_types(case)

    case = case_of(GATHERS, x=np.ones((6, 4), np.float32), c=np.array(False))
    assert all(map(valid, forced(case)))
    reduction = reduce(case, gathers_in_a_branch, values=record, valid=valid, confirmed=False)
    assert reduction.nodes_after < reduction.nodes_before and "If" in op_types(reduction.case)
    assert forced(reduction.case) and all(map(valid, forced(reduction.case)))
