"""Fifteen more kinds of bugs in models of blocks: none was looked at while the reducer was tuned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto, helper

from benchmarks.block_bugs import (
    Kind,
    Model,
    add_function,
    bodies_of,
    branch,
    chained,
    constants_of,
    even_axis,
    loop_body,
    pairs,
    shapes_of,
)
from benchmarks.block_models import OWN, Blocks
from benchmarks.bug_kinds import view
from fuzz.operators.graph import bodies


def _plant_border(blocks: Blocks) -> None:
    image = blocks.pick(4)
    for border in ([0] * 8, [0, 0, 1, 1, 0, 0, 1, 1]):
        made = blocks.add("Pad", image, blocks.constant(np.array(border)))
        blocks.add("MaxPool", made, kernel_shape=[2, 2])
        blocks.grow(4)


def _border(model: Model) -> bool:
    """A pool over a constant border that is not empty."""
    constants = constants_of(model)
    return any(np.any(constants.get(pad.input[1], 0)) for pad, _ in pairs(view(model), "Pad", "MaxPool"))


def _plant_backwards(blocks: Blocks) -> None:
    tensor = blocks.pick(2, 3)
    ends = [blocks.constant(np.array([number])) for number in (-1, -99, 1, -1)]
    made = blocks.add("Slice", tensor, *ends)
    blocks.add("Concat", made, tensor, axis=0)


def _backwards(model: Model) -> bool:
    """A slice with a negative constant step in a row with others."""
    constants = constants_of(model)
    found = [part for part, _ in pairs(view(model), "Slice", "Concat") if len(part.input) > 4]
    return any(np.any(constants.get(part.input[4], 0) < np.array(0)) for part in found)


def _plant_open(blocks: Blocks) -> None:
    tensor = blocks.pick(3)
    made = blocks.add("Reshape", tensor, blocks.constant(np.array([0, -1])))
    blocks.add("Transpose", made, perm=[1, 0])


def _open(model: Model) -> bool:
    """A reshape that leaves a size open, turned."""
    constants = constants_of(model)
    return any(
        np.any(constants.get(made.input[1], 0) == np.array(-1))
        for made, _ in pairs(view(model), "Reshape", "Transpose")
    )


def _plant_four(blocks: Blocks) -> None:
    for _ in range(6):
        blocks.add("Sinh", blocks.add("Tanh", blocks.pick()))
        blocks.grow(4)


def _four(model: Model) -> bool:
    """An even number, four or more."""
    count = len(view(model).of("Sinh"))
    return count >= 4 and count % 2 == 0


def _plant_more(blocks: Blocks) -> None:
    for op in ("Sin", "Sin", "Cos", "Sin", "Cos", "Sin"):
        blocks.add(op, blocks.pick())
        blocks.grow(5)


def _more(model: Model) -> bool:
    """More of one than of the other, and two of that."""
    sines, cosines = (len(view(model).of(op)) for op in ("Sin", "Cos"))
    return sines > cosines >= 2


def _plant_halves(blocks: Blocks) -> None:
    one, other = blocks.add("Split", even_axis(blocks), results=2, axis=-1, num_outputs=2)
    blocks.grow(3)
    blocks.add("Sub", other, one)


def _halves(model: Model) -> bool:
    """The second half less the first."""
    return any(
        list(less.input) == [split.output[1], split.output[0]] for split, less in pairs(view(model), "Split", "Sub")
    )


def _plant_selected(blocks: Blocks) -> None:
    tensor = blocks.pick()
    one, other = blocks.add("Softsign", tensor), blocks.add("HardSigmoid", tensor)
    blocks.grow(4)
    blocks.add("Where", blocks.add("Less", one, other), one, other)


def _selected(model: Model) -> bool:
    """A choice between two computed tensors that are compared for it."""
    seen = view(model)
    return any(
        list(which.input[1:]) == list(less.input) and len(seen.feeders(which)) == 3
        for less, which in pairs(seen, "Less", "Where")
    )


def _plant_scan(blocks: Blocks) -> None:
    tensor, name = blocks.pick(2), f"s{len(blocks.nodes)}"
    row = blocks.values[tensor].shape[1:]
    nodes = chained(["Abs", "Sqrt", "Reciprocal", "Tanh"], f"{name}_x", f"{name}_y")
    for node in nodes:
        node.input[:] = [n if n.startswith(name) else f"{name}{n}" for n in node.input]
        node.output[:] = [n if n.startswith(name) else f"{name}{n}" for n in node.output]
    source, result = ([helper.make_tensor_value_info(f"{name}_{end}", TensorProto.FLOAT, row)] for end in "xy")
    body = helper.make_graph(nodes, name, source, result)
    blocks.add("Relu", blocks.add("Scan", tensor, body=body, num_scan_inputs=1))


def _in_scan(model: Model) -> bool:
    return any(body.has_chain(["Sqrt", "Reciprocal"]) for body in bodies_of(model, "Scan"))


def _plant_if_in_loop(blocks: Blocks) -> None:
    tensor, name = blocks.pick(), f"l{len(blocks.nodes)}"
    shape = blocks.values[tensor].shape
    inner = helper.make_node(
        "If",
        [f"{name}_c"],
        [f"{name}_n"],
        then_branch=branch(f"{name}_t", f"{name}_ty", ["Tanh", "Round", "Abs"], f"{name}_v", shape),
        else_branch=branch(f"{name}_e", f"{name}_ey", ["Sigmoid"], f"{name}_v", shape),
    )
    body = loop_body(blocks, ["Tanh", "Abs"], shape, [inner])
    body.node[2].input[0] = f"{name}_n"
    count, go = blocks.constant(np.array(2)), blocks.constant(np.array(True))
    blocks.add("Neg", blocks.add("Loop", count, go, tensor, body=body))


def _if_in_loop(model: Model) -> bool:
    """A rounding in a branch in a loop."""
    loops = [body for node in model.graph.node if node.op_type == "Loop" for body in bodies(node)]
    branches = [branch for body in loops for node in body.node for branch in bodies(node)]
    return any(node.op_type == "Round" for branch in branches for node in branch.node)


def _plant_twice(blocks: Blocks) -> None:
    nodes = [helper.make_node("Tanh", ["x"], ["a"]), helper.make_node("Min", ["a", "z"], ["b"])]
    nodes.append(helper.make_node("Abs", ["b"], ["y"]))
    add_function(blocks, "OwnJoin", nodes, ["x", "z"])
    tensor = blocks.pick()
    turned = blocks.add("Neg", tensor)
    for other in (turned, tensor, turned):
        blocks.add("OwnJoin", tensor, other, domain=OWN)
        blocks.grow(6)


def _twice(model: Model) -> bool:
    """A function with a join in it that is given one tensor twice."""
    joins = {function.name for function in model.functions if any(node.op_type == "Min" for node in function.node)}
    return any(node.op_type in joins and len(set(node.input)) == 1 < len(node.input) for node in model.graph.node)


def _plant_two_pairs(blocks: Blocks) -> None:
    blocks.add("Ceil", blocks.add("HardSwish", blocks.pick()))
    blocks.grow(15)
    blocks.add("Floor", blocks.add("Mish", blocks.pick()))


def _two_pairs(model: Model) -> bool:
    seen = view(model)
    return seen.has_chain(["HardSwish", "Ceil"]) and seen.has_chain(["Mish", "Floor"])


def _plant_area(blocks: Blocks) -> None:
    blocks.add("GlobalAveragePool", blocks.add("AveragePool", "in0", kernel_shape=[3, 3]))
    blocks.grow(5)
    blocks.add("GlobalAveragePool", blocks.pick(4))


def _area(model: Model) -> bool:
    """A mean over an image of five rows or more."""
    shapes = shapes_of(model)
    return any((*shapes.get(node.input[0], ()), 0, 0, 0)[2] >= 5 for node in view(model).of("GlobalAveragePool"))


def _plant_returned(blocks: Blocks) -> None:
    made = blocks.add("LogSoftmax", blocks.pick(), axis=-1)
    blocks.add("Exp", made)
    blocks.returned.append(made)


def _returned(model: Model) -> bool:
    """A returned result that is read as well."""
    seen = view(model)
    return any(soft.output[0] in seen.outputs for soft, _ in pairs(seen, "LogSoftmax", "Exp"))


def _plant_shared(blocks: Blocks) -> None:
    tokens = blocks.pick(3, 2)
    weights = blocks.constant(blocks.draw(blocks.values[tokens].shape[-1], 5) * np.float32(0.3))
    blocks.add("MatMul", tokens, weights)
    blocks.grow(10)
    blocks.add("MatMul", blocks.add("Sigmoid", tokens), weights)


def _shared(model: Model) -> bool:
    """Two products with one constant matrix."""
    constants = constants_of(model)
    weights = [node.input[1] for node in view(model).of("MatMul") if node.input[1] in constants]
    return len(weights) > len(set(weights))


def _plant_above(blocks: Blocks) -> None:
    made = blocks.add("CumSum", blocks.pick(), blocks.constant(np.array(0)))
    for op in ("Tanh", "Abs", "Softsign", "Neg", "Sigmoid"):
        made = blocks.add(op, made)
    blocks.add("ReduceL2", made, keepdims=1)


def _above(model: Model) -> bool:
    """A sum of squares of what a running sum made, at whatever distance."""
    seen = view(model)
    return any(node.op_type == "CumSum" for last in seen.of("ReduceL2") for node in seen.above(last))


HELD_OUT: Mapping[str, Kind] = {
    "border": Kind(_plant_border, _border, 2),
    "backwards": Kind(_plant_backwards, _backwards, 2),
    "open size": Kind(_plant_open, _open, 2),
    "even count": Kind(_plant_four, _four, 4),
    "more than": Kind(_plant_more, _more, 5),
    "halves": Kind(_plant_halves, _halves, 2),
    "selected": Kind(_plant_selected, _selected, 4),
    "scan": Kind(_plant_scan, _in_scan, 3),
    "branch in loop": Kind(_plant_if_in_loop, _if_in_loop, 3),
    "given twice": Kind(_plant_twice, _twice, 2),
    "pairs apart": Kind(_plant_two_pairs, _two_pairs, 4),
    "area": Kind(_plant_area, _area, 1),
    "returned and read": Kind(_plant_returned, _returned, 2),
    "shared weights": Kind(_plant_shared, _shared, 2),
    "far above": Kind(_plant_above, _above, 2),
}
