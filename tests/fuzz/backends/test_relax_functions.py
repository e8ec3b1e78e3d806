"""Relax modules with functions give on TVM what the module gives without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.backends import tvm
from fuzz.backends._relax_functions import FORMS
from fuzz.case import Case, Origin, Status
from fuzz.limits import Limits
from fuzz.runner import Runner

TEXT = """<ir_version: 8, opset_import: ["": 17]> g (float[2,3] x, float[2,3] w) => (float[2,3] y, float[2,3] z)
<float[1] c = {2.5}> { a = Relu (x)  b = Add (a, w)  y = Exp (b)  d = Mul (y, a)  e = Add (d, b)  z = Mul (e, c) }"""
SPLIT = """<ir_version: 8, opset_import: ["": 17]> g (float[4,3] x) => (float[2,3] y)
<int64[2] s = {2, 2}> { a, b = Split <axis = 0> (x, s)  y = Sub (a, b) }"""

FOUND = """<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[n] y, float[4] z)
<bool[4] c = {1,0,1,1}> { a = Exp (x)  b = Compress <axis = 0> (a, c)  y = Neg (b)  z = Abs (a) }"""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def example(text: str) -> Case:
    rng = np.random.default_rng(0)
    model = parser.parse_model(text)
    inputs = {
        info.name: rng.random([dim.dim_value for dim in info.type.tensor_type.shape.dim], np.float32)
        for info in model.graph.input
    }
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


@pytest.mark.parametrize("text", [TEXT, SPLIT])
def test_every_form_gives_the_same(runner: Runner, text: str) -> None:
    case = example(text)
    plain = runner.run(case, catalogue.target("tvm"))
    assert plain.status is Status.OK
    for form in FORMS:
        outcome = runner.run(case, catalogue.target("tvm", {"functions": form}))
        assert outcome.status is Status.OK, outcome
        for (name, got), (expected_name, expected) in zip(outcome.outputs, plain.outputs, strict=True):
            assert name == expected_name
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize("form", FORMS)
def test_a_size_that_is_known_at_run_time_only_is_handed_to_no_function(runner: Runner, form: str) -> None:
    """It was once: a module that is not well-formed, whose refusal looked like a bug of TVM."""
    assert runner.run(example(FOUND), catalogue.target("tvm")).status is Status.OK
    outcome = runner.run(example(FOUND), catalogue.target("tvm", {"functions": form}))
    assert outcome.status is Status.SKIPPED and outcome.error is not None
    assert "known at run time only" in outcome.error.message


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [TEXT, SPLIT])
def test_the_script_of_every_form_gives_the_same(form: str, text: str) -> None:
    case = example(text)
    model, outputs = onnx.load_from_string(case.model), ["float32"] * len(parser.parse_model(text).graph.output)
    found = []
    for functions in ("none", form):
        scope: dict[str, Any] = {"model": model, "inputs": dict(case.inputs)}
        exec(tvm.reproduce("onnx", {"functions": functions}, ["float32"], outputs), scope)
        called = {each.name_hint for each in scope["mod"].get_global_vars()}
        assert called != {"main"} if functions != "none" else called == {"main"}
        found.append(scope["actual"] if len(outputs) > 1 else [scope["actual"]])
    for plain, got in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, got)


def test_the_script_runs_the_passes_of_a_sequence_for_the_target_that_was_meant() -> None:
    case = example(TEXT)
    options = {"sequence": "LegalizeOps,FuseOps", "target": "native", "disable": "CanonicalizeBindings"}
    script = tvm.reproduce("onnx", options, ["float32"], ["float32"] * 2)
    scope: dict[str, Any] = {"model": onnx.load_from_string(case.model), "inputs": dict(case.inputs)}
    exec(script, scope)
    assert len(scope["mod"].get_global_vars()) > 1, "operators became functions"
    assert 'disabled_pass=["CanonicalizeBindings"]' in script and "mcpu" in script
