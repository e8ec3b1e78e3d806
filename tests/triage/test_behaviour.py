"""What a report says of the result that should be there."""

from __future__ import annotations

import numpy as np
from onnx import parser

from fuzz.case import Case, Error, Origin, Outcome, Stage, Status
from triage.behaviour import behaviour, compared_with

DRAWING = Case("instance", b'{"library": "torch", "api": "torch.rand", "args": [1]}', {}, Origin("test"))
FIXED = Case("instance", b'{"library": "torch", "api": "torch.ones", "args": [1]}', {}, Origin("test"))

RAISED = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("RuntimeError", "no"))
DRAWN = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.array([0.8018])),))


def test_of_numbers_that_are_drawn_at_random_none_is_shown() -> None:
    said = behaviour("eager PyTorch", DRAWING, RAISED, DRAWN, "exception:RuntimeError", 60)
    assert said.expected == "A result such as eager PyTorch gives, whose numbers are drawn at random."
    assert not said.expected_text and "no" in said.actual_text


def test_any_other_result_is_shown() -> None:
    said = behaviour("eager PyTorch", FIXED, RAISED, DRAWN, "exception:RuntimeError", 60)
    assert said.expected == "The result of eager PyTorch:" and "0.8018" in said.expected_text


def test_of_such_numbers_only_type_and_shape_can_be_wrong() -> None:
    single = Outcome(Status.WRONG, Stage.RUN, outputs=(("y", np.array([0.31], np.float32)),))
    said = behaviour("eager PyTorch", DRAWING, single, DRAWN, "wrong:dtype", 60)
    assert said.both.splitlines() == [
        "y, whose numbers are drawn at random:",
        "  expected  float64 (1,)",
        "  actual    float32 (1,)",
    ]


def test_of_several_results_those_are_shown_that_are_not_random() -> None:
    text = """<ir_version: 10, opset_import: ["" : 22]>
g (float[1] x) => (float[1] y, float[1] r) { y = Cosh (x) r = RandomUniformLike (y) }"""
    model = parser.parse_model(text).SerializeToString()
    case = Case("onnx", model, {"x": np.zeros(1, np.float32)}, Origin("test"))
    reference = Outcome(Status.OK, Stage.RUN, outputs=tuple((name, np.ones(1, np.float32)) for name in "yr"))
    said = behaviour("the ONNX reference evaluator", case, RAISED, reference, "exception:RuntimeError", 60)
    assert said.expected_text.splitlines() == ["y: float32 (1,): [1.0]", "r: float32 (1,), drawn at random"]


def test_that_the_reference_is_mended_is_told_where_its_result_is_compared() -> None:
    text = """<ir_version: 10, opset_import: ["" : 22]>
g (int64[1] i) => (float[1, 2] y) <int64 depth = {2}, float[2] v = {0, 1}> { y = OneHot (i, depth, v) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test"))
    assert "(its OneHot mended" in compared_with("tvm", case)
    assert compared_with("tvm", case, raised=True) == "the ONNX reference evaluator"
