"""Whether an environment can be trusted with a verdict: a handful of operators that every compiler computes rightly.

An old build beside a numpy that it was not made for computes garbage without a word, and every test would fail: that
says nothing of the compiler. One operator that fails here may be a real regression; most of them never are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import ValueInfoProto, helper

from fuzz import catalogue, registry
from fuzz.case import Case, Origin, Outcome, Status, Target
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage.revisions.waiting import GoesOn, wanted

#: An environment is refused when more than this share of the tiny models fails.
TOLERATED = 0.5

#: A model and what it computes.
Tiny = tuple[Case, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Why nothing that a build computes can be believed. `lasting`: wrong numbers, not a lack of time or memory."""

    text: str
    lasting: bool = True


def problem(runner: Runner, target: Target, goes_on: GoesOn = wanted) -> Problem | None:
    """What speaks against `target`'s environment, None when it can be used.

    Raises BackendUnavailable, and what `goes_on` raises, which is called before each model.
    """
    if "onnx" not in registry.backend(target.backend).kinds:
        said = catalogue.trial(runner, target)
        return Problem(said, lasting=False) if said else None
    failed, passing = [], False
    for case, expected in _cases():
        goes_on()
        outcome = runner.run_fresh(case, target, limits=catalogue.PATIENT)
        said = _objection(outcome, expected)
        if said:
            failed.append(f"{case.origin.test} {said}")
            passing = passing or outcome.status in (Status.TIMEOUT, Status.OOM)
    if len(failed) <= TOLERATED * len(_cases()):
        return None
    return Problem(f"{len(failed)} of {len(_cases())} tiny models fail: {failed[0]}", lasting=not passing)


def _objection(outcome: Outcome, expected: np.ndarray) -> str:
    if outcome.status is not Status.OK:
        error = outcome.error
        said = f"{error.type} {error.message} {error.signal}".strip() if error else ""
        return f"ends in stage {outcome.stage} with {outcome.status} {said}".strip()[:500]
    difference = differential.compare([value for _, value in outcome.outputs], [expected])
    return f"computes garbage: {difference.detail}" if difference else ""


@cache
def _cases() -> tuple[Tiny, ...]:
    """Operator set 13 and IR version 7: known to every build of the last five years."""
    x = np.array([[-1.5, 0.25, 2.0], [3.25, -4.0, 5.5]], dtype=np.float32)
    y = np.array([[2.0, -0.5, 1.0], [0.5, 4.0, -8.0]], dtype=np.float32)
    n = np.array([[7, -3, 12], [0, 5, -9]], dtype=np.int32)
    return (
        _case("Relu", {"x": x}, np.maximum(x, 0)),
        _case("Add", {"x": x, "y": y}, x + y),
        _case("Mul", {"x": n, "y": n}, n * n),
        _case("MatMul", {"x": x, "y": np.ascontiguousarray(y.T)}, x @ y.T),
        _case("Transpose", {"x": x}, np.ascontiguousarray(x.T), perm=[1, 0]),
        _case("Concat", {"x": x, "y": y}, np.concatenate([x, y]), axis=0),
        _case("Less", {"x": x, "y": y}, x < y),
    )


def _case(operator: str, inputs: Mapping[str, np.ndarray], expected: np.ndarray, **attributes: Any) -> Tiny:
    node = helper.make_node(operator, list(inputs), ["out"], **attributes)
    given = [_info(name, array) for name, array in inputs.items()]
    graph = helper.make_graph([node], "tiny", given, [_info("out", expected)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    return Case("onnx", model.SerializeToString(), dict(inputs), Origin("preflight", operator)), expected


def _info(name: str, array: np.ndarray) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), list(array.shape))
