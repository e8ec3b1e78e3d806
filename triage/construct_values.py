"""The parts of a model as expressions of `onnx.helper`: tensors, types, names of enumerators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

import numpy as np
import onnx
from google.protobuf.message import Message  # type: ignore[import-untyped,unused-ignore]
from onnx import TensorProto, helper, numpy_helper

from fuzz.wire import Raw, Value
from triage.construct_meaning import strip
from triage.layout import Expr, Group, call, listing, named, one_line, quote
from triage.literals import SMALL, array_expr, as_array, bytes_expr, number_texts


class Inexpressible(Exception):
    """A part of the model that `onnx.helper` cannot build."""


def only(message: Message, *known: str) -> None:
    """Raise unless every field that is set is among the known ones."""
    if any(field.name not in known for field, _ in message.ListFields()):
        raise Inexpressible(type(message).__name__)


def strings(items: Iterable[str]) -> Expr:
    """A list of string literals."""
    return listing(quote(item) for item in items)


def enum_name(holder: str, enum: Any, number: int) -> str:
    """The enumerator's name where the number has one."""
    return f"{holder}.{enum.Name(number)}" if number in enum.values() else str(number)


def data_type(number: int) -> str:
    """``TensorProto.FLOAT`` and the like."""
    return enum_name("TensorProto", TensorProto.DataType, number)


def text(data: bytes) -> str:
    try:
        return quote(data.decode())
    except UnicodeDecodeError:
        return quote(data)


def float_text(number: float) -> str:
    """The shortest text that is this number once it is a float32, as attributes are."""
    (text,), _ = number_texts(np.array([number], np.float32))
    return text


def given(arguments: Mapping[str, Expr]) -> list[Expr]:
    """Keyword arguments, without those that are empty lists."""
    return [named(f"{name}=", expr) for name, expr in arguments.items() if one_line(expr) != "[]"]


def opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> Expr:
    """Opset imports."""
    return listing(call("helper.make_opsetid", quote(one.domain), str(one.version)) for one in imports)


def tensor_expr(tensor: onnx.TensorProto) -> Expr:
    """A tensor in the same field (raw or typed) as the given one: compilers read them differently."""
    if tensor.HasField("data_location") or tensor.external_data:
        raise Inexpressible(tensor.name)
    for spell in (_raw_tensor, _typed_tensor):
        try:
            expr, rebuilt = spell(tensor)
        except (ValueError, TypeError, KeyError, OverflowError):
            continue  # a damaged tensor, or a type that this spelling does not know
        strip(rebuilt)
        if rebuilt == tensor:
            return expr
    return call("TensorProto.FromString", bytes_expr(tensor.SerializeToString(deterministic=True)))


def tensors(some: Iterable[onnx.TensorProto]) -> Expr:
    """A list of tensors; several that differ in nothing but their names in one expression over these."""
    found = [tensor_expr(tensor) for tensor in some]
    alike = [expr for expr in found if _is_named_array(expr)]
    if len(alike) < max(len(found), _FEW_TENSORS + 1) or len({one_line(expr.items[0]) for expr in alike}) > 1:
        return listing(found)
    names = ", ".join(one_line(expr.items[1]) for expr in alike)
    return Group(
        "[", (f"numpy_helper.from_array({one_line(alike[0].items[0])}, k)", f"for k in [{names}]"), "]", comma=""
    )


def _is_named_array(expr: Expr) -> TypeGuard[Group]:
    return isinstance(expr, Group) and expr.opening == "numpy_helper.from_array(" and len(expr.items) == 2


def _raw_tensor(tensor: onnx.TensorProto) -> tuple[Expr, onnx.TensorProto]:
    array = numpy_helper.to_array(tensor)
    rebuilt = numpy_helper.from_array(array, tensor.name)
    name = [quote(tensor.name)] if tensor.name else []
    return call("numpy_helper.from_array", array_expr(array), *name), rebuilt


def _typed_tensor(tensor: onnx.TensorProto) -> tuple[Expr, onnx.TensorProto]:
    flat = numpy_helper.to_array(tensor).ravel()
    dims = list(tensor.dims)
    if flat.size <= SMALL or flat.dtype.kind == "O":
        texts, meanings = number_texts(flat)
        values: Expr = listing(texts, fill=True)
        rebuilt = helper.make_tensor(tensor.name, tensor.data_type, dims, meanings)
    else:
        values = array_expr(flat)
        rebuilt = helper.make_tensor(tensor.name, tensor.data_type, dims, flat)
    start = [quote(tensor.name), data_type(tensor.data_type), repr(dims)]
    return call("helper.make_tensor", *start, values), rebuilt


def sparse_expr(tensor: onnx.SparseTensorProto) -> Expr:
    """A sparse tensor."""
    only(tensor, "values", "indices", "dims")
    if not (tensor.HasField("values") and tensor.HasField("indices")):
        raise Inexpressible("SparseTensorProto")
    parts = tensor_expr(tensor.values), tensor_expr(tensor.indices)
    return call("helper.make_sparse_tensor", *parts, repr(list(tensor.dims)))


