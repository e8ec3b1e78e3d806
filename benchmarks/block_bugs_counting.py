"""Six kinds of bugs in models of blocks that count, measure depth, or look at what is returned and what is shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from benchmarks.block_bugs import Kind, Model, constants_of, pairs, shapes_of
from benchmarks.block_models import Blocks
from benchmarks.bug_kinds import view


def _plant_zero_point(blocks: Blocks) -> None:
    tensor = blocks.pick()
    for at, dtype in ((0, np.int8), (3, np.int8), (7, np.uint8)):
        scale, zero = blocks.constant(np.float32(0.05)), blocks.constant(dtype(at))
        whole = blocks.add("QuantizeLinear", tensor, scale, zero)
        blocks.add("Abs", blocks.add("DequantizeLinear", whole, scale, zero))
        blocks.grow(4)


def _zero_point(model: Model) -> bool:
    """To eight bits and back with a zero point of three."""
    constants = constants_of(model)
    backs = [back for _, back in pairs(view(model), "QuantizeLinear", "DequantizeLinear")]
    found = [constants.get(back.input[2]) for back in backs if len(back.input) > 2]
    return any(zero is not None and zero.size == 1 and zero.item() == 3 for zero in found)


def _plant_deep(blocks: Blocks) -> None:
    made = blocks.pick(2)
    for op in ("Tanh", "Abs", "Sqrt", "Exp", "Neg", "Softplus"):
        made = blocks.add(op, made)
    blocks.add("Softmax", made, axis=-1)


def _deep(model: Model) -> bool:
    """A path of seven nodes, and a softmax anywhere."""
    depths: dict[str, int] = {}
    for node in model.graph.node:
        depth = 1 + max((depths.get(name, 0) for name in node.input), default=0)
        depths |= dict.fromkeys(node.output, depth)
    return bool(view(model).of("Softmax")) and max(depths.values(), default=0) >= 7


def _plant_returned(blocks: Blocks) -> None:
    tensor = blocks.pick(2)
    blocks.add("Cast", blocks.add("ArgMax", tensor, axis=0), to=TensorProto.INT32)
    blocks.grow(5)
    blocks.add("Concat", tensor, blocks.add("Neg", tensor), axis=0)


def _returned(model: Model) -> bool:
    """Three results, among them whole numbers of 32 bits and a row of tensors."""
    seen, kinds = view(model), {info.type.tensor_type.elem_type for info in model.graph.output}
    rows = any(seen.outputs.intersection(node.output) for node in seen.of("Concat"))
    return len(seen.outputs) >= 3 and TensorProto.INT32 in kinds and rows


def _plant_more(blocks: Blocks) -> None:
    for _ in range(sum(node.op_type == "Relu" for node in blocks.nodes) + 3):
        blocks.add("Softsign", blocks.add("Erf", blocks.pick()))
    for _ in range(2):
        blocks.add("Relu", blocks.pick())


def _more(model: Model) -> bool:
    """More nodes of one operator than of another, and two of that."""
    seen = view(model)
    return len(seen.of("Erf")) > len(seen.of("Relu")) >= 2


def _plant_products(blocks: Blocks) -> None:
    for _ in range(5):
        tensor = blocks.pick(2)
        blocks.add("MatMul", tensor, blocks.constant(blocks.draw(blocks.values[tensor].shape[-1], 5)))
        blocks.grow(3)


def _products(model: Model) -> bool:
    """Five products of matrices with two axes."""
    shapes = shapes_of(model)
    return sum(len(shapes.get(node.output[0], ())) == 2 for node in view(model).of("MatMul")) >= 5


def _plant_shared(blocks: Blocks) -> None:
    tensors = [blocks.add("Sin", "in2"), "in2", blocks.add("Cos", "in2")]
    weight = blocks.constant(blocks.draw(8, 4))
    for tensor in tensors:
        blocks.add("MatMul", tensor, weight)
        blocks.grow(6)


def _shared(model: Model) -> bool:
    """One constant that three products read."""
    constants = constants_of(model)
    counts = Counter(name for node in view(model).of("MatMul") for name in node.input if name in constants)
    return max(counts.values(), default=0) >= 3


COUNTING: Mapping[str, Kind] = {
    "zero point": Kind(_plant_zero_point, _zero_point, 2),
    "seven deep": Kind(_plant_deep, _deep, 7),
    "types returned": Kind(_plant_returned, _returned, 3),
    "more of one": Kind(_plant_more, _more, 5),
    "five products": Kind(_plant_products, _products, 5),
    "shared weight": Kind(_plant_shared, _shared, 3),
}
