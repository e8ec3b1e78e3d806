"""One case of the golden set of the court: a model, values, a backend and the verdicts that are right for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import parser

BUG = "compiler bug"
REFERENCE = "reference bug"
UNDEFINED = "undefined behaviour"
NOISE = "numeric noise"
RANDOM = "nondeterministic"
UNSUPPORTED = "unsupported"
INVALID = "invalid test"
ENVIRONMENT = "environment"

Values = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Entry:
    """Where `expected` lacks BUG the case is a trap; its verdict may also be null, when nothing fails."""

    name: str
    expected: frozenset[str]
    why: str
    model: bytes = b""
    instance: Mapping[str, Any] | None = None
    inputs: Values = field(default_factory=dict)
    #: Of `compilers.py`; none: every real compiler that takes such cases.
    fault: str = ""

    @property
    def trap(self) -> bool:
        return BUG not in self.expected


def model_of(signature: str, body: str, opset: int = 20, ir: int = 9, domains: str = "") -> bytes:
    """A model from `onnx.parser` text; statements are separated by semicolons."""
    lines = "\n".join(line.strip() for line in body.split(";") if line.strip())
    head = f'<ir_version: {ir}, opset_import: ["" : {opset}{domains}]>'
    model: onnx.ModelProto = parser.parse_model(f"{head}\ng {signature} {{\n{lines}\n}}")
    for node in model.graph.node:
        if node.op_type == "Constant":
            _as_tensor(node)
    return bytes(model.SerializeToString())


def _as_tensor(node: onnx.NodeProto) -> None:
    """A constant's number or list of numbers as a tensor: not every compiler knows the short forms."""
    (given,) = node.attribute
    if given.name != "value":
        numbers = np.array(onnx.helper.get_attribute_value(given), np.float32 if "float" in given.name else np.int64)
        node.attribute[0].CopyFrom(onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(numbers)))


def f32(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def i32(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def i64(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)
