"""What the ONNX specification says of a node: its formal parameters, and which attributes are at their defaults."""

from __future__ import annotations

import re

import onnx
from onnx import AttributeProto
from onnx.defs import OpSchema

from triage.drawing import dtype_text

#: Attributes whose number is a tensor's element type.
TYPE_ATTRIBUTES = frozenset(
    ("dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type", "to")
)
_WORD = re.compile(r"[\"'`](\w+)[\"'`]")
#: Words in the names of integer attributes that are more than flags, whatever their defaults.
_NUMBERS = frozenset(("axis", "dims", "group", "groups", "heads", "size"))
#: Operators whose whole meaning is the two types.
CASTS = ("Cast", "CastLike", "BitCast")
_SHOWN = (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS, AttributeProto.FLOATS)


def schema_of(node: onnx.NodeProto, model: onnx.ModelProto) -> OpSchema | None:
    """The schema that holds for a node, None for an operator that the installed onnx does not know."""
    opset = next((one.version for one in model.opset_import if one.domain == node.domain), 1)
    try:
        return onnx.defs.get_schema(node.op_type, opset, node.domain)
    except onnx.defs.SchemaError:
        return None


def formal_inputs(node: onnx.NodeProto, model: onnx.ModelProto) -> list[OpSchema.FormalParameter]:
    """The formal parameter of each input of a node; fewer where the operator is unknown or takes a list."""
    schema = schema_of(node, model)
    return list(schema.inputs)[: len(node.input)] if schema else []


def output_name(node: onnx.NodeProto, model: onnx.ModelProto, position: int) -> str:
    """What the specification calls an output, "" where there is but one or it has no name."""
    schema = schema_of(node, model)
    if schema is None or len(schema.outputs) < 2 or position >= len(schema.outputs):
        return ""
    return str(schema.outputs[position].name)


def is_default(attribute: AttributeProto, known: OpSchema.Attribute) -> bool:
    """Whether the attribute says what its absence would say."""
    default = known.default_value
    if not default.type:
        return False
    return bool(onnx.helper.get_attribute_value(default) == onnx.helper.get_attribute_value(attribute))


def attribute_text(attribute: AttributeProto) -> str:
    """``axis=1``, ``to=float8e4m3fn``; "" for what a title has no room for."""
    if attribute.type not in _SHOWN or attribute.ref_attr_name:
        return ""
    return f"{attribute.name}={value_text(attribute)}"


def default_text(known: OpSchema.Attribute) -> str:
    """The value that holds when the attribute is left out, "" where the specification names none."""
    return value_text(known.default_value) if known.default_value.type in _SHOWN else ""


def value_text(attribute: AttributeProto) -> str:
    """The value alone: ``1``, ``[1, 2]``, ``0.9``, ``float16`` for the number of a type."""
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.INT and attribute.name in TYPE_ATTRIBUTES:
        return dtype_text(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def quoted_words(known: OpSchema.Attribute) -> list[str]:
    """The words that the specification's text of an attribute has in quotes: the values of one of words."""
    return list(dict.fromkeys(_WORD.findall(known.description)))


def is_flag(value: int, known: OpSchema.Attribute) -> bool:
    """Whether 0 and 1 are all that an integer attribute can be, as far as names and defaults tell."""
    if set(known.name.split("_")) & _NUMBERS:
        return False
    return known.default_value.type == AttributeProto.INT and {value, known.default_value.i} <= {0, 1}


def needed_opset(model: onnx.ModelProto) -> int:
    """The oldest opset of the default domain that has every operator of the main graph as the model uses it."""
    schemas = [schema_of(node, model) for node in model.graph.node if node.domain in ("", "ai.onnx")]
    return max((int(schema.since_version) for schema in schemas if schema), default=1)


def formal_name(model: onnx.ModelProto, name: str) -> str:
    """What the operator that reads a tensor calls it, else the tensor's own name."""
    for node in model.graph.node:
        for position, formal in enumerate(formal_inputs(node, model)):
            if node.input[position] == name:
                return formal.name
    return name
