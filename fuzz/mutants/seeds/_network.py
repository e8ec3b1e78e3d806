"""Writes a network down layer by layer, with seeded weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8


class Network:
    """A graph in the making. Tensors go by name, and their shapes are known."""

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._rng = name, np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._bounds: tuple[str, ...] = ()
        self.shape: dict[str, tuple[int, ...]] = {}

    def input(self, name: str, shape: Sequence[int]) -> str:
        """A graph input of float32."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.shape[name] = tuple(shape)
        return name

    def node(self, op: str, inputs: Sequence[str], shape: Sequence[int], **attributes: Any) -> str:
        """A node with one output of that shape."""
        name = f"{op.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        self.shape[name] = tuple(shape)
        return name

    def nodes(self, op: str, inputs: Sequence[str], shapes: Sequence[Sequence[int]], **attributes: Any) -> list[str]:
        """A node with several outputs; an empty shape list of one leaves that output out."""
        name = f"{op.lower()}_{len(self._nodes)}"
        names = [f"{name}_{at}" for at in range(len(shapes))]
        self._nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        self.shape.update((each, tuple(shape)) for each, shape in zip(names, shapes, strict=True))
        return names

    def weights(self, shape: Sequence[int], scale: float) -> str:
        """Normally distributed float32 with that standard deviation."""
        return self.constant((self._rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, value: np.ndarray) -> str:
        """An initializer."""
        name = f"weights_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(value, name))
        self.shape[name] = value.shape
        return name

    def same(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node whose result has the shape of its first input."""
        return self.node(op, inputs, self.shape[inputs[0]], **attributes)

    def relu(self, x: str) -> str:
        """max(x, 0)"""
        return self.same("Relu", x)

    def relu6(self, x: str) -> str:
        """min(max(x, 0), 6)"""
        if not self._bounds:
            self._bounds = tuple(self.constant(np.array(bound, np.float32)) for bound in (0, 6))
        return self.same("Clip", x, *self._bounds)

    def add(self, x: str, y: str) -> str:
        """x + y, of one shape"""
        return self.same("Add", x, y)

    def conv(self, x: str, out: int, kernel: int, stride: int = 1, group: int = 1, gain: float = 2.0) -> str:
        """A convolution with bias that keeps the size but for its stride. `gain` 2 where a Relu follows (He et al.)."""
        batch, channels, height, width = self.shape[x]
        fan_in = channels // group * kernel * kernel
        weights = self.weights((out, channels // group, kernel, kernel), math.sqrt(gain / fan_in))
        bias = self.weights((out,), 0.05)
        pad = kernel // 2
        shape = (batch, out, (height + 2 * pad - kernel) // stride + 1, (width + 2 * pad - kernel) // stride + 1)
        settings = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": group}
        return self.node("Conv", (x, weights, bias), shape, **settings)

    def max_pool(self, x: str, kernel: int, stride: int, pad: int = 0) -> str:
        """The largest of every window."""
        batch, channels, *sizes = self.shape[x]
        shape = (batch, channels, *((size + 2 * pad - kernel) // stride + 1 for size in sizes))
        return self.node("MaxPool", (x,), shape, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def global_average(self, x: str) -> str:
        """The mean of every channel, as an image of one pixel."""
        return self.node("GlobalAveragePool", (x,), (*self.shape[x][:2], 1, 1))

    def flatten(self, x: str) -> str:
        """[batch, all else]"""
        return self.node("Flatten", (x,), (self.shape[x][0], math.prod(self.shape[x][1:])), axis=1)

    def dense(self, x: str, out: int, gain: float = 2.0) -> str:
        """A fully connected layer with bias, of a matrix."""
        batch, length = self.shape[x]
        weights = self.weights((out, length), math.sqrt(gain / length))
        return self.node("Gemm", (x, weights, self.weights((out,), 0.05)), (batch, out), transB=1)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model with these outputs."""
        declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape[name]) for name in outputs]
        graph = helper.make_graph(self._nodes, self._name, self._inputs, declared, self._weights)
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="graphwarden")
