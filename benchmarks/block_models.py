"""Models of the blocks that people build: convolutions, attention, gates, statistics, indices.

Unlike those of `benchmarks.random_models` they have images, integers, conditions and nodes with several results.
Every node is computed as it is added, so that a model is valid by construction.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from triage.submodel import reads

OPSET, IR_VERSION = 20, 9
OWN = "own"


@dataclass
class Blocks:
    """A graph that grows block by block; `values` are all tensors so far."""

    rng: random.Random
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    made: list[str] = field(default_factory=list)  # what blocks may read
    returned: list[str] = field(default_factory=list)  # results although they are read

    def feed(self, *shape: int) -> str:
        """A new graph input of float32."""
        name = f"in{len(self.inputs)}"
        self.inputs[name] = self.values[name] = self.draw(*shape)
        self.made.append(name)
        return name

    def draw(self, *shape: int) -> np.ndarray:
        """Moderate float32 numbers of both signs, none near zero."""
        numbers = np.random.default_rng(self.rng.getrandbits(32))
        return np.asarray(numbers.uniform(0.2, 1, shape) * numbers.choice([-1, 1], shape), np.float32)

    def constant(self, value: Any) -> str:
        """A new initializer."""
        name = f"w{len(self.constants)}"
        self.constants[name] = self.values[name] = np.asarray(value)
        return name

    def add(self, op_type: str, *inputs: str, results: int = 1, domain: str = "", **attributes: Any) -> Any:
        """A new node; the name of its result, or a list of them. Raises what the reference raises."""
        names = [f"t{len(self.nodes)}_{at}" for at in range(results)]
        node = helper.make_node(op_type, inputs, names, domain=domain, **attributes)
        found = self._computed(node)
        self.nodes.append(node)
        self.values |= dict(zip(names, found, strict=True))
        self.made += [name for name in names if self.values[name].dtype == np.float32 and self.values[name].size > 1]
        return names[0] if results == 1 else names

    def _computed(self, node: onnx.NodeProto) -> list[np.ndarray]:
        wanted = sorted(reads(node))
        given = [_info(name, self.values[name]) for name in wanted]
        graph = helper.make_graph([node], "one", given, [onnx.ValueInfoProto(name=name) for name in node.output])
        model = helper.make_model(graph, opset_imports=_imports(), functions=self.functions)
        found = ReferenceEvaluator(model).run(None, {name: self.values[name] for name in wanted})
        return [np.asarray(value) for value in found]

    def pick(self, rank: int = 0, least: int = 1) -> str:
        """A float tensor of so many axes (0: two or more) whose last axis has at least `least` elements."""
        fitting = [
            name
            for name in self.made
            if (self.values[name].ndim == rank if rank else self.values[name].ndim >= 2)
            and self.values[name].shape[-1] >= least
            and self.values[name].size <= 600
        ]
        return fitting[max(self.rng.randrange(len(fitting)), self.rng.randrange(len(fitting)))]

    def grow(self, count: int) -> None:
        """At least so many nodes more."""
        wanted = len(self.nodes) + count
        while len(self.nodes) < wanted:
            self.rng.choice(_BLOCKS)(self)

    def case(self, test: str) -> Case:
        """The finished model; what no node reads is returned."""
        read = set[str]().union(*(reads(node) for node in self.nodes))
        results = [n for node in self.nodes for n in node.output if n not in read or n in self.returned]
        graph = helper.make_graph(
            self.nodes,
            "blocks",
            [_info(name, value) for name, value in self.inputs.items()],
            [_info(name, self.values[name]) for name in results],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=_imports(), ir_version=IR_VERSION, functions=self.functions)
        return Case("onnx", model.SerializeToString(), dict(self.inputs), Origin("blocks", test))


def _imports() -> list[onnx.OperatorSetIdProto]:
    return [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]


def _info(name: str, value: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def started(seed: int | str) -> Blocks:
    """Blocks with an image, tokens and vectors to read."""
    blocks = Blocks(random.Random(seed))
    for shape in ((1, 4, 6, 6), (2, 6, 8), (3, 8)):
        blocks.feed(*shape)
    return blocks


# ---------------------------------------------------------------- blocks


def _convolution(blocks: Blocks) -> None:
    image = blocks.pick(4)
    channels = blocks.values[image].shape[1]
    weights = blocks.constant(blocks.draw(channels, channels, 3, 3) * np.float32(0.2))
    made = blocks.add("Conv", image, weights, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    made = blocks.add("Relu", made)
    if blocks.rng.random() < 0.5:
        blocks.add("Add", made, image)


def _normalised(blocks: Blocks) -> None:
    image = blocks.pick(4)
    channels = blocks.values[image].shape[1]
    rows = [blocks.constant(np.abs(blocks.draw(channels))) for _ in range(4)]
    blocks.add("Clip", blocks.add("BatchNormalization", image, *rows), blocks.constant(np.float32(-3)))


def _attention(blocks: Blocks) -> None:
    tokens = blocks.pick(3, 2)
    width = blocks.values[tokens].shape[-1]
    query, key, value = (
        blocks.add("MatMul", tokens, blocks.constant(blocks.draw(width, 4) * np.float32(0.4))) for _ in range(3)
    )
    turned = blocks.add("Transpose", key, perm=[0, 2, 1])
    scores = blocks.add("Mul", blocks.add("MatMul", query, turned), blocks.constant(np.float32(0.5)))
    blocks.add("MatMul", blocks.add("Softmax", scores, axis=-1), value)


def _dense(blocks: Blocks) -> None:
    vectors = blocks.pick(2)
    width = blocks.values[vectors].shape[-1]
    wide = blocks.constant(blocks.draw(width, 6) * np.float32(0.4))
    made = blocks.add("Gemm", vectors, wide, blocks.constant(blocks.draw(6)))
    blocks.add("Tanh", made)


def _layer_norm(blocks: Blocks) -> None:
    tensor = blocks.pick(least=2)
    width = blocks.values[tensor].shape[-1]
    blocks.add("LayerNormalization", tensor, blocks.constant(np.abs(blocks.draw(width))), axis=-1)


def _gate(blocks: Blocks) -> None:
    tensor = blocks.pick(least=2)
    if blocks.values[tensor].shape[-1] % 2:
        return
    one, other = blocks.add("Split", tensor, results=2, axis=-1, num_outputs=2)
    blocks.add("Mul", one, blocks.add("Sigmoid", other))


def _statistics(blocks: Blocks) -> None:
    tensor = blocks.pick(least=2)
    mean = blocks.add("ReduceMean", tensor, blocks.constant(np.array([-1])), keepdims=1)
    blocks.add("Abs", blocks.add("Sub", tensor, mean))


def _indices(blocks: Blocks) -> None:
    vectors = blocks.pick(2)
    index = blocks.add("ArgMax", vectors, axis=0, keepdims=0)
    rows, columns = blocks.values[vectors].shape
    if rows <= columns:
        blocks.add("Gather", vectors, index, axis=1)
    else:
        blocks.add("Cast", index, to=TensorProto.FLOAT)


def _choice(blocks: Blocks) -> None:
    tensor = blocks.pick()
    mask = blocks.add("Greater", tensor, blocks.constant(np.float32(0)))
    blocks.add("Where", mask, tensor, blocks.add("Neg", tensor))


def _shaped(blocks: Blocks) -> None:
    tensor = blocks.pick(3)
    first, *rest = blocks.values[tensor].shape
    made = blocks.add("Reshape", tensor, blocks.constant(np.array([first, rest[1], rest[0]])))
    blocks.add("Transpose", made, perm=[0, 2, 1])


def _sliced(blocks: Blocks) -> None:
    tensor = blocks.pick(least=4)
    bounds = [blocks.constant(np.array([number])) for number in (1, 4, -1)]
    made = blocks.add("Slice", tensor, *bounds)
    blocks.add("Concat", made, made, axis=-1)


def _curve(blocks: Blocks) -> None:
    op_type = blocks.rng.choice(("Relu", "Elu", "Exp", "Softsign", "Identity", "Neg"))
    blocks.add(op_type, blocks.add("Tanh", blocks.pick()))


_BLOCKS: Sequence[Callable[[Blocks], None]] = (
    *(_convolution, _normalised, _attention, _dense, _layer_norm, _gate),
    *(_statistics, _indices, _choice, _shaped, _sliced, _curve),
)
