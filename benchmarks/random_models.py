"""Random valid ONNX models: what bugs are planted into, and what failing models are embedded in.

The operators keep all values small and finite, so that any cut of the graph can be evaluated. Every tensor
is float32 with two or three axes; every value that no node reads is a graph output.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from triage.submodel import rename

Shape = tuple[int, ...]
OPSET, IR_VERSION = 21, 10
UNARY = ("Relu", "Sigmoid", "Neg", "Abs", "Tanh", "Erf", "Softsign", "Identity", "HardSigmoid", "Elu")
BINARY = ("Add", "Mul", "Sub", "Max", "Min")
_SHAPES: tuple[Shape, ...] = ((2, 3, 8), (4, 6), (1, 5, 7))


@dataclass
class Builder:
    """A graph that grows node by node; `shapes` are the tensors so far in the order in which they were made."""

    rng: random.Random
    opset: int = OPSET
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    functions: list[onnx.FunctionProto] = field(default_factory=list)

    def feed(self, shape: Shape) -> str:
        """A new graph input."""
        name = f"input_{len(self.inputs)}"
        draw = np.random.default_rng(self.rng.getrandbits(32))
        self.inputs[name] = draw.uniform(-1, 1, shape).astype(np.float32)
        self.shapes[name] = shape
        return name

    def constant(self, value: np.ndarray) -> str:
        """A new initializer."""
        name = f"weights/{len(self.constants)}"
        self.constants[name] = value
        return name

    def add(self, op_type: str, inputs: Sequence[str], shape: Shape, **attributes: Any) -> str:
        """A new node and the name of its only output, which has `shape`."""
        name = f"block{len(self.nodes)}/{op_type}_output"
        domain = attributes.pop("domain", "")
        node = helper.make_node(op_type, inputs, [name], f"node_{len(self.nodes)}", domain=domain, **attributes)
        self.nodes.append(node)
        self.shapes[name] = shape
        return name

    def pick(self) -> str:
        """A tensor to read, the recent ones more often."""
        names = list(self.shapes)
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def grow(self) -> str:
        """One random node more."""
        return self.rng.choice(_GROWTH)(self)

    def case(self, test: str = "", outputs: Sequence[str] = ()) -> Case:
        """The finished graph; `outputs` are returned although some node may read them."""
        read = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output if name in self.shapes]
        results = [name for name in made if name not in read or name in outputs]
        infos = [_info(name, value.shape) for name, value in self.inputs.items()]
        graph = helper.make_graph(
            self.nodes,
            "random",
            infos,
            [_info(name, self.shapes[name]) for name in results],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        imports = [helper.make_opsetid("", OPSET)]
        imports += [helper.make_opsetid(domain, 1) for domain in {function.domain for function in self.functions}]
        model = helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION, functions=self.functions)
        return Case("onnx", model.SerializeToString(), dict(self.inputs), Origin("random", test))


def _info(name: str, shape: Shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _unary(builder: Builder) -> str:
    source = builder.pick()
    return builder.add(builder.rng.choice(UNARY), [source], builder.shapes[source])


def _binary(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    other = builder.rng.choice([name for name, each in builder.shapes.items() if each == shape])
    op_type = builder.rng.choice(BINARY)
    made = builder.add(op_type, [source, other], shape)
    return builder.add("Tanh", [made], shape) if op_type in ("Mul", "Sub", "Add") else made


def _softmax(builder: Builder) -> str:
    source = builder.pick()
    return builder.add("Softmax", [source], builder.shapes[source], axis=-1)


def _transpose(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    return builder.add("Transpose", [source], tuple(shape[axis] for axis in order), perm=order)


def _reshape(builder: Builder) -> str:
    source = builder.pick()
    count = math.prod(builder.shapes[source])
    shape = (count // 2, 2) if count % 2 == 0 else (1, count, 1)
    return builder.add("Reshape", [source, builder.constant(np.array(shape))], shape)


def _matmul(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    draw = np.random.default_rng(builder.rng.getrandbits(32))
    width = builder.rng.choice((2, 3, 8))
    weights = draw.uniform(-0.3, 0.3, (shape[-1], width)).astype(np.float32)
    return builder.add("MatMul", [source, builder.constant(weights)], (*shape[:-1], width))


def _reduce(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    if builder.opset < 18:  # the axes were an attribute
        return _unary(builder)
    axes = builder.constant(np.array([-1]))
    return builder.add("ReduceMean", [source, axes], (*shape[:-1], 1), keepdims=1)


def _concat(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    if math.prod(shape) > 200:
        return _unary(builder)
    return builder.add("Concat", [source, source], (*shape[:-1], 2 * shape[-1]), axis=-1)


def _slice(builder: Builder) -> str:
    source = builder.pick()
    shape = builder.shapes[source]
    if shape[-1] < 2:
        return _unary(builder)
    bounds = [builder.constant(np.array([number])) for number in (0, shape[-1] - 1, -1)]
    return builder.add("Slice", [source, *bounds], (*shape[:-1], shape[-1] - 1))


def _unsqueeze(builder: Builder) -> str:
    source = builder.pick()
    if len(builder.shapes[source]) > 2 or builder.opset < 13:
        return _unary(builder)
    return builder.add("Unsqueeze", [source, builder.constant(np.array([0]))], (1, *builder.shapes[source]))


_GROWTH: tuple[Callable[[Builder], str], ...] = (
    *(_unary,) * 6,
    *(_binary,) * 4,
    *(_transpose, _reshape, _matmul, _softmax, _reduce, _concat, _slice, _unsqueeze),
)


def started(seed: int, opset: int = OPSET) -> Builder:
    """A builder with three graph inputs and no node yet; its nodes are valid in that opset, from 10 on."""
    builder = Builder(random.Random(seed), opset)
    for shape in _SHAPES:
        builder.feed(shape)
    return builder


def random_case(count: int, seed: int) -> Case:
    """A random valid model of at least `count` nodes."""
    builder = started(seed)
    while len(builder.nodes) < count:
        builder.grow()
    return builder.case(f"{count} nodes, seed {seed}")


def embedded(failing: Case, count: int, seed: int) -> Case:
    """`failing` within a random valid model of about `count` nodes: same inputs, same values, all its results kept.

    Its float32 inputs pass through two Neg, which are exact; what it computes in float32 is read by random
    nodes behind it.
    """
    model = onnx.load_model_from_string(failing.model)
    builder = started(seed, max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=OPSET))
    while len(builder.nodes) < count // 2:
        builder.grow()
    names = _own_names(model)
    given = {names[name]: value for name, value in failing.inputs.items()}
    rename(model, names)
    infos = [info for info in model.graph.input if not _fed_by_nodes(builder, info.name, given)]
    builder.nodes += model.graph.node
    builder.shapes |= _float_results(failing, names)
    while len(builder.nodes) < count:
        builder.grow()
    return _merged(builder, model, infos, given, failing)


def _fed_by_nodes(builder: Builder, name: str, given: dict[str, Any]) -> bool:
    """Let two Neg make the input, if that is possible; its value then goes to what they read."""
    value = given.get(name)
    if not isinstance(value, np.ndarray) or value.dtype != np.float32 or value.ndim not in (2, 3) or not value.size:
        return False
    builder.inputs[f"{name}_fed"] = given.pop(name)
    turned = builder.add("Neg", [f"{name}_fed"], value.shape)
    builder.nodes.append(helper.make_node("Neg", [turned], [name]))
    builder.shapes[name] = value.shape
    return True


def _float_results(failing: Case, names: dict[str, str]) -> dict[str, Shape]:
    """Results that random nodes can read, by their new names; none when the reference cannot compute them."""
    evaluator = ReferenceEvaluator(onnx.load_model_from_string(failing.model))
    try:
        values = evaluator.run(None, dict(failing.inputs))
    except Exception:  # noqa: BLE001 - whatever the reference says, the failure can be embedded without readers
        return {}
    found = zip(evaluator.output_names, values, strict=True)
    return {
        names[name]: value.shape
        for name, value in found
        if isinstance(value, np.ndarray) and value.dtype == np.float32 and value.ndim in (2, 3) and value.size
        if name in names and np.all(np.isfinite(value)) and np.all(np.abs(value) < 1e3)
    }


def _own_names(model: onnx.ModelProto) -> dict[str, str]:
    names = [info.name for info in model.graph.input] + [tensor.name for tensor in model.graph.initializer]
    names += [tensor.values.name for tensor in model.graph.sparse_initializer]
    names += [name for node in model.graph.node for name in node.output if name]
    return {name: f"failing/{name}" for name in names}


def _merged(
    builder: Builder, model: onnx.ModelProto, infos: list[onnx.ValueInfoProto], given: dict[str, Any], failing: Case
) -> Case:
    """One model of both: the failing one's opset and functions, outputs of both."""
    own = onnx.load_model_from_string(builder.case().model)
    kept = {info.name for info in model.graph.output}
    outputs = [info for info in own.graph.output if info.name not in kept and info.name in builder.shapes]
    graph = helper.make_graph(
        list(builder.nodes),
        "embedded",
        [*own.graph.input, *infos],
        [*model.graph.output, *outputs],
        [*own.graph.initializer, *model.graph.initializer],
        sparse_initializer=list(model.graph.sparse_initializer),
    )
    merged = helper.make_model(graph, opset_imports=list(model.opset_import), functions=list(model.functions))
    merged.ir_version = max(model.ir_version, 4)
    return Case(
        "onnx", merged.SerializeToString(), {**builder.inputs, **given}, Origin("embedded", failing.origin.test)
    )
