"""Disruptive generation: one violation in each model, and nothing else that is wrong with it."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import onnx
import pytest
from onnx import TensorProto, helper, parser

from fuzz.hirgen import disruptive, standard
from fuzz.hirgen.coverage import VIOLATION, Coverage
from fuzz.hirgen.disruptive import Disrupted, NothingToBreak
from fuzz.hirgen.violations import Kind
from fuzz.operators.families import IR_VERSION, OPSET, operators

TABLE = tuple(operators().values())


def disrupted(index: int, coverage: Coverage, count: int, *, guided: bool = True) -> Disrupted:
    draw = random.Random(f"disruptive {index}")
    return disruptive.disrupt(draw, TABLE, count, coverage, opset=OPSET, ir_version=IR_VERSION, guided=guided)


@cache
def several() -> tuple[Disrupted, ...]:
    coverage = Coverage((VIOLATION,))
    return tuple(disrupted(index, coverage, 1 + index % 4) for index in range(80))


def test_onnx_checker_refuses_every_model() -> None:
    for found in several():
        with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
            onnx.checker.check_model(onnx.load_model_from_string(found.model), full_check=True)


def test_without_the_broken_node_a_model_is_valid() -> None:
    for found in several():
        model = onnx.load_model_from_string(found.model)
        broken = model.graph.node.pop()
        assert broken.op_type == found.violation.operator
        assert not {name for node in model.graph.node for name in node.input} & set(broken.output)
        kept = [info for info in model.graph.output if info.name not in broken.output]
        del model.graph.output[:]
        model.graph.output.extend(kept)
        onnx.checker.check_model(model, full_check=True)


def test_all_kinds_come_and_each_says_what_it_is() -> None:
    kinds = Counter(found.violation.kind for found in several())
    assert all(kinds[kind] >= len(several()) / 10 for kind in Kind), kinds
    assert all(found.violation.rule and found.violation.valid != found.violation.given for found in several())


def test_inputs_are_those_of_the_model() -> None:
    for found in several():
        graph = onnx.load_model_from_string(found.model).graph
        told = [(info.name, info.type.tensor_type.elem_type) for info in graph.input]
        assert told == [(each.name, each.dtype) for each in found.inputs]


def test_a_guided_series_breaks_nothing_twice() -> None:
    items = [found.violation.item for found in several()]
    assert len(set(items)) == len(items)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, other = (disrupted(7, Coverage((VIOLATION,)), 3) for _ in range(2))
    assert one.model == other.model and one.violation == other.violation


def test_unguided_models_do_not_depend_on_what_was_broken() -> None:
    full = Coverage((VIOLATION,))
    for index in range(5):
        disrupted(index, full, 1)
    one, other = (disrupted(3, each, 1, guided=False) for each in (full, Coverage((VIOLATION,))))
    assert one.model == other.model


@pytest.mark.parametrize("name", ["If", "Identity"])
def test_operators_that_cannot_be_broken_are_told(name: str) -> None:
    few, coverage = [operators()[name]], Coverage((VIOLATION,))
    with pytest.raises(NothingToBreak, match="allow others"):
        disruptive.disrupt(random.Random(0), few, 1, coverage, opset=OPSET, ir_version=IR_VERSION)


def test_a_model_that_kills_shape_inference_is_not_called_invalid_and_the_next_one_is_judged() -> None:
    infos = [helper.make_tensor_value_info(name, kind, [2, 2, 2]) for name, kind in (("x", 1), ("i", 7), ("y", 1))]
    node = helper.make_node("GatherND", ["x", "i"], ["y"], batch_dims=-9)
    deadly = helper.make_model(
        helper.make_graph([node], "g", infos[:2], []), opset_imports=[helper.make_opsetid("", 26)]
    )
    assert standard.complaint(deadly.SerializeToString()) == ""
    x = helper.make_tensor_value_info("x", TensorProto.BOOL, [2])
    invalid = helper.make_model(helper.make_graph([helper.make_node("Tan", ["x"], ["y"])], "g", [x], []))
    assert "tensor(bool)" in standard.complaint(invalid.SerializeToString())


def test_a_model_for_which_shape_inference_has_no_memory_is_not_called_invalid() -> None:
    text = """<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y)
    { y = Split <num_outputs = 1099511627776> (x) }"""
    assert standard.complaint(parser.parse_model(text).SerializeToString()) == ""
