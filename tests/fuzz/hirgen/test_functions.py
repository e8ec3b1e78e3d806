"""Graphs with functions, and their rewrites, compute what the graph computes."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz.backends._evaluator import Evaluator
from fuzz.case import Case, Origin
from fuzz.hirgen import functions, naming, originals, rewrites, strict
from fuzz.hirgen.coverage import Coverage
from fuzz.operators import dtypes
from fuzz.operators.families import IR_VERSION, OPSET, operators

TABLE = tuple(operators().values())


@dataclass(frozen=True)
class Sample:
    plain: onnx.ModelProto
    inputs: Mapping[str, np.ndarray]
    forms: Mapping[str, onnx.ModelProto]


@cache
def samples() -> tuple[Sample, ...]:
    found = []
    for index in range(30):
        draw = random.Random(f"functions {index}")
        growth = strict.grow(draw, TABLE, 2 + index % 8, Coverage()).growth
        plain = onnx.load_model_from_string(growth.model(OPSET, IR_VERSION))
        rng = np.random.default_rng(index)
        inputs = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in growth.inputs()}
        wrapped = functions.wrap(plain, draw)
        forms = {"wrapped": wrapped, **dict(rewrites.rewrites(wrapped, draw))} if wrapped.functions else {}
        found.append(Sample(plain, inputs, forms))
    return tuple(found)


def results(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in Evaluator(model).run(None, dict(inputs))]


@pytest.mark.parametrize("form", ["wrapped", *rewrites.REWRITES])
def test_every_form_is_valid_and_gives_bit_by_bit_what_the_plain_graph_gives(form: str) -> None:
    tried = 0
    for sample in samples():
        if form in sample.forms:
            onnx.checker.check_model(sample.forms[form], full_check=True)
            assert results(sample.forms[form], sample.inputs) == results(sample.plain, sample.inputs)
            tried += 1
    assert tried > len(samples()) * 3 / 4


def test_functions_call_functions_and_hold_constants_and_bodies() -> None:
    found = Counter[str]()
    for sample in samples():
        for function in sample.forms["wrapped"].functions if sample.forms else ():
            found["nested"] += any(node.domain == functions.DOMAIN for node in function.node)
            found["constants"] += any(node.op_type == "Constant" for node in function.node)
            found["bodies"] += any(node.op_type in ("If", "Loop", "Scan") for node in function.node)
            found["several"] += len(function.output) > 1
    assert min(found.values()) > 0 and len(found) == 4, found


def test_every_function_is_called() -> None:
    for sample in samples():
        for model in sample.forms.values():
            graphs = [model.graph, *model.functions]
            called = {node.op_type for graph in graphs for node in functions.walk(graph)}
            assert {function.name for function in model.functions} <= called


def test_functions_name_what_is_inside_alike_so_that_inlining_must_tell_it_apart() -> None:
    several = [model for sample in samples() for model in sample.forms.values() if len(model.functions) > 1]
    shared = 0
    for model in several:
        made = [{name for node in each.node for name in node.output} for each in model.functions]
        outside = {name for node in model.graph.node for name in node.output}
        shared += any(one & other for one, other in itertools.pairwise(made)) or bool(outside & set().union(*made))
    assert several and shared == len(several)


def test_a_function_keeps_what_its_bodies_capture_and_name() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "hirgen": 1]>
    g (float[2] x, bool c) => (float[2] y) { y = hirgen.f (x, c) }
    <domain: "hirgen", opset_import: ["": 17]> f (x, c) => (r)
    { s = Relu (x)  r = If (c) <then_branch = t () => (a) { b = Add (s, x)  a = Neg (b) },
                               else_branch = e () => (s2) { s2 = Identity (s) }> }"""
    model = parser.parse_model(text)
    inputs = {"x": np.array([-1, 2], np.float32), "c": np.array(True)}
    want = results(model, inputs)
    naming.localise(model.functions[0])
    [function] = model.functions
    assert (list(function.input), list(function.output)) == (["t1", "t2"], ["t4"])
    made = [name for node in functions.walk(function) for name in node.output]
    assert made == ["t3", "t4", "t5", "t6", "t7"]
    assert results(model, inputs) == want


def test_what_no_function_can_hold_stays_outside() -> None:
    text = '<ir_version: 8, opset_import: ["": 20]> g (float[2] x) => (float[2] y) { y = Gelu(x) }'
    model = parser.parse_model(text)
    wrapped = functions.wrap(model, random.Random(0))
    assert not wrapped.functions and [node.op_type for node in wrapped.graph.node] == ["Gelu"]
    with pytest.raises(rewrites.NoFunction, match="wrap it first"):
        rewrites.rewrite(wrapped, "closure", random.Random(0))


TWO = """<ir_version: 8, opset_import: ["": 17, "hirgen": 1]> g (float[2] x, float[2] w) => (float[2] y)
{ a = hirgen.f1 (x, w)  y = hirgen.f1 (a, w) }
<domain: "hirgen", opset_import: ["": 17]> f1 (p, q) => (r) { s = Relu (p)  r = Add (s, q) }"""


def test_a_call_through_redirects_all_calls() -> None:
    rewritten = rewrites.rewrite(parser.parse_model(TWO), "call-through", random.Random(0))
    assert [node.op_type for node in rewritten.graph.node] == ["g1", "g1"]
    [_, outer] = rewritten.functions
    assert [(node.op_type, list(node.input)) for node in outer.node] == [("f1", ["p", "q"])]


def test_a_closure_captures_the_parameters_of_the_function_around_it() -> None:
    rewritten = rewrites.rewrite(parser.parse_model(TWO), "closure", random.Random(0))
    [_, outer] = rewritten.functions
    branch = next(each.g for each in outer.node[1].attribute if each.name == "then_branch")
    assert not branch.input and [list(node.input) for node in branch.node] == [["p"], ["inner_s", "q"]]


@pytest.mark.parametrize("form", ["wrapped", *rewrites.REWRITES])
def test_the_original_has_no_function_and_no_closure_and_gives_the_same(form: str) -> None:
    for sample in samples():
        if form not in sample.forms:
            continue
        case = Case("onnx", sample.forms[form].SerializeToString(), sample.inputs, Origin("hirgen", "1/x", "mutant"))
        original = originals.without_functions(case)
        assert original is not None and original.origin.variant == "plain" and original.origin.parents == (case.id,)
        model = onnx.load_model_from_string(original.model)
        onnx.checker.check_model(model, full_check=True)
        plain = Counter(node.op_type for node in sample.plain.graph.node)
        assert not model.functions and Counter(n.op_type for n in model.graph.node)["If"] == plain["If"]
        assert results(model, sample.inputs) == results(sample.plain, sample.inputs)


def test_a_plain_case_has_no_original() -> None:
    sample = samples()[0]
    assert originals.without_functions(Case("onnx", sample.plain.SerializeToString(), {}, Origin("hirgen"))) is None
