"""Branches of an If that make constants and nothing else: the one that is not taken first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import helper

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
                candidate = _emptied(case, at, name, known, values)
                if candidate is not None:
                    yield candidate


def _is_bare(branch: onnx.GraphProto) -> bool:
    return all(node.op_type == "Constant" for node in branch.node)


def _emptied(case: Case, at: int, name: str, known: Mapping[str, Value], values: Mapping[str, Value]) -> Case | None:
    model = load(case)
    node = all_nodes(model)[at]
    for attribute in node.attribute:
        if attribute.name == name:
            results = list(zip(attribute.g.output, node.output, strict=False))
            types = [_closed(_type(info, known.get(outer)), values) for info, outer in results]
            made = [constant(info.name, kind) for (info, _), kind in zip(results, types, strict=True)]
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


def _closed(kind: onnx.TypeProto, values: Mapping[str, Value]) -> onnx.TypeProto:
    """The type with the sizes that most recorded tensors of its dtype and rank have, where its own are open.

    In a body nothing is recorded; what it computes is mostly like what it is given. The reference has the last word.
    """
    dims = kind.tensor_type.shape.dim
    if not dims or all(dim.HasField("dim_value") for dim in dims):
        return kind
    dtype = helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
    arrays = [value for value in values.values() if isinstance(value, np.ndarray)]
    shapes = Counter(array.shape for array in arrays if array.dtype == dtype and array.ndim == len(dims))
    for shape, _ in shapes.most_common(1):
        replace_items(dims, [onnx.TensorShapeProto.Dimension(dim_value=size) for size in shape])
    return kind
