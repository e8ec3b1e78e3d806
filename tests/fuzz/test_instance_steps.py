"""The steps of a call as calls of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fuzz import instance, instance_steps, instance_torch
from fuzz.wire import Job


def steps(api: str, tensors: list[dict[str, Any]], *args: object, **kwargs: object) -> list[str]:
    given = [*({"tensor": at} for at in range(len(tensors))), *args]
    document = {"library": "torch", "api": api, "args": given, "kwargs": kwargs, "tensors": tensors}
    return instance_steps.steps(Job("instance", json.dumps(document).encode(), {}, {}))


def result(text: str) -> list[Any]:
    module, inputs, _ = instance_torch.build(instance.parse(text))
    return [value.tolist() for _, value in instance_torch.evaluate(module, inputs)]  # type: ignore[union-attr]


def test_each_step_is_a_call_of_the_values_that_eager_pytorch_computes() -> None:
    found = steps("torch.nn.functional.pairwise_distance", [{"dtype": "float32", "shape": [2], "values": [3, 4]}] * 2)
    apis = [json.loads(text)["api"] for text in found if text]
    assert apis[0] == "torch.sub" and result(found[0]) == [[0.0, 0.0]]
    assert all(result(text) for text in found if text)


def test_a_slice_is_an_index() -> None:
    tensor = {"dtype": "int8", "shape": [1, 3], "values": [100, -100, 3]}
    first, second, last = steps("torch.diff", [tensor])
    assert [json.loads(text)["api"] for text in (first, second, last)] == [
        "torch.Tensor.__getitem__",
        "torch.Tensor.__getitem__",
        "torch.sub",
    ]
    assert [result(text) for text in (first, second, last)] == [[[[100, -100]]], [[[-100, 3]]], [[[56, 103]]]]


def test_operators_go_by_what_the_library_calls_them() -> None:
    [text] = steps("torch.nn.functional.softmax", [{"dtype": "float32", "shape": [2], "values": [3, 4]}], 0)
    assert json.loads(text)["api"] == "torch.softmax"


def test_a_step_that_is_no_function_of_the_library_is_not_told() -> None:
    """elu of the library takes no scale, so what it gives is not what the step gives."""
    assert steps("torch.nn.functional.selu", [{"dtype": "float32", "shape": [2], "values": [3, -4]}]) == [""]


def test_numbers_that_are_none_and_types_come_along() -> None:
    tensor = {"dtype": "float32", "shape": [2], "values": [2.0, -4.0]}
    found = [text for text in steps("torch.pow", [tensor], 1.5) if text]
    assert [result(text)[0][0] for text in found] == [pytest.approx(2.0**1.5)]
    half = steps("torch.nn.functional.softmax", [{**tensor, "dtype": "float16"}], 0)
    assert half and all(json.loads(text)["tensors"][0]["dtype"] == "float16" for text in half[:1] if text)
