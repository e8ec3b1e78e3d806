"""Keras layers on OpenVINO: what Keras's own backend gets wrong is not blamed on the compiler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin, Status
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(600), jobs=1) as shared:
        yield Judge(shared, catalogue.target("reference"))


def layer(api: str, numbers: str = "float32", **arguments: Any) -> Case:
    """A call of a layer on a small matrix."""
    told = {
        "library": "keras",
        "api": api,
        "init": {"kwargs": arguments},
        "args": [{"tensor": 0}],
        "kwargs": {},
        "tensors": [{"dtype": numbers, "shape": [2, 3], "values": [1.0, -2.0, 3.0, 0.5, 0.25, -1.0]}],
    }
    return Case("keras", json.dumps(told).encode(), {}, Origin("test", Path(api).name))


def test_a_type_that_keras_itself_chooses_is_no_bug_of_openvino(judge: Judge) -> None:
    case = layer("keras.layers.Dense", "float64", units=2, dtype="float64")
    verdict = judge.examine(case, catalogue.target("openvino"))
    assert verdict.status is Status.SKIPPED, verdict.reason
    assert verdict.reason.startswith("with keras=onnx openvino")


def test_a_layer_that_is_right_passes(judge: Judge) -> None:
    assert judge.examine(layer("keras.layers.ReLU"), catalogue.target("openvino")).status is Status.OK