def value_info(info: onnx.ValueInfoProto) -> Expr:
    """The declaration of an input, an output or an inner value."""
    only(info, "name", "type")
    name = quote(info.name)
    if not info.HasField("type"):
        return call("helper.make_empty_tensor_value_info", name)
    which = info.type.WhichOneof("value") or ""
    if which in ("tensor_type", "sparse_tensor_type"):
        return call(f"helper.make_{which.removesuffix('_type')}_value_info", name, *_tensor_type(info.type))
    return call("helper.make_value_info", name, type_expr(info.type))


def _tensor_type(kind: onnx.TypeProto) -> tuple[str, str]:
    """Element type and shape of a dense or sparse tensor type."""
    only(kind, "tensor_type", "sparse_tensor_type")
    tensor = getattr(kind, kind.WhichOneof("value") or "")
    only(tensor, "elem_type", "shape")
    if not tensor.HasField("elem_type"):
        raise Inexpressible("TypeProto")
    if not tensor.HasField("shape"):
        return data_type(tensor.elem_type), "None"
    return data_type(tensor.elem_type), one_line(listing(_dim(dim) for dim in tensor.shape.dim))


def _dim(dim: onnx.TensorShapeProto.Dimension) -> str:
    only(dim, "dim_value", "dim_param")
    which = dim.WhichOneof("value")
    if which is None:
        return "None"
    return str(dim.dim_value) if which == "dim_value" else quote(dim.dim_param)


def type_expr(kind: onnx.TypeProto) -> Expr:
    """A type by itself: sequences, optionals and maps have no declaration of their own."""
    which = kind.WhichOneof("value")
    if which is None:
        only(kind)
        return "onnx.TypeProto()"
    if which in ("tensor_type", "sparse_tensor_type"):
        return call(f"helper.make_{which}_proto", *_tensor_type(kind))
    only(kind, "sequence_type", "optional_type", "map_type")
    if which == "map_type":
        only(kind.map_type, "key_type", "value_type")
        return call(
            "helper.make_map_type_proto", data_type(kind.map_type.key_type), type_expr(kind.map_type.value_type)
        )
    inner = getattr(kind, which)
    if not inner.HasField("elem_type"):
        raise Inexpressible("TypeProto")
    return call(f"helper.make_{which}_proto", type_expr(inner.elem_type))


ELEMENT: dict[str, Callable[[Any], Expr]] = {
    "f": float_text,
    "i": str,
    "s": text,
    "t": tensor_expr,
    "sparse_tensor": sparse_expr,
    "tp": type_expr,
}


#: So many outputs are declared one by one, so many equal tensors made so.
_FEW_OUTPUTS, _FEW_TENSORS = 2, 2


def declared_outputs(graph: onnx.GraphProto, listed: str) -> Expr:
    """Declarations of the outputs; of many dense ones of one type in one expression over ``node.output``.

    `listed` is the nodes' expression: with ``[node]`` it must return its outputs in order.
    """
    plain = listing([value_info(info) for info in graph.output])
    tensors = [info.type.tensor_type for info in graph.output if info.type.HasField("tensor_type")]
    kinds = {tensor.elem_type for tensor in tensors}
    names = [info.name for info in graph.output]
    of_node = listed == "[node]" and list(graph.node[0].output) == names
    if len(names) <= _FEW_OUTPUTS or len(tensors) < len(names) or len(kinds) > 1 or not of_node:
        return plain
    shapes = ", ".join(_tensor_type(info.type)[1] for info in graph.output)
    items = (
        f"helper.make_tensor_value_info(k, {data_type(kinds.pop())}, s)",
        f"for k, s in zip(node.output, [{shapes}])",
    )
    return Group("[", items, "]", comma="")


def declared_by(graph: onnx.GraphProto, inputs: Mapping[str, Value]) -> Expr | None:
    """Declarations of several inputs in one expression over the dict `inputs`, where that is as exact and shorter."""
    if len(graph.input) < 2 or [info.name for info in graph.input] != list(inputs):
        return None
    arrays = [as_array(value) for value in inputs.values() if isinstance(value, np.ndarray | Raw)]
    if len(arrays) != len(inputs) or any(array.dtype.kind == "O" for array in arrays):
        return None
    types = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in arrays]
    made = map(helper.make_tensor_value_info, inputs, types, (array.shape for array in arrays))
    if any(mine != declared for mine, declared in zip(made, graph.input, strict=True)):
        return None
    if len(types) == 2 and types[0] != types[1]:
        return None
    kind = data_type(types[0]) if len(set(types)) == 1 else "helper.np_dtype_to_tensor_dtype(v.dtype)"
    items = (f"helper.make_tensor_value_info(k, {kind}, v.shape)", "for k, v in inputs.items()")
    return Group("[", items, "]", comma="")
