"""Attributes left at their defaults."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from fuzz.case import Case
from fuzz.operators.inference import infer_shapes
from triage.construct_meaning import parsed
from triage.drawing import dtype_text
from triage.schemas import TYPE_ATTRIBUTES, attribute_text, default_text, is_default, is_flag, schema_of
from triage.variants import Variant, neighbour

#: Attributes of Constant that hold numbers, and their types.
_NUMBERS = {"value_int": np.int64, "value_ints": np.int64, "value_float": np.float32, "value_floats": np.float32}
#: What each of these is tried as, too, and what a title says where both fail.
_UNLIKE: dict[str, tuple[str, int | float | list[int] | list[float]]] = {
    "value_int": ("value_floats", [1.0, 2.0]),
    "value_ints": ("value_float", 1.0),
    "value_float": ("value_ints", [1, 2]),
    "value_floats": ("value_int", 1),
}
NUMBER = "a number instead of a tensor"
#: What a value may be cast to in most models.
_COMMON = (TensorProto.FLOAT, TensorProto.INT32)


def variants(case: Case) -> Iterator[Variant]:
    """Each attribute left at its default, as far as it may be left out; a number of a Constant as a tensor."""
    model = parsed(case.model)
    yield from _as_tensors(case)
    yield from _other_casts(case)
    for at, node in enumerate(model.graph.node):
        schema = schema_of(node, model) if node.op_type != "Constant" else None
        for attribute in node.attribute:
            known = schema.attributes.get(attribute.name) if schema else None
            if known is None or known.required or is_default(attribute, known) or not attribute_text(attribute):
                continue
            other = parsed(case.model)
            kept = [one for one in other.graph.node[at].attribute if one.name != attribute.name]
            del other.graph.node[at].attribute[:]
            other.graph.node[at].attribute.extend(kept)
            if attribute.name in TYPE_ATTRIBUTES:
                retyped(other)
            default = f" (default {default_text(known)})" if default_text(known) else ""
            sentence = f"Without `{attribute.name}`{default} the same model passes."
            flag = attribute.type == attribute.INT and is_flag(attribute.i, known)
            yield Variant("attribute", attribute_text(attribute), sentence, (neighbour(case, other),), flag)


def _other_casts(case: Case) -> Iterator[Variant]:
    """Each node among several that must name a type, with the common types that it does not name: all must pass.

    What is wrong with a result behind a Cast may hang on what it is cast to; alone, a Cast is told with its types.
    """
    model = parsed(case.model)
    for at, node in enumerate(model.graph.node if len(model.graph.node) > 1 else ()):
        schema = schema_of(node, model)
        for attribute in node.attribute:
            known = schema.attributes.get(attribute.name) if schema else None
            if known is None or not known.required or attribute.name not in TYPE_ATTRIBUTES:
                continue
            others = [kind for kind in _COMMON if kind != attribute.i]
            names = " and with ".join(f"`{attribute.name}={dtype_text(kind)}`" for kind in others)
            sentence = f"With {names} the same model passes."
            cases = tuple(_cast_to(case, at, attribute.name, kind) for kind in others)
            yield Variant("attribute", attribute_text(attribute), sentence, cases)


def _cast_to(case: Case, at: int, name: str, kind: int) -> Case:
    """The case with another type in an attribute of the node at a place."""
    other = parsed(case.model)
    next(one for one in other.graph.node[at].attribute if one.name == name).i = kind
    retyped(other)
    return neighbour(case, other)


def other_numbers(case: Case, variant: Variant) -> Iterator[tuple[str, Case]]:
    """The Constant of a condition on the attribute that holds its number, with the attribute that is least like it.

    Of numbers of the other type, and a list instead of one number, or the reverse.
    """
    unlike = _UNLIKE.get(variant.text)
    for at, node in enumerate(parsed(case.model).graph.node if unlike else ()):
        if unlike is None or node.op_type != "Constant" or variant.text not in [one.name for one in node.attribute]:
            continue
        name, value = unlike
        other = parsed(case.model)
        del other.graph.node[at].attribute[:]
        other.graph.node[at].attribute.append(onnx.helper.make_attribute(name, value))
        retyped(other)
        yield f"`{onnx.helper.printable_attribute(other.graph.node[at].attribute[0])}`", neighbour(case, other)


def retyped(model: onnx.ModelProto) -> None:
    """Declare the outputs in the types that they have now, in place; as they were where these are not known."""
    loose = onnx.ModelProto()
    loose.CopyFrom(model)
    for info in loose.graph.output:
        info.ClearField("type")
    try:
        found = {info.name: info for info in infer_shapes(loose).graph.output}
    except onnx.shape_inference.InferenceError:
        return
    for info in model.graph.output:
        if found[info.name].type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.elem_type = found[info.name].type.tensor_type.elem_type


def _as_tensors(case: Case) -> Iterator[Variant]:
    """Each Constant that holds numbers in an attribute of their own with a tensor instead: one of them it must have."""
    for at, node in enumerate(parsed(case.model).graph.node):
        held = next((one for one in node.attribute if one.name in _NUMBERS), None)
        if node.op_type != "Constant" or held is None:
            continue
        other = parsed(case.model)
        array = np.array(onnx.helper.get_attribute_value(held), _NUMBERS[held.name])
        tensor = onnx.helper.make_attribute("value", numpy_helper.from_array(array))
        del other.graph.node[at].attribute[:]
        other.graph.node[at].attribute.append(tensor)
        sentence = f"With the tensor `value` instead of `{held.name}` the same model passes."
        yield Variant("attribute", held.name, sentence, (neighbour(case, other),))
