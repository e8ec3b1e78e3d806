"""Bugs of every kind of `benchmarks.bug_kinds`, planted into random models."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, parser

from benchmarks.bug_kinds import Spec, fails
from benchmarks.random_models import BINARY, OPSET, UNARY, Builder, started
from fuzz.case import Case
from fuzz.operators.graph import bodies


@dataclass(frozen=True)
class Planted:
    """A model with a planted bug: `ideal` is the number of nodes of the smallest model that fails."""

    kind: str
    case: Case
    spec: Spec
    ideal: int


def put(builder: Builder, op_type: str, source: str) -> str:
    """A new node that reads `source` (twice if it has two inputs), and the name of its result."""
    shape = builder.shapes[source]
    return builder.add(op_type, [source, source] if op_type in BINARY else [source], shape)


def put_chain(builder: Builder, ops: Sequence[str], source: str = "") -> str:
    """A chain of nodes behind `source` (default: any tensor), and the name of its result."""
    made = source or builder.pick()
    for op_type in ops:
        made = put(builder, op_type, made)
    return made


def grow(builder: Builder, count: int) -> None:
    """So many random nodes more."""
    for _ in range(count):
        builder.grow()


#: Operators that random models do not have.
RARE = ("Softplus", "Sign", "Ceil", "Round", "Cos", "Sin", "Atan", "Floor", "Selu", "Mish", "Gelu", "LeakyRelu")


def plant(kind: str, count: int, seed: int, rare: bool) -> Planted:
    """A model of about `count` nodes with a bug of one kind; `rare` bugs are about operators seen nowhere else."""
    rng = random.Random(f"{kind} {count} {seed} {rare}")
    builder = started(seed)
    ops = rng.sample(RARE if rare else UNARY, 4)
    before = rng.randrange(count // 8, count - count // 8)
    grow(builder, before)
    spec, ideal, outputs = _PLANT[kind](builder, ops, rng, count)
    while len(builder.nodes) < count:
        builder.grow()
    case = builder.case(f"{kind}, {count} nodes, seed {seed}, {'rare' if rare else 'common'}", outputs)
    spec = {"kind": kind, **spec}
    if not fails(spec, onnx.load_model_from_string(case.model)):
        return plant(kind, count, seed + 1000, rare)
    return Planted(kind, case, spec, ideal)


Plan = tuple[Spec, int, Sequence[str]]


def _plain(length: int) -> Callable[[Builder, list[str], random.Random, int], Plan]:
    def planted(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
        put_chain(builder, ops[:length])
        return {"ops": ops[:length]}, length, ()

    return planted


def _apart(length: int) -> Callable[[Builder, list[str], random.Random, int], Plan]:
    def planted(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
        for op_type in ops[:length]:
            put(builder, op_type, builder.pick())
            grow(builder, count // 8)
        return {"ops": ops[:length]}, length, ()

    return planted


def _far(length: int, gap: int) -> Callable[[Builder, list[str], random.Random, int], Plan]:
    def planted(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
        made = builder.pick()
        for op_type in ops[:length]:
            made = put(builder, op_type, made)
            for _ in range(gap):
                made = put(builder, rng.choice(["Tanh", "Abs", "Neg"]), made)
        return {"ops": ops[:length]}, length, ()

    return planted


def _at_distance(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, [ops[0], "Tanh", "Abs", ops[1]])
    return {"ops": [ops[0], "*", "*", ops[1]]}, 4, ()


def _plant_siblings(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = builder.pick()
    put(builder, ops[0], source)
    grow(builder, 5)
    put(builder, ops[1], source)
    return {"ops": ops[:2]}, 2, ()


def _plant_diamond(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    top = put(builder, ops[0], builder.pick())
    left, right = put(builder, ops[1], top), put(builder, ops[2], top)
    builder.add("Max", [left, right], builder.shapes[top])
    return {"ops": [*ops[:3], "Max"]}, 4, ()


def _plant_even(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    present = sum(node.op_type == ops[0] for node in builder.nodes)
    wanted = 4 if present % 2 == 0 else 3
    for _ in range(wanted):
        put(builder, ops[0], builder.pick())
        for _ in range(count // 10):
            put(builder, "Tanh", builder.pick())
    return {"ops": ops[:1]}, 2, ()


def _plant_masked(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, ops[:2])
    for _ in range(3):
        put(builder, ops[2], builder.pick())
        grow(builder, count // 12)
    return {"ops": ops[:3], "mask": 1}, 2, ()


def _plant_returned(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    first = put(builder, ops[0], builder.pick())
    put(builder, ops[1], first)
    return {"ops": ops[:2]}, 2, [first]


def _plant_hidden(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    first = put(builder, ops[0], builder.pick())
    put(builder, ops[1], first)
    put(builder, "Tanh", first)
    return {"ops": ops[:2]}, 2, ()


def _plant_attribute(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = put(builder, ops[0], builder.pick())
    builder.add("Softmax", [source], builder.shapes[source], axis=0)
    return {"ops": [ops[0], "Softmax"], "name": "axis", "value": 0}, 2, ()


def _plant_rank(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    put_chain(builder, ops[:2])
    made = list(builder.shapes)[-1]
    return {"ops": ops[:2], "rank": len(builder.shapes[made])}, 2, ()


def _plant_body(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    source = builder.pick()
    shape = ",".join(map(str, builder.shapes[source]))
    text = f"""<ir_version: 10, opset_import: ["": {OPSET}]>
    g (float[{shape}] x, bool c) => (float[{shape}] y) {{
        y = If(c) < then_branch = yes () => (float[{shape}] p) {{
                a = Tanh(x)  b = {ops[0]}(a)  d = {ops[1]}(b)  e = Abs(d)  p = Neg(e) }},
            else_branch = no () => (float[{shape}] q) {{ f = Relu(x)  q = Sigmoid(f) }} > }}"""
    node = parser.parse_model(text).graph.node[0]
    prefix = f"body{len(builder.nodes)}_"
    for body in bodies(node):
        for inner in body.node:
            inner.input[:] = [source if name == "x" else prefix + name for name in inner.input]
            inner.output[:] = [prefix + name for name in inner.output]
        for info in body.output:
            info.name = prefix + info.name
    made = builder.add("If", [builder.constant(np.array(True))], builder.shapes[source])
    builder.nodes[-1].attribute.extend(node.attribute)
    put(builder, "Tanh", made)
    return {"ops": ops[:2]}, 4, ()  # the If, the pair, and what the other branch returns


def _plant_function(builder: Builder, ops: list[str], rng: random.Random, count: int) -> Plan:
    inner = ["Tanh", ops[0], ops[1], "Abs"]
    names = ["a", "b", "c", "d", "e"]
    nodes = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(inner)]
    imports = [helper.make_opsetid("", OPSET)]
    builder.functions.append(helper.make_function("own", "Block", ["a"], ["e"], nodes, imports))
    source = builder.pick()
    made = builder.add("Block", [source], builder.shapes[source], domain="own")
    put(builder, "Tanh", made)
    return {"ops": ops[:2]}, 3, ()  # the call and the pair


_PLANT: Mapping[str, Callable[[Builder, list[str], random.Random, int], Plan]] = {
    "single": _plain(1),
    "feeds": _plain(2),
    "chain3": _plain(3),
    "chain4": _plain(4),
    "distance": _at_distance,
    "upstream": _far(2, 3),
    "upstream far": _far(2, 13),
    "upstream three": _far(3, 5),
    "scattered": _apart(2),
    "scattered three": _apart(3),
    "siblings": _plant_siblings,
    "diamond": _plant_diamond,
    "even": _plant_even,
    "masked": _plant_masked,
    "returned": _plant_returned,
    "hidden": _plant_hidden,
    "attribute": _plant_attribute,
    "rank": _plant_rank,
    "body": _plant_body,
    "function": _plant_function,
}
KINDS = tuple(_PLANT)
