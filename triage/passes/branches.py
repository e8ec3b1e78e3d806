"""Branches of an If that make constants and nothing else: the one that is not taken first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.wire import Value
from triage.submodel import all_nodes, load, replace_items, with_model
from triage.wiring import constant

KINDS = ("onnx",)
_BRANCHES = ("then_branch", "else_branch")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Each branch of each If with a constant for every result, as long as neither is like that."""
    model = load(case)
    main = set().union(*(node.output for node in model.graph.node))
    for at, node in enumerate(all_nodes(model)):
        if node.op_type == "If" and not node.domain and not any(_is_bare(attribute.g) for attribute in node.attribute):
            known = values if main.issuperset(node.output) else {}  # of what bodies compute nothing is recorded
            condition = known.get(node.input[0])
            taken = isinstance(condition, np.ndarray) and condition.size == 1 and bool(condition.item())
            for name in reversed(_BRANCHES) if taken else _BRANCHES:
                candidate = _emptied(case, at, name, known)
                if candidate is not None:
                    yield candidate


def _is_bare(branch: onnx.GraphProto) -> bool:
    return all(node.op_type == "Constant" for node in branch.node)


def _emptied(case: Case, at: int, name: str, values: Mapping[str, Value]) -> Case | None:
    model = load(case)
    node = all_nodes(model)[at]
    for attribute in node.attribute:
        if attribute.name == name:
            results = list(zip(attribute.g.output, node.output, strict=False))
            made = [constant(info.name, _type(info, values.get(outer))) for info, outer in results]
            nodes = [node for node in made if node is not None]
            if len(nodes) == len(attribute.g.output):
                replace_items(attribute.g.node, nodes)
                replace_items(attribute.g.initializer, [])
                replace_items(attribute.g.value_info, [])
                return with_model(case, model)
    return None


def _type(info: onnx.ValueInfoProto, value: Value) -> onnx.TypeProto:
    """The declared type of a branch's result, with the sizes that the If's result really has where they are open."""
    kind = onnx.TypeProto()
    kind.CopyFrom(info.type)
    dims = kind.tensor_type.shape.dim
    if isinstance(value, np.ndarray) and kind.HasField("tensor_type") and len(dims) in (0, value.ndim):
        replace_items(dims, [onnx.TensorShapeProto.Dimension(dim_value=size) for size in value.shape])
    return kind
