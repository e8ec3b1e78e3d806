"""Relax modules with functions give on TVM what the module gives without them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.backends import tvm
from fuzz.backends._relax_functions import FORMS
from fuzz.case import Case, Origin, Status
from fuzz.lane import Limits
from fuzz.runner import Runner

TEXT = """<ir_version: 8, opset_import: ["": 17]> g (float[2,3] x, float[2,3] w) => (float[2,3] y, float[2,3] z)
<float[1] c = {2.5}> { a = Relu (x)  b = Add (a, w)  y = Exp (b)  d = Mul (y, a)  e = Add (d, b)  z = Mul (e, c) }"""
SPLIT = """<ir_version: 8, opset_import: ["": 17]> g (float[4,3] x) => (float[2,3] y)
<int64[2] s = {2, 2}> { a, b = Split <axis = 0> (x, s)  y = Sub (a, b) }"""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


@pytest.mark.parametrize("text", [TEXT, SPLIT])
def test_every_form_gives_the_same(runner: Runner, text: str) -> None:
    rng = np.random.default_rng(0)
    model = parser.parse_model(text)
    inputs = {
        info.name: rng.random([dim.dim_value for dim in info.type.tensor_type.shape.dim], np.float32)
        for info in model.graph.input
    }
    case = Case("onnx", model.SerializeToString(), inputs, Origin("test"))
    plain = runner.run(case, catalogue.target("tvm"))
    assert plain.status is Status.OK
    for form in FORMS:
        outcome = runner.run(case, catalogue.target("tvm", {"functions": form}))
        assert outcome.status is Status.OK, outcome
        for (name, got), (expected_name, expected) in zip(outcome.outputs, plain.outputs, strict=True):
            assert name == expected_name
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


def test_no_script_is_promised_for_it() -> None:
    with pytest.raises(ValueError, match="functions"):
        tvm.reproduce("onnx", {"functions": "closure"})
