"""Strict generation: valid graphs whose every node covers something new, and insertions that can be taken back."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import onnx
import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin, Status
from fuzz.hirgen import strict
from fuzz.hirgen.coverage import CRITERIA, Coverage
from fuzz.hirgen.inserting import Inserting
from fuzz.hirgen.strict import Grown
from fuzz.limits import Limits
from fuzz.operators import dtypes
from fuzz.operators.dtypes import FLOAT
from fuzz.operators.families import IR_VERSION, OPSET, operators
from fuzz.runner import Runner

TABLE = tuple(operators().values())


def grown(index: int, coverage: Coverage, count: int = 6, *, guided: bool = True) -> Grown:
    return strict.grow(random.Random(f"strict {index}"), TABLE, count, coverage, guided=guided)


def model(found: Grown) -> onnx.ModelProto:
    return onnx.load_model_from_string(found.growth.model(OPSET, IR_VERSION))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def test_every_model_is_valid_and_has_the_nodes_that_were_asked_for() -> None:
    coverage = Coverage()
    for index in range(80):
        found = model(grown(index, coverage, 1 + index % 12))
        onnx.checker.check_model(found, full_check=True)
        assert len(found.graph.node) == 1 + index % 12


def test_onnx_runtime_refuses_none_as_invalid(runner: Runner) -> None:
    """What it does not implement it says so; no model is one that it could not read or would not type."""
    coverage, cases = Coverage(), []
    for index in range(40):
        found = grown(index, coverage, 1 + index % 8)
        rng = np.random.default_rng(index)
        inputs = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in found.growth.inputs()}
        cases.append(Case("onnx", model(found).SerializeToString(), inputs, Origin("test", str(index))))
    outcomes = list(runner.run_batch(cases, catalogue.target("onnxruntime")))
    assert {each.status for each in outcomes} <= {Status.OK, Status.UNSUPPORTED}, Counter(map(str, outcomes))
    assert sum(each.status is Status.OK for each in outcomes) > len(outcomes) / 2


def test_every_node_of_a_guided_graph_adds_to_the_coverage_unless_it_resembles_another() -> None:
    coverage = Coverage()
    for index in range(60):
        before = sum(coverage.counts().values())
        found = grown(index, coverage)
        assert sum(coverage.counts().values()) - before == found.gain >= found.growth.count - found.similar


def test_few_operators_are_soon_covered_and_then_something_is_taken_all_the_same() -> None:
    coverage = Coverage(("datatype",))
    few = [operators()["Relu"], operators()["Not"]]
    found = strict.grow(random.Random(5), few, 40, coverage)
    assert found.growth.count == 40 and found.rejected > strict.PATIENCE
    assert found.gain == coverage.counts()["datatype"] < 8


def test_unguided_graphs_do_not_depend_on_what_is_covered() -> None:
    fresh, full = Coverage(CRITERIA), Coverage(CRITERIA)
    for index in range(30):
        grown(index, full)
    one, other = (model(grown(3, each, guided=False)) for each in (fresh, full))
    assert one == other
    assert model(grown(3, Coverage())) != model(grown(3, full))


def test_what_is_taken_back_leaves_no_trace() -> None:
    for index in range(40):
        draw = random.Random(f"back {index}")
        growth = strict.grow(draw, TABLE, 4, Coverage()).growth
        before, inputs = growth.model(OPSET, IR_VERSION), growth.inputs()
        for _ in range(6):
            if strict.propose(growth, draw, TABLE, (FLOAT,)) is not None:
                growth.take_back()
        assert growth.model(OPSET, IR_VERSION) == before and growth.inputs() == inputs
        for _ in range(3):
            strict.propose(growth, draw, TABLE, (FLOAT,))
        onnx.checker.check_model(onnx.load_model_from_string(growth.model(OPSET, IR_VERSION)), full_check=True)


def test_every_operator_is_grown_with_every_data_type_of_its_domain() -> None:
    for operator in TABLE:
        for code in operator.domain.bounds or (0,):
            found = Inserting(random.Random(code), (FLOAT,)).insert(operator, code)
            assert found is not None and found.op_type == operator.op_type
            assert found.dtype == code or not code


def test_edges_and_paths_are_those_of_the_model() -> None:
    found = strict.grow(random.Random(2), [operators()[name] for name in ("Abs", "Neg", "Add")], 30, Coverage(CRITERIA))
    graph = model(found).graph
    maker = {name: node.op_type for node in graph.node for name in node.output}
    edges = {f"{maker[name]} {node.op_type}" for node in graph.node for name in node.input if name in maker}
    assert {item for name, item in found.items if name == "edge"} == edges and edges
    readers = {node.output[0]: node for node in graph.node}
    paths = {
        f"{maker[first]} {maker[name]} {node.op_type}"
        for node in graph.node
        for name in node.input
        if name in maker
        for first in readers[name].input
        if first in maker
    }
    assert {item for name, item in found.items if name == "path"} == paths and paths


def test_a_node_seldom_reads_one_tensor_twice() -> None:
    counted = Counter[bool]()
    for index in range(60):
        for node in model(grown(index, Coverage(), 8, guided=False)).graph.node:
            read = [name for name in node.input if name]
            counted[len(set(read)) < len(read)] += 1
    assert counted[True] < counted[False] / 20
