"""Items of cases: what a model's operators and their parameters are, read from the model's bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import helper, numpy_helper

from fuzz import wire
from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.operators.inference import infer_shapes
from fuzz.ranking.item import Call, Item, Tensor, Value
from fuzz.ranking.reading import instance_item, onnx_call

#: Constant inputs of at most this many elements are parameters with a value (axes, pads, shapes …).
FEW = 16
_INTEGERS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
#: Operators that only carry values to others.
CARRIERS = frozenset({"Constant", "Identity"})


def item(case: Case, seconds: float | None = None) -> Item:
    """The item of a case; a model that cannot be read is one operator without a name."""
    if case.kind == "onnx":
        calls = _calls(case)
        return Item(case.id, calls or (Call("", {}),), _text(calls), seconds)
    try:
        found = instance_item(json.loads(case.model), case.id, case.model.decode("utf-8", "replace"))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return Item(case.id, (Call("", {}),), "", seconds)
    return Item(found.id, found.calls, found.text, seconds)


def _calls(case: Case) -> tuple[Call, ...]:
    """Every operator of the model, inside bodies and functions too; those that only carry values come last."""
    try:
        model = onnx.ModelProto.FromString(case.model)
    except DecodeError:
        return ()
    known, elements = _tensors(model, case), _elements(model, case)
    nodes = [node for graph in (model.graph, *model.functions) for node in walk(graph)]
    return tuple(_call(node, known, elements) for node in sorted(nodes, key=lambda node: node.op_type in CARRIERS))


def _call(node: onnx.NodeProto, known: Mapping[str, Tensor], elements: Mapping[str, Value]) -> Call:
    attributes = {attribute.name: _attribute(attribute) for attribute in node.attribute if not attribute.ref_attr_name}
    inputs = [known.get(name, Tensor("", None)) if name else None for name in node.input]
    results = tuple(known.get(name, Tensor("", None)) for name in node.output if name)
    contents = {at: elements[name] for at, name in enumerate(node.input) if name in elements}
    domain = "" if node.domain == "ai.onnx" else node.domain
    call = onnx_call(node.op_type, attributes, inputs, results, domain, contents)
    return replace(call, operator=f"{domain}:{node.op_type}") if domain else call


def _attribute(attribute: onnx.AttributeProto) -> Value:
    value = helper.get_attribute_value(attribute)
    return _plain(value)


def _plain(value: Any) -> Value:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, onnx.TensorProto):
        return Tensor(_name(value.data_type), tuple(value.dims), True)
    if isinstance(value, onnx.GraphProto):
        return " ".join(node.op_type for node in walk(value))
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    return str(value)


def _tensors(model: onnx.ModelProto, case: Case) -> dict[str, Tensor]:
    """What is known of the types of values by name: the inputs as they are, initializers, and inferred shapes."""
    try:
        graph = infer_shapes(model).graph
    except (RuntimeError, ValueError, onnx.shape_inference.InferenceError):
        graph = model.graph
    known = {info.name: _declared(info.type) for info in (*graph.value_info, *graph.input, *graph.output)}
    known.update((name, _given(value)) for name, value in case.inputs.items())
    known.update((each.name, Tensor(_name(each.data_type), tuple(each.dims), True)) for each in model.graph.initializer)
    return known


def _elements(model: onnx.ModelProto, case: Case) -> dict[str, Value]:
    """The elements of small integer inputs and initializers by name."""
    arrays = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    for tensor in model.graph.initializer:
        if tensor.data_type in _INTEGERS and int(np.prod(tensor.dims)) <= FEW:
            arrays[tensor.name] = numpy_helper.to_array(tensor)
    return {
        name: array.ravel().tolist()
        for name, array in arrays.items()
        if array.dtype in (np.int64, np.int32) and array.size <= FEW and array.ndim <= 1
    }


def _given(value: wire.Value) -> Tensor:
    """An input as it is: a tensor, a sequence by its elements' type and number, or nothing (an empty optional)."""
    if isinstance(value, np.ndarray):
        return Tensor(_dtype(value), value.shape)
    if isinstance(value, list):
        kinds = sorted({_given(each).dtype for each in value})
        return Tensor(f"sequence of {len(value)} {', '.join(kinds)}", None)
    return Tensor("nothing", None) if value is None else Tensor(value.dtype, tuple(value.shape))


def _declared(kind: onnx.TypeProto) -> Tensor:
    if not kind.HasField("tensor_type"):
        return Tensor(kind.WhichOneof("value") or "", None)
    tensor = kind.tensor_type
    shape = tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)
    return Tensor(_name(tensor.elem_type), shape if tensor.HasField("shape") else None)


def _name(dtype: int) -> str:
    return onnx.TensorProto.DataType.Name(dtype).lower() if dtype in onnx.TensorProto.DataType.values() else ""


def _dtype(value: np.ndarray) -> str:
    try:
        return _name(helper.np_dtype_to_tensor_dtype(value.dtype))
    except (KeyError, ValueError):
        return str(value.dtype)


def _text(calls: Sequence[Call]) -> str:
    """The model as one string, for strategies that compare texts."""
    return json.dumps([[call.operator, {k: str(v) for k, v in call.parameters.items()}] for call in calls])
