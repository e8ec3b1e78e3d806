"""What inserted nodes compute, in numpy: only they are evaluated, never the model.

The tests hold every operator here against the reference evaluator.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fuzz.mutants.mutation import Attribute

Arrays = Sequence[np.ndarray]
Attributes = Mapping[str, Attribute]


def _slice(inputs: Arrays, attributes: Attributes) -> np.ndarray:
    x, starts, ends, axes = inputs
    window = [slice(None)] * x.ndim
    for start, end, axis in zip(starts.tolist(), ends.tolist(), axes.tolist(), strict=True):
        window[axis] = slice(start, end)
    return x[tuple(window)]


def _pad(inputs: Arrays, attributes: Attributes) -> np.ndarray:
    x, pads = inputs[:2]
    before, after = pads[: x.ndim].tolist(), pads[x.ndim :].tolist()
    padded = np.zeros([sum(each) for each in zip(before, x.shape, after, strict=True)], x.dtype)
    padded[tuple(slice(start, start + length) for start, length in zip(before, x.shape, strict=True))] = x
    return padded


def _reduced(function: Callable[..., Any]) -> Callable[[Arrays, Attributes], np.ndarray]:
    """Over all axes."""

    def reduce(inputs: Arrays, attributes: Attributes) -> np.ndarray:
        return np.asarray(function(inputs[0], keepdims=bool(attributes["keepdims"])))

    return reduce


def _conv(inputs: Arrays, attributes: Attributes) -> np.ndarray:
    """Convolutions of any number of axes that keep the size: odd kernels, stride 1. In channels or by channel."""
    x, weights, bias = inputs
    kernel = weights.shape[2:]
    by_channel = attributes["group"] != 1
    pads = [(0, 0), (0, 0), *((length // 2, length // 2) for length in kernel)]
    padded = np.pad(x, pads)
    found = np.zeros((x.shape[0], weights.shape[0], *x.shape[2:]), x.dtype)
    factors = weights.reshape(*weights.shape[:2], -1)
    for at, place in enumerate(itertools.product(*map(range, kernel))):
        window = tuple(slice(start, start + length) for start, length in zip(place, x.shape[2:], strict=True))
        seen, factor = padded[(slice(None), slice(None), *window)], factors[:, :, at]
        if by_channel:
            found += seen * _along_channels(factor[:, 0], x.ndim)
        else:
            columns = factor @ seen.reshape(*seen.shape[:2], -1)
            found += columns.reshape(found.shape)
    found += _along_channels(bias, x.ndim)
    return found


def _along_channels(vector: np.ndarray, rank: int) -> np.ndarray:
    return vector.reshape(-1, *[1] * (rank - 2))


KERNELS: dict[str, Callable[[Arrays, Attributes], np.ndarray]] = {
    "Abs": lambda inputs, attributes: np.abs(inputs[0]),
    "Add": lambda inputs, attributes: inputs[0] + inputs[1],
    "Conv": _conv,
    "Cos": lambda inputs, attributes: np.cos(inputs[0]),
    "Div": lambda inputs, attributes: inputs[0] / inputs[1],
    "Gemm": lambda inputs, attributes: inputs[0] @ inputs[1] + inputs[2],
    "Log": lambda inputs, attributes: np.log(inputs[0]),
    "MatMul": lambda inputs, attributes: inputs[0] @ inputs[1],
    "Mul": lambda inputs, attributes: inputs[0] * inputs[1],
    "Neg": lambda inputs, attributes: -inputs[0],
    "Pad": _pad,
    "ReduceMax": _reduced(np.max),
    "ReduceMean": _reduced(np.mean),
    "Relu": lambda inputs, attributes: np.maximum(inputs[0], inputs[0].dtype.type(0)),
    "Reshape": lambda inputs, attributes: inputs[0].reshape(inputs[1].tolist()),
    "Sin": lambda inputs, attributes: np.sin(inputs[0]),
    "Slice": _slice,
    "Sub": lambda inputs, attributes: inputs[0] - inputs[1],
    "Tile": lambda inputs, attributes: np.tile(inputs[0], inputs[1].tolist()),
    "Transpose": lambda inputs, attributes: np.transpose(inputs[0], attributes["perm"]),  # type: ignore[arg-type]
}


def evaluate(op: str, inputs: Arrays, attributes: Attributes) -> np.ndarray:
    """The result of one node, in the dtype of its first input."""
    with np.errstate(all="ignore"):
        return np.asarray(KERNELS[op](inputs, attributes), inputs[0].dtype)
