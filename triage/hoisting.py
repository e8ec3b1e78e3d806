"""Models without what their bodies do not need: the branch of an If in the If's own place, bodies of constants. Pure.

An operator that fails in a branch mostly fails by itself, and a reader looks for the reason in the If. What stands in a
body because a body must compute something has no part in the failure either. Whether a case still fails is asked
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies
from triage.submodel import load, mend, rename, replace_items, tensors, with_model

Shape = tuple[int, ...]


def hoisted(case: Case) -> Iterator[Case]:
    """Each branch of each If of the main graph in the place of the If, where it computes its results."""
    for at, node in enumerate(load(case).graph.node):
        if node.op_type != "If" or node.domain:
            continue
        for which, branch in enumerate(bodies(node)):
            made = {name for inner in branch.node for name in inner.output}
            found = _in_its_place(case, at, which) if {info.name for info in branch.output} <= made else None
            if found is not None:
                yield found


def _in_its_place(case: Case, at: int, which: int) -> Case | None:
    model = load(case)
    nodes = list(model.graph.node)
    branch = list(bodies(nodes[at]))[which]
    names = {info.name: outer for info, outer in zip(branch.output, nodes[at].output, strict=False)}
    if len(names) < len(branch.output):
        return None  # one result twice
    replace_items(model.graph.node, [*nodes[:at], *branch.node, *nodes[at + 1 :]])
    model.graph.initializer.extend(branch.initializer)
    rename(model, names)
    return mend(case, model, tensors(case, model))


def bare(case: Case, results: Mapping[str, Shape]) -> Iterator[Case]:
    """Each node of the main graph that has bodies with constants for all that these compute.

    `results` are the shapes of the model's results, by name: they tell those of the bodies' results.
    """
    for at, node in enumerate(load(case).graph.node):
        if not any(body.node for body in bodies(node)):
            continue
        model = load(case)
        outer = model.graph.node[at]
        shapes = _shapes(outer, results)
        if all(_emptied(body, shapes) for body in bodies(outer)):
            yield with_model(case, model)


def _shapes(node: onnx.NodeProto, results: Mapping[str, Shape]) -> list[Shape | None]:
    """The shape of each result of a body, from the end: one for each turn where they are collected along axis 0."""
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    handed_on = {"If": len(node.output), "Loop": len(node.input) - 2}.get(node.op_type)
    if handed_on is None:
        handed_on = len(node.input) - attributes.get("num_scan_inputs", 0)
    found: list[Shape | None] = []
    for at, name in enumerate(node.output):
        shape = results.get(name)
        found.append(shape if shape is None or at < handed_on else shape[1:])
    return found


def _emptied(body: onnx.GraphProto, shapes: list[Shape | None]) -> bool:
    """Put ones in the place of all that a body computes, in place; False where a shape or a type is not known."""
    made = {name for node in body.node for name in node.output}
    for info, shape in zip(reversed(body.output), reversed(shapes), strict=False):
        dims, declared = info.type.tensor_type.shape.dim, info.type.tensor_type.HasField("shape")
        if info.name in made and declared and all(dim.HasField("dim_value") for dim in dims):
            shape = tuple(dim.dim_value for dim in dims)
        kind = info.type.tensor_type.elem_type
        if info.name in made and (shape is None or kind in (0, onnx.TensorProto.STRING)):
            return False
        if info.name in made and shape is not None:
            ones = np.ones(shape, onnx.helper.tensor_dtype_to_np_dtype(kind))
            body.initializer.append(numpy_helper.from_array(ones, info.name))
    ahead = list(body.output)[: len(body.output) - len(shapes)]
    if any(info.name in made for info in ahead):
        return False
    read = {info.name for info in body.output}
    replace_items(body.node, [])
    replace_items(body.initializer, [tensor for tensor in body.initializer if tensor.name in read])
    return True
