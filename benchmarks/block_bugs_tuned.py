"""Fifteen kinds of bugs in models of blocks that were looked at while the reducer was tuned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from benchmarks.block_bugs import (
    Kind,
    Model,
    add_function,
    attribute_of,
    bodies_of,
    branch,
    called,
    chained,
    constants_of,
    even_axis,
    loop_body,
    pairs,
)
from benchmarks.block_models import OWN, Blocks
from benchmarks.bug_kinds import View, view


def _plant_group(blocks: Blocks) -> None:
    image = blocks.pick(4)
    channels = blocks.values[image].shape[1]
    made = blocks.add("Conv", image, blocks.constant(blocks.draw(channels, channels // 2, 1, 1)), group=2)
    rows = [blocks.constant(np.abs(blocks.draw(channels))) for _ in range(4)]
    blocks.add("BatchNormalization", made, *rows)


def _group(model: Model) -> bool:
    """A grouped convolution before a normalisation."""
    return any(attribute_of(conv, "group", 1) > 1 for conv, _ in pairs(view(model), "Conv", "BatchNormalization"))


def _plant_second(blocks: Blocks) -> None:
    for at in (0, 1):
        parts = blocks.add("Split", even_axis(blocks), results=2, axis=-1, num_outputs=2)
        blocks.add("Softmax", parts[at], axis=-1)
        blocks.grow(4)


def _second(model: Model) -> bool:
    """A softmax of the second part of a split."""
    return any(split.output[1] in soft.input for split, soft in pairs(view(model), "Split", "Softmax"))


def _plant_positions(blocks: Blocks) -> None:
    values, positions = blocks.add("TopK", blocks.pick(2, 2), blocks.constant(np.array([2])), results=2, axis=-1)

    blocks.add("Softsign", values)
    blocks.add("Cast", positions, to=TensorProto.FLOAT)


def _positions(model: Model) -> bool:
    """The positions of the largest elements as real numbers."""
    return any(top.output[1:2] == cast.input[:1] for top, cast in pairs(view(model), "TopK", "Cast"))


def _plant_scale(blocks: Blocks) -> None:
    for scale in (0.25, 3.0, 0.75):
        blocks.add("Mul", blocks.pick(), blocks.constant(np.float32(scale)))
        blocks.grow(5)


def _scale(model: Model) -> bool:
    """A product with a constant of one element that is above one."""
    constants = constants_of(model)
    scales = [constants[name] for node in view(model).of("Mul") for name in node.input if name in constants]
    return any(scale.size == 1 and scale.item() > 1 for scale in scales)


def _plant_odd(blocks: Blocks) -> None:
    present = sum(node.op_type == "Erf" for node in blocks.nodes)
    for _ in range(5 if present % 2 == 0 else 4):
        blocks.add("Erf", blocks.pick())
        blocks.grow(6)


def _odd(model: Model) -> bool:
    count = len(view(model).of("Erf"))
    return count >= 3 and count % 2 == 1


def _plant_unless(blocks: Blocks) -> None:
    tokens = blocks.pick(3, 2)
    made = blocks.add("Transpose", tokens, perm=[1, 0, 2])
    blocks.add("Ceil", blocks.add("Floor", made))
    blocks.add("Round", blocks.add("Ceil", blocks.pick()))
    blocks.add("Round", blocks.pick())


def _unless(model: Model) -> bool:
    """A floor before a ceiling, unless just one node rounds."""
    seen = view(model)
    return seen.has_chain(["Floor", "Ceil"]) and len(seen.of("Round")) != 1


def _plant_skip(blocks: Blocks) -> None:
    tensor = blocks.add("Selu", blocks.pick())
    blocks.grow(6)
    made = blocks.add("HardSwish", tensor)
    blocks.grow(3)
    blocks.add("Max", made, tensor)


def _skip(model: Model) -> bool:
    """A node beside its own detour."""
    seen = view(model)
    return any(swish.input[0] in top.input for swish, top in pairs(seen, "HardSwish", "Max"))


def _plant_branch(blocks: Blocks) -> None:
    tensor = blocks.pick()
    shape, name = blocks.values[tensor].shape, f"b{len(blocks.nodes)}"
    most = blocks.add("ReduceMax", tensor, keepdims=0)
    flag = blocks.add("Less", most, blocks.constant(np.float32(1e6)))
    bodies_ = {
        "then_branch": branch(f"{name}_t", f"{name}_y", ["Abs", "Erf", "Sqrt", "Tanh"], tensor, shape),
        "else_branch": branch(f"{name}_e", f"{name}_z", ["Neg", "Exp"], tensor, shape),
    }
    blocks.add("Elu", blocks.add("If", flag, **bodies_))


def _in_branch(model: Model) -> bool:
    return any(body.has_chain(["Erf", "Sqrt"]) for body in bodies_of(model, "If"))


def _plant_loop(blocks: Blocks) -> None:
    tensor = blocks.pick()
    body = loop_body(blocks, ["Tanh", "Softplus", "Atan", "Neg"], blocks.values[tensor].shape)
    count, go = blocks.constant(np.array(2)), blocks.constant(np.array(True))
    blocks.add("Relu", blocks.add("Loop", count, go, tensor, body=body))


def _in_loop(model: Model) -> bool:
    return any(body.has_chain(["Softplus", "Atan"]) for body in bodies_of(model, "Loop"))


def _plant_nested(blocks: Blocks) -> None:
    add_function(blocks, "OwnCore", chained(["Abs", "Sqrt", "Log", "Tanh"]))
    add_function(blocks, "OwnPlain", chained(["Abs", "Tanh"]))
    add_function(blocks, "OwnOuter", chained(["Exp", "OwnCore", "Sigmoid"]))
    for name in ("OwnPlain", "OwnOuter", "OwnPlain"):
        blocks.add("Tanh", blocks.add(name, blocks.pick(), domain=OWN))
        blocks.grow(5)


def _nested(model: Model) -> bool:
    """A pair in a function."""
    return any(View(list(function.node)).has_chain(["Sqrt", "Log"]) for function in called(model))


def _plant_three(blocks: Blocks) -> None:
    for op in ("Sin", "Cos", "Mish"):
        blocks.add(op, blocks.pick())
        blocks.grow(8)


def _three(model: Model) -> bool:
    return all(view(model).of(op) for op in ("Sin", "Cos", "Mish"))


def _plant_whole(blocks: Blocks) -> None:
    tensor = blocks.pick()
    for to in (TensorProto.INT32, TensorProto.INT8):
        whole = blocks.add("Cast", tensor, to=to)
        blocks.add("Sign", blocks.add("Cast", whole, to=TensorProto.FLOAT))
        blocks.grow(4)


def _whole(model: Model) -> bool:
    """To whole numbers of eight bits and back."""
    return any(attribute_of(one, "to") == TensorProto.INT8 for one, _ in pairs(view(model), "Cast", "Cast"))


def _plant_wide(blocks: Blocks) -> None:
    tensor = blocks.pick()
    blocks.add("Concat", tensor, blocks.add("Neg", tensor), blocks.add("Tanh", tensor), axis=0)


def _wide(model: Model) -> bool:
    """Three tensors in a row, of which one was turned."""
    return any(len(concat.input) >= 3 for _, concat in pairs(view(model), "Neg", "Concat"))


def _plant_readers(blocks: Blocks) -> None:
    tensor = blocks.pick()
    blocks.add("Softmax", tensor, axis=0)
    blocks.grow(12)
    blocks.add("ReduceMin", tensor, keepdims=1)


def _readers(model: Model) -> bool:
    """One tensor read by a softmax and for its smallest element."""
    seen = view(model)
    return any(soft.input[0] == least.input[0] for soft in seen.of("Softmax") for least in seen.of("ReduceMin"))


def _plant_behind(blocks: Blocks) -> None:
    made = blocks.add("InstanceNormalization", blocks.pick(4), *_rows(blocks))
    for op in ("Relu", "Abs"):
        made = blocks.add(op, made)
    blocks.add("Gelu", made)


def _rows(blocks: Blocks) -> list[str]:
    return [blocks.constant(np.abs(blocks.draw(4))) for _ in range(2)]


def _behind(model: Model) -> bool:
    """Just three steps from one to the other."""
    return view(model).has_chain(["InstanceNormalization", "*", "*", "Gelu"])


TUNED: Mapping[str, Kind] = {
    "grouped": Kind(_plant_group, _group, 2),
    "second result": Kind(_plant_second, _second, 2),
    "positions": Kind(_plant_positions, _positions, 2),
    "scale": Kind(_plant_scale, _scale, 1),
    "odd count": Kind(_plant_odd, _odd, 3),
    "unless": Kind(_plant_unless, _unless, 2),
    "detour": Kind(_plant_skip, _skip, 2),
    "branch": Kind(_plant_branch, _in_branch, 3),
    "loop": Kind(_plant_loop, _in_loop, 3),
    "nested function": Kind(_plant_nested, _nested, 3),
    "three anywhere": Kind(_plant_three, _three, 3),
    "whole numbers": Kind(_plant_whole, _whole, 2),
    "wide row": Kind(_plant_wide, _wide, 2),
    "two readers": Kind(_plant_readers, _readers, 2),
    "three steps": Kind(_plant_behind, _behind, 4),
}
