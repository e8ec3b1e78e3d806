"""Models whose branches are forced: what no run takes must be a valid model as well, since compilers convert all of it.

The reference evaluates the branch that is taken, and a Gather beyond the end of its data in the other one is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import onnx
from onnx import numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies
from triage.submodel import all_nodes, load, open_shapes, with_model

#: Which branch is taken at even and at odd depth; the last two only where one If is in another.
_WAYS = ((True, True), (False, False), (True, False), (False, True))
_NESTED = 2


def forced(case: Case) -> list[Case]:
    """The case with each If of its graphs forced, one way and the other; none for a model without. Those of functions,
    which see nothing from outside, stay as they are."""
    if case.kind != "onnx":
        return []
    depth = max((at for _, at in _choices(load(case).graph.node)), default=-1) + 1
    return [_taking(case, way) for way in _WAYS[: len(_WAYS) if depth >= _NESTED else 2]] if depth else []


def _choices(nodes: Iterable[onnx.NodeProto], depth: int = 0) -> Iterator[tuple[onnx.NodeProto, int]]:
    """Each If with how many others it stands in."""
    for node in nodes:
        chooses = node.op_type == "If" and node.domain in ("", "ai.onnx")
        if chooses:
            yield node, depth
        for body in bodies(node):
            yield from _choices(body.node, depth + chooses)


def _taking(case: Case, way: tuple[bool, bool]) -> Case:
    model = load(case)
    names = {name for node in all_nodes(model) for name in (*node.input, *node.output)}
    found = list(_choices(model.graph.node))
    for taken in (True, False):
        name = f"take_{taken}"
        while name in names:
            name += "_"
        for node, depth in found:
            if way[depth % 2] is taken:
                node.input[0] = name
        model.graph.initializer.append(numpy_helper.from_array(np.array(taken), name))
    open_shapes(model)
    return with_model(case, model)
