"""Bugs of ten more kinds, planted into random models: none was looked at while the reducer was tuned.

Some are not monotone (``majority``), some name no operator (``deep``), some depend on sizes, on what is constant,
on what is returned, or on what a body reads from outside.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, parser

from benchmarks.bug_kinds import Spec, View, view
from benchmarks.planting import RARE, Plan, Planted, grow, put, put_chain
from benchmarks.random_models import OPSET, UNARY, Builder, started
from fuzz.operators.graph import bodies


@dataclass(frozen=True)
class Kind:
    """A kind of bug: how it is planted, and which models have it."""

    plant: Callable[[Builder, list[str], random.Random, int], Plan]
    fails: Callable[[onnx.ModelProto, Spec], bool]


def plant(kind: str, count: int, seed: int, rare: bool) -> Planted:
    """As `benchmarks.planting.plant`, of one of these kinds."""
    rng = random.Random(f"{kind} {count} {seed} {rare}")
    builder = started(seed + 500)
    ops = rng.sample(RARE if rare else UNARY, 4)
    grow(builder, rng.randrange(count // 8, count - count // 8))
    spec, ideal, outputs = KINDS[kind].plant(builder, ops, rng, count)
    while len(builder.nodes) < count:
        builder.grow()
    case = builder.case(f"{kind}, {count} nodes, seed {seed}, {'rare' if rare else 'common'}", outputs)
    spec = {"kind": kind, **spec}
    if not fails(spec, onnx.load_model_from_string(case.model)):
        return plant(kind, count, seed + 1000, rare)
    return Planted(kind, case, spec, ideal)


def fails(spec: Spec, model: onnx.ModelProto) -> bool:
    """Whether the model holds what the bug needs."""
    return KINDS[spec["kind"]].fails(model, spec)


# ---------------------------------------------------------------- the kinds


def _plant_weights(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = put(builder, ops[0], builder.pick())
    shape = builder.shapes[source]
    builder.add("MatMul", [source, builder.constant(np.eye(shape[-1], dtype=np.float32))], shape)
    return {"ops": [ops[0], "MatMul"]}, 2, ()


def _weights(model: onnx.ModelProto, spec: Spec) -> bool:
    """A product with a constant matrix behind an operator."""
    seen, constants = view(model), {tensor.name for tensor in model.graph.initializer}
    return any(seen.ends_chain(node, spec["ops"]) and node.input[1] in constants for node in seen.of("MatMul"))


def _plant_majority(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    have = [sum(node.op_type == op for node in builder.nodes) for op in ops[:2]]
    for op, more in ((ops[0], max(3, have[1] + 3)), (ops[1], 1)):
        for _ in range(more):
            put(builder, op, builder.pick())
            put(builder, "Transpose" if op == "Tanh" else "Tanh", builder.pick())
    return {"ops": ops[:2]}, 3, ()


def _majority(model: onnx.ModelProto, spec: Spec) -> bool:
    one, other = (len(view(model).of(op)) for op in spec["ops"])
    return one > other >= 1


def _plant_fan(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = put(builder, ops[0], builder.pick())
    for _ in range(3):
        put(builder, ops[1], source)
        grow(builder, 3)
    return {"ops": ops[:2]}, 4, ()


def _fan(model: onnx.ModelProto, spec: Spec) -> bool:
    """A result that three nodes of one operator read."""
    seen, (maker, reader) = view(model), spec["ops"]
    return any(
        sum(node.output[0] in other.input for other in seen.of(reader) if other is not node) >= 3
        for node in seen.of(maker)
    )


def _plant_two_pairs(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, ops[:2])
    grow(builder, count // 6)
    put_chain(builder, ops[2:])
    return {"ops": ops}, 4, ()


def _two_pairs(model: onnx.ModelProto, spec: Spec) -> bool:
    return view(model).has_chain(spec["ops"][:2]) and view(model).has_chain(spec["ops"][2:])


def _plant_deep(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, [ops[0], *rng.sample(UNARY, 3)])
    return {"ops": ops[:1], "depth": 4}, 4, ()


def _deep(model: onnx.ModelProto, spec: Spec) -> bool:
    """Three nodes, whatever they are, one behind the other behind an operator."""
    return view(model).has_chain([*spec["ops"], *["*"] * (spec["depth"] - 1)])


def _plant_apart(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put(builder, ops[0], "input_0")
    grow(builder, count // 8)
    put(builder, ops[1], "input_1")
    return {"ops": ops[:2]}, 2, ()


def _apart(model: onnx.ModelProto, spec: Spec) -> bool:
    """Two nodes of which neither needs the other."""
    seen, (one, other) = view(model), spec["ops"]
    return any(
        not any(node is second for node in seen.above(first)) and not any(node is first for node in seen.above(second))
        for first in seen.of(one)
        for second in seen.of(other)
    )


def _plant_many_results(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    return {"ops": ops[:1], "results": 3}, 3, [put(builder, ops[0], builder.pick())]


def _many_results(model: onnx.ModelProto, spec: Spec) -> bool:
    """An operator whose result is returned, in a graph with three outputs or more."""
    seen = view(model)
    returned = any(seen.outputs.intersection(node.output) for node in seen.of(spec["ops"][0]))
    return returned and len(seen.outputs) >= spec["results"]


def _plant_long_axis(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, ops[:2], source="input_2")
    return {"ops": ops[:2], "longest": 5}, 2, ()


def _long_axis(model: onnx.ModelProto, spec: Spec) -> bool:
    """A pair that computes on an axis of five elements or more."""
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph
    infos = [*graph.input, *graph.value_info, *graph.output]
    sizes = {info.name: max((d.dim_value for d in info.type.tensor_type.shape.dim), default=0) for info in infos}
    return any(
        sizes.get(path[-1].output[0], 0) >= spec["longest"] for path in View(list(graph.node)).chains(spec["ops"])
    )


def _plant_captured(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = put(builder, ops[0], builder.pick())
    shape = ",".join(map(str, builder.shapes[source]))
    text = f"""<ir_version: 10, opset_import: ["": {OPSET}]>
    g (float[{shape}] x, bool c) => (float[{shape}] y) {{
        y = If(c) < then_branch = yes () => (float[{shape}] p) {{ a = {ops[1]}(x)  b = Neg(a)  p = Abs(b) }},
                    else_branch = no () => (float[{shape}] q) {{ e = Relu(x)  q = Sigmoid(e) }} > }}"""
    node = parser.parse_model(text).graph.node[0]
    prefix = f"captured{len(builder.nodes)}_"
    for body in bodies(node):
        for inner in body.node:
            inner.input[:] = [source if name == "x" else prefix + name for name in inner.input]
            inner.output[:] = [prefix + name for name in inner.output]
        for info in body.output:
            info.name = prefix + info.name
    made = builder.add("If", [builder.constant(np.array(True))], builder.shapes[source])
    builder.nodes[-1].attribute.extend(node.attribute)
    put(builder, "Tanh", made)
    return {"ops": ops[:2]}, 4, ()  # the two, the If, and what the other branch returns


def _captured(model: onnx.ModelProto, spec: Spec) -> bool:
    """A node in a body that reads what an operator outside made."""
    made = {name for node in view(model).of(spec["ops"][0]) for name in node.output}
    inner = [node for outer in model.graph.node for body in bodies(outer) for node in body.node]
    return any(node.op_type == spec["ops"][1] and made.intersection(node.input) for node in inner)


def _plant_called_twice(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    steps = ["Tanh", ops[0], "Abs"]
    nodes = [helper.make_node(op, [f"v{at}"], [f"v{at + 1}"]) for at, op in enumerate(steps)]
    imports = [helper.make_opsetid("", OPSET)]
    builder.functions.append(helper.make_function("own", "Twice", ["v0"], ["v3"], nodes, imports))
    for _ in range(2):
        source = builder.pick()
        builder.add("Twice", [source], builder.shapes[source], domain="own")
        grow(builder, 5)
    return {"ops": ops[:1]}, 3, ()  # two calls and the operator


def _called_twice(model: onnx.ModelProto, spec: Spec) -> bool:
    for function in model.functions:
        calls = [node for node in model.graph.node if (node.domain, node.op_type) == (function.domain, function.name)]
        if len(calls) >= 2 and View(list(function.node)).of(spec["ops"][0]):
            return True
    return False


KINDS: Mapping[str, Kind] = {
    "constant weights": Kind(_plant_weights, _weights),
    "majority": Kind(_plant_majority, _majority),
    "three readers": Kind(_plant_fan, _fan),
    "two pairs": Kind(_plant_two_pairs, _two_pairs),
    "deep": Kind(_plant_deep, _deep),
    "unconnected": Kind(_plant_apart, _apart),
    "many results": Kind(_plant_many_results, _many_results),
    "long axis": Kind(_plant_long_axis, _long_axis),
    "captured": Kind(_plant_captured, _captured),
    "called twice": Kind(_plant_called_twice, _called_twice),
}
#: Those with nodes in bodies and functions, out of the reach of reducers that know none.
INNER: Sequence[str] = ("captured", "called twice")
