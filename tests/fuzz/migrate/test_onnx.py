"""ONNX's own tests as instances of its operators."""

from __future__ import annotations

import json

import pytest

from fuzz.case import Case
from fuzz.generators import onnx_models, onnx_node
from fuzz.instance_store import Stored
from fuzz.migrate import Omitted, Request
from fuzz.migrate.onnx import migrate


@pytest.fixture(scope="module")
def found() -> list[Stored]:
    return [item for item in migrate(Request()) if isinstance(item, Stored)]


def test_every_operator_of_the_node_tests_is_there(found: list[Stored]) -> None:
    assert len({each.operator for each in found}) > 190
    assert len(found) > 2000


def test_an_instance_has_the_keys_of_the_published_ones_and_an_id(found: list[Stored]) -> None:
    conv = next(each for each in found if each.source.test == "test_basic_conv_with_padding plain")
    document = dict(conv.document)
    assert document.pop("case")
    assert document == {
        "library": "onnx",
        "domain": "",
        "op_type": "Conv",
        "kwargs": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
        "input_name": ["x", "W"],
        "input_shape": [[1, 1, 5, 5], [1, 1, 3, 3]],
        "input_dtype": ["FLOAT", "FLOAT"],
        "output_name": ["y"],
        "output_shape": [[1, 1, 5, 5]],
        "output_dtype": ["FLOAT"],
    }
    assert len(conv.id) == 16
    assert json.loads(conv.content) == conv.document


def test_every_instance_names_a_case_of_a_generator(found: list[Stored]) -> None:
    cases = {each.id for module in (onnx_node, onnx_models) for each in module.cases(3) if isinstance(each, Case)}
    assert {each.document["case"] for each in found} <= cases


def test_operators_inside_a_loop_are_found(found: list[Stored]) -> None:
    inside = [each for each in found if each.source.test.startswith("test_loop11")]
    assert {"Loop", "Add"} <= {each.operator for each in inside}


def test_a_pattern_chooses_operators() -> None:
    items = list(migrate(Request(operators=("Conv*",))))
    assert {each.operator for each in items if isinstance(each, Stored)} >= {"Conv", "ConvTranspose"}
    assert all(each.operator.startswith("Conv") for each in items if isinstance(each, Stored))


def test_models_without_data_are_counted(found: list[Stored]) -> None:
    omitted = [item for item in migrate(Request(operators=("-",))) if isinstance(item, Omitted)]
    assert {item.reason for item in omitted} == {
        "the model comes without inputs",
        "the model would have to be downloaded",
    }
