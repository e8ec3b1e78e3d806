"""ONNX's own tests: every operator of the node tests and of the models in the onnx package's backend test folders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from fuzz.case import Case
from fuzz.generators import Skip, onnx_models, onnx_node
from fuzz.instance_store import Source, Stored, stored
from fuzz.migrate import Omitted, Request
from fuzz.operators.graph import walk
from fuzz.operators.inference import infer_shapes
from fuzz.operators.table import opsets
from fuzz.wire import Value, dtype_name

ABOUT = "the node tests of the onnx package and the models in its backend test folders"

#: An attribute of more elements is told by its dtype and shape.
_MOST_ELEMENTS = 64

_Types = dict[str, onnx.TypeProto]


def migrate(request: Request) -> Iterator[Stored | Omitted]:
    """Every operator of every test, with its attributes and the dtypes and shapes around it."""
    for kind, generator in (("onnx-node", onnx_node), ("onnx-model", onnx_models)):
        for case in generator.cases(0):
            if isinstance(case, Skip):
                yield Omitted(case.reason, case.origin.test)
            elif "expanded" not in case.origin.variant:  # the function bodies of operators are no tests of their own
                yield from _of(case, Source(kind, f"{case.origin.test} {case.origin.variant}"), request)


def _of(case: Case, source: Source, request: Request) -> Iterator[Stored | Omitted]:
    model = onnx.load_model_from_string(case.model)
    types = _types(model, case.inputs)
    versions = opsets(model)
    for node in walk(model.graph):
        if request.wants(node.op_type):
            version = f"opset {versions.get(node.domain, 1)}"
            yield stored(_instance(node, types, case.id), source, version=version)


def _instance(node: onnx.NodeProto, types: _Types, case_id: str) -> dict[str, Any]:
    found: dict[str, Any] = {"library": "onnx", "op_type": node.op_type, "domain": node.domain, "case": case_id}
    found["kwargs"] = {attribute.name: _attribute(attribute) for attribute in node.attribute}
    for side, names in (("input", node.input), ("output", node.output)):
        found[f"{side}_name"] = list(names)
        found[f"{side}_shape"] = [_shape(types.get(name)) for name in names]
        found[f"{side}_dtype"] = [_dtype(types.get(name)) for name in names]
    return found


# ---------------------------------------------------------------- types


def _types(model: onnx.ModelProto, inputs: Any) -> _Types:
    """The type of every value that is known: by inference, and exactly for the inputs and constants of the case."""
    try:
        graph = infer_shapes(model, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, RuntimeError):
        graph = model.graph  # some tests hold operators that inference does not know
    found = {info.name: info.type for info in (*graph.value_info, *graph.output, *graph.input)}
    found.update((name, _type_of(value)) for name, value in inputs.items() if isinstance(value, np.ndarray))
    for constant in graph.initializer:
        found[constant.name] = helper.make_tensor_type_proto(constant.data_type, list(constant.dims))
    return found


def _type_of(value: Value) -> onnx.TypeProto:
    assert isinstance(value, np.ndarray)
    if dtype_name(value) == "string":
        return helper.make_tensor_type_proto(TensorProto.STRING, value.shape)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _tensor_type(kind: onnx.TypeProto | None) -> onnx.TypeProto.Tensor | None:
    """The tensor type, or that of a sequence's or optional's elements."""
    while kind is not None:
        if kind.HasField("tensor_type"):
            return kind.tensor_type
        if kind.HasField("sequence_type"):
            kind = kind.sequence_type.elem_type
        elif kind.HasField("optional_type"):
            kind = kind.optional_type.elem_type
        else:
            return None
    return None


def _shape(kind: onnx.TypeProto | None) -> list[int | None] | None:
    tensor = _tensor_type(kind)
    if tensor is None or not tensor.HasField("shape"):
        return None
    return [size.dim_value if size.HasField("dim_value") else None for size in tensor.shape.dim]


def _dtype(kind: onnx.TypeProto | None) -> str | None:
    tensor = _tensor_type(kind)
    return None if tensor is None else str(TensorProto.DataType.Name(tensor.elem_type))


# ---------------------------------------------------------------- attributes


def _attribute(attribute: onnx.AttributeProto) -> Any:
    """An attribute as JSON: numbers, texts and lists of them; tensors and graphs by what they hold."""
    if attribute.type == AttributeProto.TENSOR:
        return _tensor(attribute.t)
    if attribute.type == AttributeProto.GRAPH:
        return {"graph": [node.op_type for node in attribute.g.node]}
    if attribute.ref_attr_name:
        return {"reference": attribute.ref_attr_name}
    return _plain(helper.get_attribute_value(attribute))


def _tensor(tensor: onnx.TensorProto) -> dict[str, Any]:
    array = numpy_helper.to_array(tensor)
    told: dict[str, Any] = {"dtype": TensorProto.DataType.Name(tensor.data_type), "shape": list(array.shape)}
    if array.size <= _MOST_ELEMENTS:
        kept = array if array.dtype.kind in "biufcOSU" else array.astype(np.float32)
        told["values"] = [_plain(value) for value in kept.ravel().tolist()]
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, str)):
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(value, complex):
        return {"complex": [_plain(value.real), _plain(value.imag)]}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"float": str(value)}
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        return [_plain(item) for item in value]
    return {"type": type(value).__name__}
