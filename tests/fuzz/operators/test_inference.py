"""Shape inference that a model cannot end the process with."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
from onnx import parser

from fuzz.operators.inference import infer_shapes, negative

ROOT = Path(__file__).parents[3]
#: A window of four over two elements, whose result is sliced.
DEADLY = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,1,2] x) => (float[a,b,c] y)
<float[1,1,4] w = {1,2,3,4}, int64[1] s = {0}, int64[1] e = {8}, int64[1] t = {2}>
{ z = Conv(x, w) y = Slice(z, s, e, t) }"""
#: Who asks onnx itself: backends, in workers that may die, and generators of models that are valid as they grow.
ISOLATED = ("fuzz/backends/", "fuzz/generators/models/_drafts.py", "fuzz/operators/inference.py")


def test_a_model_that_ends_a_process_is_refused() -> None:
    with pytest.raises(onnx.shape_inference.InferenceError, match="SIGABRT"):
        infer_shapes(parser.parse_model(DEADLY))


def test_a_model_that_slices_gets_the_shapes_that_onnx_gives_it() -> None:
    model = parser.parse_model(DEADLY.replace("[1,1,2]", "[1,1,9]"))
    found = infer_shapes(model, data_prop=True)
    assert found == onnx.shape_inference.infer_shapes(model, data_prop=True)
    assert [dim.dim_value for dim in found.graph.value_info[0].type.tensor_type.shape.dim] == [1, 1, 6]


def test_what_onnx_raises_is_raised() -> None:
    model = parser.parse_model(DEADLY.replace("Slice(z, s, e, t)", "Slice(z, w, e, t)").replace("[1,1,2]", "[1,1,9]"))
    with pytest.raises(onnx.shape_inference.InferenceError, match="Slice"):
        infer_shapes(model, check_type=True, strict_mode=True)


def test_a_size_below_0_is_negative() -> None:
    assert negative(onnx.helper.make_tensor_type_proto(1, [2, -1]))
    assert not negative(onnx.helper.make_tensor_type_proto(1, [2, 0, "n"]))


def test_all_that_must_live_on_ask_here() -> None:
    called = re.compile(r"shape_inference\.infer_shapes\(")
    asking = [
        path
        for package in ("bot", "fuzz", "triage")
        for file in (ROOT / package).rglob("*.py")
        if called.search(file.read_text(encoding="utf-8")) and (path := file.relative_to(ROOT).as_posix())
    ]
    assert [path for path in asking if not path.startswith(ISOLATED)] == []
