"""A refusal of what stands in a branch that is not taken is believed only if the reference can compute that branch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue, untaken, validity
from fuzz.case import Case, Error, Origin, Outcome, Stage, Status
from fuzz.judge import Judge
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def verdict(judge: Judge, weights: int, condition: str, opset: int = 20) -> Status:
    """OpenVINO's on a model whose first branch holds an LSTM that reads what a DFT makes: of too many dimensions."""
    text = f"""
    <ir_version: 10, opset_import: ["" : {opset}]>
    g (bool[1] c, float[2,1,1] x, float[1,{4 * weights},{weights}] r) => (float[2,1,1,{weights}] y) {{
        y = If (c) <then_branch: graph = then () => (float[?,?,?,?] a) <int64 axis = {{-2}},
                float[1,{4 * weights},2] w = {{{",".join(["1"] * 8 * weights)}}}> {{
            s = DFT <onesided = 1> (x, "", axis)
            a, h = LSTM <hidden_size = 2> (s, w, r)
        }}, else_branch: graph = else () => (float[?,?,?,?] b) <float[2,1,1,{weights}] k = {{
                {",".join(["1"] * 2 * weights)}}}> {{ b = Identity (k) }}>
    }}
    """
    inputs = {
        "c": np.array([condition == "taken"]),
        "x": np.ones((2, 1, 1), np.float32),
        "r": np.ones((1, 4 * weights, weights), np.float32),
    }
    case = Case("onnx", parser.parse_model(text).SerializeToString(), inputs, Origin("test"))
    return judge.examine(case, catalogue.target("openvino")).status


def test_an_invalid_operator_in_a_branch_that_is_not_taken_makes_the_test_invalid(judge: Judge) -> None:
    pytest.importorskip("openvino")
    assert verdict(judge, 1, "skipped") is Status.INVALID


def test_a_valid_one_that_is_refused_is_a_bug_as_before(judge: Judge) -> None:
    pytest.importorskip("openvino")
    assert verdict(judge, 2, "skipped") is Status.EXCEPTION
    assert verdict(judge, 2, "taken") is Status.EXCEPTION


def refused(judge: Judge, body: str, behind: str, size: int) -> str:
    """Why OpenVINO's refusal of what `body` computes, in a branch that is not taken, is no bug; "" where it may be."""
    text = f"""
    <ir_version: 10, opset_import: ["" : 20]>
    g (bool c, float[2] x, float[2] z) => (float[2] y) {{
        v = If (c) <then_branch: graph = then () => (float[{size}] a) {{ {body} }},
                    else_branch: graph = else () => (float[2] b) {{ b = Neg (x) }}>
        {behind}
    }}
    """
    ones = np.ones(2, np.float32)
    inputs = {"c": np.array(False), "x": ones, "z": ones}
    case = Case("onnx", parser.parse_model(text).SerializeToString(), inputs, Origin("test"))
    error = Error(type="RuntimeError", message="refused", operator="Erf")
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=error)
    values = validity.recorded(judge.runner, case, judge.reference)
    return untaken.invalid(judge.runner, case, outcome, judge.reference, values)


def test_a_branch_that_the_reference_cannot_compute_is_the_reason(judge: Judge) -> None:
    body = "k = Constant <value_ints = [3]> () e = Erf (x) a = Reshape (e, k)"
    assert refused(judge, body, "y = Add (v, z)", 3).startswith(
        "a branch that is not taken is rejected by the reference"
    )


def test_what_follows_the_if_need_not_take_the_sizes_of_the_other_branch(judge: Judge) -> None:
    assert refused(judge, "k = Constant <value_ints = [2]> () e = Erf (x) a = Tile (e, k)", "y = Add (v, z)", 4) == ""


def test_an_operator_that_runs_elsewhere_too_is_no_matter_of_branches(judge: Judge) -> None:
    body = "k = Constant <value_ints = [3]> () e = Erf (x) a = Reshape (e, k)"
    assert refused(judge, body, "f = Erf (v) y = Add (f, z)", 3) == ""
