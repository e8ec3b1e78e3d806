"""Operators as an older version has them, and with something where they are given nothing."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import parser
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from triage.variants import as_attribute, given


def case_of(text: str, **inputs: np.ndarray) -> Case:
    return Case("onnx", parser.parse_model(text).SerializeToString(), dict(inputs), Origin("test"))


def test_what_became_an_input_is_tried_as_the_attribute_that_it_was() -> None:
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[1,2] y) <int64[1] axes = {0}>
        { y = Unsqueeze(x, axes) }"""
    [variant] = as_attribute.variants(case_of(text, x=np.float32([1, 2])))
    assert variant.text == "axes as an input"
    assert variant.sentence == "In opset 12, with `axes` as an attribute, the same model passes."
    model = onnx.load_from_string(variant.cases[0].model)
    assert [entry.version for entry in model.opset_import] == [12] and list(model.graph.node[0].input) == ["x"]
    [result] = ReferenceEvaluator(model).run(None, {"x": np.float32([1, 2])})
    np.testing.assert_array_equal(result, [[1, 2]])


def test_what_always_was_an_input_or_is_fed_has_no_older_form() -> None:
    fed = """<ir_version: 8, opset_import: ["": 13]> g (float[2] x, int64[1] axes) => (float[1,2] y)
        { y = Unsqueeze(x, axes) }"""
    shape = """<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[1,2] y) <int64[2] shape = {1, 2}>
        { y = Expand(x, shape) }"""
    x = np.float32([1, 2])
    assert not list(as_attribute.variants(case_of(fed, x=x, axes=np.array([0]))))
    assert not list(as_attribute.variants(case_of(shape, x=x)))


def test_an_operator_that_is_given_nothing_is_tried_with_a_tensor() -> None:
    text = """<ir_version: 8, opset_import: ["": 18]> g () => (bool y) { y = OptionalHasElement() }"""
    [variant] = given.variants(case_of(text))
    assert variant.text == "input left out"
    assert variant.sentence == "With a tensor given as `input` the same model passes."
    [result] = ReferenceEvaluator(variant.cases[0].model).run(None, dict(variant.cases[0].inputs))
    assert result
    constant = """<ir_version: 8, opset_import: ["": 18]> g () => (float y) { y = Constant<value_float = 1.0>() }"""
    assert not list(given.variants(case_of(constant)))
