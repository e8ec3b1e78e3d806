"""What inserted nodes compute is what the reference evaluator computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from fuzz.mutants.kernels import KERNELS, evaluate
from tests.fuzz.mutants.subjects import outputs, small

X = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(np.float32)
ROW = X[0, 0]


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


CASES: list[tuple[str, Sequence[np.ndarray], dict[str, Any]]] = [
    ("Abs", [X], {}),
    ("Add", [X, X[:, :1]], {}),
    ("Sub", [X, ROW], {}),
    ("Mul", [X, np.float32(3) * np.ones((), np.float32)], {}),
    ("Div", [X, np.abs(X) + np.float32(1)], {}),
    ("Neg", [X], {}),
    ("Relu", [X], {}),
    ("Sin", [X], {}),
    ("Cos", [X], {}),
    ("Log", [np.abs(X) + np.float32(1)], {}),
    ("Gemm", [ROW, drawn(5, 8), drawn(8)], {}),
    ("MatMul", [X, drawn(5, 3)], {}),
    ("ReduceMean", [X], {"keepdims": 1}),
    ("ReduceMean", [X], {"keepdims": 0}),
    ("ReduceMax", [X], {"keepdims": 1}),
    ("Reshape", [X, numbers(-1)], {}),
    ("Reshape", [X[:1, :1, :1, :1], numbers()], {}),
    ("Tile", [ROW.ravel(), numbers(3)], {}),
    ("Transpose", [X], {"perm": (2, 0, 3, 1)}),
    ("Slice", [X, numbers(1, 0), numbers(3, 2), numbers(2, 3)], {}),
    ("Pad", [X, numbers(0, 1, 0, 2, 0, 0, 3, 1)], {}),
    ("Conv", [X, drawn(8, 3, 3, 3), drawn(8)], {"kernel_shape": (3, 3), "pads": (1,) * 4, "group": 1}),
    ("Conv", [X, drawn(1, 3, 1, 1), drawn(1)], {"kernel_shape": (1, 1), "pads": (0,) * 4, "group": 1}),
    ("Conv", [X, drawn(3, 1, 3, 3), drawn(3)], {"kernel_shape": (3, 3), "pads": (1,) * 4, "group": 3}),
    ("Conv", [X[0], drawn(2, 4, 3), drawn(2)], {"kernel_shape": (3,), "pads": (1,) * 2, "group": 1}),
    ("Conv", [X[None], drawn(1, 2, 1, 1, 1), drawn(1)], {"kernel_shape": (1,) * 3, "pads": (0,) * 6, "group": 1}),
]


@pytest.mark.parametrize(("op", "inputs", "attributes"), CASES)
def test_a_kernel_gives_what_the_reference_gives(
    op: str, inputs: Sequence[np.ndarray], attributes: dict[str, Any]
) -> None:
    names = ["x", *(f"c{at}" for at in range(1, len(inputs)))]
    model = small(helper.make_node(op, names, ["y"], **attributes), shape=inputs[0].shape)
    model.graph.initializer.extend(
        numpy_helper.from_array(value, name) for value, name in zip(inputs[1:], names[1:], strict=True)
    )
    [want] = outputs(model, {"x": inputs[0]})
    got = evaluate(op, inputs, attributes)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_every_kernel_is_among_these_cases() -> None:
    assert {op for op, _, _ in CASES} == set(KERNELS)
