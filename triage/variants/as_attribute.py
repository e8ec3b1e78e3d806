"""What a newer version of an operator reads as an input, as the attribute that it was in an older one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx
from onnx import AttributeProto, defs, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.passes.opset import default_opset
from triage.schemas import formal_inputs, schema_of
from triage.submodel import load, replace_items, tensors, with_model
from triage.variants import Variant
from triage.variants.relations import KIND

#: How a condition ends.
TEXT = " as an input"
_LISTS: Mapping[OpSchema.AttrType, Callable[[float], int | float]] = {
    OpSchema.AttrType.INTS: int,
    OpSchema.AttrType.FLOATS: float,
}
_NUMBERS: Mapping[OpSchema.AttrType, Callable[[float], int | float]] = {
    OpSchema.AttrType.INT: int,
    OpSchema.AttrType.FLOAT: float,
}


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node in the version before its operator's, for each constant that is an attribute there."""
    model = load(case)
    node = model.graph.node[0] if len(model.graph.node) == 1 else None
    schema = schema_of(node, model) if node is not None else None
    if node is None or schema is None or schema.since_version < 2 or node.domain not in ("", "ai.onnx"):
        return
    older = _schema(node.op_type, schema.since_version - 1)
    if older is None or older.deprecated:
        return
    known = tensors(case, model)
    for name, formal in zip(node.input, formal_inputs(node, model), strict=False):
        value = known.get(name)
        kind = older.attributes.get(formal.name)
        if value is None or kind is None or name in case.inputs or (made := _attribute(kind, value)) is None:
            continue
        sentence = f"In opset {schema.since_version - 1}, with `{formal.name}` as an attribute, the same model passes."
        yield Variant(KIND, f"{formal.name}{TEXT}", sentence, (_older(case, name, made, schema.since_version - 1),))


def _schema(operator: str, version: int) -> OpSchema | None:
    try:
        return defs.get_schema(operator, version)
    except defs.SchemaError:
        return None


def _attribute(kind: OpSchema.Attribute, value: np.ndarray) -> AttributeProto | None:
    if kind.type in _LISTS and value.ndim == 1 and value.size:
        return helper.make_attribute(kind.name, [_LISTS[kind.type](one) for one in value.tolist()])
    if kind.type in _NUMBERS and value.size == 1:
        return helper.make_attribute(kind.name, _NUMBERS[kind.type](value.item()))
    return None


def _older(case: Case, name: str, attribute: AttributeProto, version: int) -> Case:
    """The case with an attribute in the place of its constant `name`, in another version of the operator set."""
    model = load(case)
    node = model.graph.node[0]
    node.input[:] = [each for each in node.input if each != name]
    node.attribute.append(attribute)
    replace_items(model.graph.initializer, [each for each in model.graph.initializer if each.name != name])
    if default_opset(case) > version:
        replace_items(model.opset_import, [_import(each, version) for each in model.opset_import])
    return with_model(case, model)


def _import(given: onnx.OperatorSetIdProto, version: int) -> onnx.OperatorSetIdProto:
    return helper.make_opsetid(given.domain, version) if given.domain in ("", "ai.onnx") else given
