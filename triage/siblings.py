"""The same model with another operator of the same family. Pure.

A family is what the specification describes alike: operators whose inputs stand in the same order and whose attributes
are mostly the same. The reductions are one, so are the pools, so are the recurrent cells; nobody has listed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import onnx
from onnx import defs, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.literals import Array
from triage.schemas import schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors

#: The share of attributes that two operators of one family have in common.
_ALIKE = 0.5
#: How the specification writes sizes that are multiples: ``4*hidden_size``.
_MULTIPLE = re.compile(r"(?:(\d+)\s*\*\s*)?(\w*_size)\b")
_SHAPE = re.compile(r"\[([^\[\]]*,[^\[\]]*)\]")


def siblings(case: Case) -> Iterator[tuple[str, Case]]:
    """(operator, the case with it in the place of the only node) for every other operator of the family.

    Inputs and attributes stay; one whose size the specification gives as a multiple follows it. Whether the new model
    is valid is left to the reference.
    """
    model = load(case)
    own = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
    if own is None:
        return
    node = model.graph.node[0]
    for other in _schemas(own.domain, _opset(model, own.domain)):
        if other.name != own.name and _alike(own, other) and _takes(other, node):
            yield other.name, _replaced(case, own, other)


def unary(case: Case, dtype: str) -> Iterator[tuple[str, Case]]:
    """(operator, the case with it) for every operator of one tensor that gives another one of the same type.

    For a failure of one input that hangs on a type: then what is done in that type should not matter. `dtype` is its
    name, which both input and output get.
    """
    model = load(case)
    node = model.graph.node[0]
    own = schema_of(node, model)
    if len(model.graph.node) != 1 or own is None or len([name for name in node.input if name]) != 1:
        return
    given = case.inputs.get(node.input[0])
    if not isinstance(given, np.ndarray) or dtype not in np.sctypeDict:
        return
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    for other in _schemas("", _opset(model, "")):
        if other.name != own.name and _is_unary(other) and len(model.graph.output) == 1:
            changed = load(case)
            changed.graph.node[0].op_type = other.name
            changed.graph.node[0].domain = ""
            del changed.graph.node[0].attribute[:]
            for info in (*changed.graph.input, *changed.graph.output):
                info.type.tensor_type.elem_type = kind
            with np.errstate(all="ignore"):
                yield other.name, with_tensors(case, changed, {node.input[0]: given.astype(dtype)})


def _opset(model: onnx.ModelProto, domain: str) -> int:
    return next((one.version for one in model.opset_import if one.domain == domain), 1)


@cache
def _schemas(domain: str, opset: int) -> tuple[OpSchema, ...]:
    """The operators of a domain as this opset has them, by name."""
    names = sorted({one.name for one in defs.get_all_schemas_with_history() if one.domain == domain})
    found = []
    for name in names:
        try:
            schema = defs.get_schema(name, opset, domain)
        except defs.SchemaError:  # newer than the opset
            continue
        if not schema.deprecated and schema.support_level == OpSchema.SupportType.COMMON:
            found.append(schema)
    return tuple(found)


def _alike(own: OpSchema, other: OpSchema) -> bool:
    mine, theirs = set(own.attributes), set(other.attributes)
    together = mine | theirs
    if together and len(mine & theirs) < _ALIKE * len(together):
        return False
    pairs = list(zip(own.inputs, other.inputs, strict=False))
    if any(one.option != two.option for one, two in pairs):
        return False
    unequal = len(own.inputs) != len(other.inputs)
    named = all(one.name == two.name for one, two in pairs)
    return (named and len(pairs) > 1) or (not unequal and (len(pairs) == 1 or own.max_input == other.max_input))


def _takes(other: OpSchema, node: onnx.NodeProto) -> bool:
    """Whether the sibling knows every input, attribute and output of the node, and misses none."""
    known = all(one.name in other.attributes for one in node.attribute)
    missing = [one for one in other.attributes.values() if one.required] if known else []
    given = {one.name for one in node.attribute}
    inputs = other.min_input <= len(node.input) <= other.max_input
    return known and inputs and len(node.output) <= other.max_output and all(one.name in given for one in missing)


def _replaced(case: Case, own: OpSchema, other: OpSchema) -> Case:
    model = load(case)
    node = model.graph.node[0]
    node.op_type = other.name
    open_shapes(model)
    arrays = tensors(case, model)
    changed = {}
    for name, one, two in zip(node.input, own.inputs, other.inputs, strict=False):
        factors = _factors(one.description, two.description)
        if name in arrays and factors:
            changed[name] = _resized(arrays[name], factors)
    return with_tensors(case, model, changed)


def _factors(one: str, two: str) -> dict[int, float]:
    """By axis how much larger a tensor must be, where both descriptions give a shape with multiples of one size."""
    shapes = [_SHAPE.search(text) for text in (one, two)]
    if not all(shapes):
        return {}
    axes = [shape.group(1).split(",") for shape in shapes if shape]
    found = {}
    for axis, pair in enumerate(zip(*axes, strict=False)):
        first, second = (_MULTIPLE.search(text) for text in pair)
        if first and second and first.group(2) == second.group(2) and first.group(1) != second.group(1):
            found[axis] = int(second.group(1) or 1) / int(first.group(1) or 1)
    return found


def _resized(array: Array, factors: dict[int, float]) -> Array:
    shape = [round(size * factors.get(axis, 1)) for axis, size in enumerate(array.shape)]
    return np.resize(array, shape)


def _is_unary(schema: OpSchema) -> bool:
    """Whether an operator makes one tensor of one, of the same type, and needs nothing else."""
    if (schema.min_input, schema.max_input, schema.min_output) != (1, 1, 1) or len(schema.outputs) != 1:
        return False
    plain = not any(one.required for one in schema.attributes.values())
    return plain and schema.inputs[0].type_str == schema.outputs[0].type_str
