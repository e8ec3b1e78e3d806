"""A refusal of what stands in a branch that is not taken is believed only if the reference can compute that branch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Origin, Status
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
