"""What the evaluator's bodies and functions compute is recorded run by run, under names of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz.backends import _tap
from fuzz.backends._evaluator import Evaluator

HEAD = '<ir_version: 10, opset_import: ["": 21, "local": 1]>\n'
BRANCHES = """g (bool c, float[2] x) => (float[2] y) {
  y = If (c) <
    then_branch = t () => (float[2] r) { s = Neg(x) r = Abs(s) },
    else_branch = e () => (float[2] r) { q = Neg(x) r = Floor(q) }
  >
}"""
LOOP = """g (int64 n, bool c, float s) => (float f) {
  f = Loop (n, c, s) <body = b (int64 at, bool go, float a) => (bool on, float z) {
    on = Identity(go) z = Add(a, a)
  }>
}"""
CALLS = """g (float[2] x) => (float[2] y) { a = local.Twice(x) y = local.Twice(a) }
<domain: "local", opset_import: ["": 21]> Twice (v) => (w) { k = Identity(v) w = Add(k, v) }"""
NESTED = """g (int64 n, bool c, float s) => (float f) {
  f = Loop (n, c, s) <body = b (int64 at, bool go, float a) => (bool on, float z) {
    on = Identity(go)
    z = If (go) <then_branch = t () => (float r) { r = Add(a, a) }, else_branch = e () => (float q) { q = Neg(a) }>
  }>
}"""


def tapped(text: str, **inputs: Any) -> dict[str, dict[str, Any]]:
    """By the place of a body's run: its tensors as plain lists."""
    model = onnx.load_from_string(parser.parse_model(HEAD + text).SerializeToString())
    evaluator = Evaluator(model)
    tap = _tap.Tap(evaluator, ((each.domain, each.name) for each in model.functions))
    evaluator.run(None, {name: np.asarray(value) for name, value in inputs.items()})
    return {
        run: {name: np.asarray(value).tolist() for name, value in tensors.items()}
        for body in _tap.runs(tap.found).values()
        for run, tensors in body
    }


def test_of_two_branches_the_one_that_ran_is_recorded() -> None:
    x = np.float32([1, -2])
    assert tapped(BRANCHES, c=True, x=x) == {"0.then_branch@0": {"s": [-1, 2], "r": [1, 2]}}
    assert list(tapped(BRANCHES, c=False, x=x)) == ["0.else_branch@0"]


def test_every_iteration_of_a_loop_is_a_run_with_its_own_state() -> None:
    found = tapped(LOOP, n=np.int64(3), c=True, s=np.float32(1))
    assert [(run, each["a"], each["z"]) for run, each in found.items()] == [
        ("0.body@0", 1, 2),
        ("0.body@1", 2, 4),
        ("0.body@2", 4, 8),
    ]


def test_a_function_is_recorded_for_each_of_its_calls() -> None:
    found = tapped(CALLS, x=np.float32([1, 2]))
    assert found == {
        "0.call@0": {"v": [1, 2], "k": [1, 2], "w": [2, 4]},
        "1.call@0": {"v": [2, 4], "k": [2, 4], "w": [4, 8]},
    }


def test_a_branch_in_a_loop_runs_within_an_iteration() -> None:
    found = tapped(NESTED, n=np.int64(2), c=True, s=np.float32(1))
    assert found["0.body@1/1.then_branch@0"] == {"r": 4}


def test_a_long_loop_is_recorded_only_at_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tap, "MOST_TENSORS", 12)
    assert len(tapped(LOOP, n=np.int64(30), c=True, s=np.float32(1))) == 2
    monkeypatch.setattr(_tap, "MOST_ELEMENTS", 5)
    assert len(tapped(LOOP, n=np.int64(30), c=True, s=np.float32(1))) == 1
