"""Cases as readable Python source: the model, its inputs, and operator instances.

The code uses `onnx.helper` the way a person would. What `onnx.helper` cannot say (quantisation
annotations, training information, external data, damaged tensors …) and what would be too long
to read is packed as base64 instead, so the code always defines the same model.
"""

from __future__ import annotations

import inspect
import keyword
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped,unused-ignore]
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from fuzz.wire import Value
from triage.layout import Expr, call, listing, mapping, named, one_line, quote, render, with_imports
from triage.literals import SMALL, array_expr, bytes_expr, number_texts, value_expr

#: A model whose code is longer than this is packed.
MOST_LINES = 120
#: How many nodes the comment above a packed model names.
_SKETCH = 20

#: Parts of a model that no compiler acts upon, by message.
_NOT_MEANING: dict[str, tuple[str, ...]] = {
    "ModelProto": ("producer_name", "producer_version", "domain", "model_version"),
}
_EVERYWHERE = ("doc_string", "metadata_props")
#: Optional names whose absence and emptiness mean the same.
_EMPTY_IS_ABSENT = ("name", "domain", "overload")


class _Inexpressible(Exception):
    """A part of the model that `onnx.helper` cannot build."""


def parsed(data: bytes) -> onnx.ModelProto:
    """The model in serialised form. Raises ValueError for bytes that are none."""
    try:
        return onnx.load_model_from_string(data)
    except DecodeError as error:
        raise ValueError(f"the case's {len(data)} bytes are no ONNX model") from error


def normalise(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without what has no meaning to a compiler.

    Dropped: doc strings, metadata properties, the producer's name and version, the model's domain
    and version, and empty optional names. Attributes are sorted by name.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    _strip(copy)
    return copy


def _strip(message: Message) -> None:
    for field in _EVERYWHERE + _NOT_MEANING.get(type(message).__name__, ()):
        if field in message.DESCRIPTOR.fields_by_name:
            message.ClearField(field)
    for field in _EMPTY_IS_ABSENT:
        if field in message.DESCRIPTOR.fields_by_name and not getattr(message, field):
            message.ClearField(field)
    if isinstance(message, onnx.NodeProto):
        message.attribute.sort(key=lambda attribute: attribute.name)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in [value] if isinstance(value, Message) else value:
                _strip(child)


def construction_code(model: onnx.ModelProto) -> str:
    """Source that defines `model`, equal to the given one after `normalise`."""
    model = normalise(model)
    try:
        lines = _Builder().model(model)
    except _Inexpressible:
        lines = _packed_model(model)
    if len(lines) > MOST_LINES:
        packed = _packed_model(model)
        lines = packed if len(packed) < len(lines) else lines
    return with_imports("\n".join(lines))


def values_code(inputs: Mapping[str, Value]) -> str:
    """Source that defines `inputs`, a dict of the given values, bit for bit."""
    entries = (named(quote(name) + ": ", value_expr(value)) for name, value in inputs.items())
    return with_imports("\n".join(render(mapping("inputs = ", entries))))


def _only(message: Message, *known: str) -> None:
    """Raise unless every field that is set is among the known ones."""
    if any(field.name not in known for field, _ in message.ListFields()):
        raise _Inexpressible(type(message).__name__)


def _strings(items: Iterable[str]) -> Expr:
    return listing(quote(item) for item in items)


def _enum(holder: str, enum: Any, number: int) -> str:
    return f"{holder}.{enum.Name(number)}" if number in enum.values() else str(number)


def _data_type(number: int) -> str:
    return _enum("TensorProto", TensorProto.DataType, number)


def _text(data: bytes) -> str:
    try:
        return quote(data.decode())
    except UnicodeDecodeError:
        return quote(data)


def _float(number: float) -> str:
    """The shortest text that is this number once it is a float32, as attributes are."""
    (text,), _ = number_texts(np.array([number], np.float32))
    return text


class _Builder:
    """Collects the statements that build one model."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.taken: Counter[str] = Counter()

    def assign(self, base: str, expr: Expr) -> str:
        """Add the statement ``base = expr``; returns the name, numbered when it is taken."""
        self.taken[base] += 1
        name = base if self.taken[base] == 1 else f"{base}_{self.taken[base]}"
        self.lines += render(named(f"{name} = ", expr))
        return name

    def model(self, model: onnx.ModelProto) -> list[str]:
        _only(model, "ir_version", "opset_import", "graph", "functions")
        if not (model.HasField("ir_version") and model.HasField("graph")):
            raise _Inexpressible("ModelProto")
        extra: list[Expr] = []
        if model.functions:
            extra.append(named("functions=", listing([self.function(one) for one in model.functions])))
        nodes = self.nodes(model.graph.node)
        if len(nodes) == 1:
            listed: Expr = listing([self.assign("node", nodes[0])])
        else:
            listed = self.assign("nodes", listing(nodes))
        graph = self.assign("graph", self.graph(model.graph, listed))
        opsets = named("opset_imports=", _opsets(model.opset_import))
        self.assign("model", call("helper.make_model", graph, opsets, f"ir_version={model.ir_version}", *extra))
        return self.lines

    def function(self, function: onnx.FunctionProto) -> Expr:
        _only(
            function,
            *("domain", "name", "input", "output", "node", "opset_import"),
            *("attribute", "attribute_proto", "overload", "value_info"),
        )
        optional = {
            "attributes": _strings(function.attribute),
            "attribute_protos": listing([self.attribute(one) for one in function.attribute_proto]),
            "value_info": listing([_value_info(info) for info in function.value_info]),
        }
        overload = [f"overload={quote(function.overload)}"] if function.overload else []
        return call(
            "helper.make_function",
            quote(function.domain),
            quote(function.name),
            _strings(function.input),
            _strings(function.output),
            listing(self.nodes(function.node)),
            named("opset_imports=", _opsets(function.opset_import)),
            *_given(optional),
            *overload,
        )

    def graph(self, graph: onnx.GraphProto, nodes: Expr) -> Expr:
        _only(graph, "node", "name", "input", "output", "initializer", "sparse_initializer", "value_info")
        optional = {
            "initializer": listing([_tensor(tensor) for tensor in graph.initializer]),
            "sparse_initializer": listing([_sparse(tensor) for tensor in graph.sparse_initializer]),
            "value_info": listing([_value_info(info) for info in graph.value_info]),
        }
        return call(
            "helper.make_graph",
            nodes,
            quote(graph.name),
            named("inputs=", listing([_value_info(info) for info in graph.input])),
            named("outputs=", listing([_value_info(info) for info in graph.output])),
            *_given(optional),
        )

    def nodes(self, nodes: Iterable[onnx.NodeProto]) -> list[Expr]:
        return [self.node(node) for node in nodes]

    def node(self, node: onnx.NodeProto) -> Expr:
        _only(node, "input", "output", "name", "op_type", "domain", "overload", "attribute")
        items: list[Expr] = [quote(node.op_type), _strings(node.input), _strings(node.output)]
        items += [
            f"{field}={quote(getattr(node, field))}" for field in ("name", "domain", "overload") if getattr(node, field)
        ]
        apart: list[Expr] = []
        seen: set[str] = set()
        for attribute in node.attribute:
            if attribute.name in seen or not _is_keyword_argument(attribute):
                apart.append(self.attribute(attribute))
            else:
                items.append(named(f"{attribute.name}=", self.attribute_value(attribute)))
            seen.add(attribute.name)
        expr = call("helper.make_node", *items)
        if not apart:
            return expr
        variable = self.assign("special_node", expr)
        for one in apart:
            self.lines += render(call(f"{variable}.attribute.append", one))
        return variable

    def attribute(self, attribute: onnx.AttributeProto) -> Expr:
        """An AttributeProto by itself, for what `make_node` takes no keyword for."""
        kind = _enum("AttributeProto", AttributeProto.AttributeType, attribute.type)
        if attribute.ref_attr_name:
            _only(attribute, "name", "type", "ref_attr_name")
            other = attribute.ref_attr_name != attribute.name
            referred = [f"ref_attr_name={quote(attribute.ref_attr_name)}"] if other else []
            return call("helper.make_attribute_ref", quote(attribute.name), kind, *referred)
        value = self.attribute_value(attribute)
        return call("helper.make_attribute", quote(attribute.name), value, f"attr_type={kind}")

    def attribute_value(self, attribute: onnx.AttributeProto) -> Expr:
        if attribute.type in _SINGLE:
            field = _SINGLE[attribute.type]
            _only(attribute, "name", "type", field)
            if not attribute.HasField(field):
                raise _Inexpressible(attribute.name)
            return self.element(field, attribute, getattr(attribute, field))
        if attribute.type in _REPEATED:
            field, element = _REPEATED[attribute.type]
            _only(attribute, "name", "type", field)
            values = [self.element(element, attribute, value) for value in getattr(attribute, field)]
            return listing(values, fill=element in "fi")
        raise _Inexpressible(attribute.name)

    def element(self, field: str, attribute: onnx.AttributeProto, value: Any) -> Expr:
        if field == "g":
            base = attribute.name if attribute.name.isidentifier() and attribute.name.isascii() else "body"
            return self.assign(f"{base}_graph", self.graph(value, listing(self.nodes(value.node))))
        return _ELEMENT[field](value)


_SINGLE: dict[int, str] = {
    AttributeProto.FLOAT: "f",
    AttributeProto.INT: "i",
    AttributeProto.STRING: "s",
    AttributeProto.TENSOR: "t",
    AttributeProto.GRAPH: "g",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.TYPE_PROTO: "tp",
}
_REPEATED: dict[int, tuple[str, str]] = {
    AttributeProto.FLOATS: ("floats", "f"),
    AttributeProto.INTS: ("ints", "i"),
    AttributeProto.STRINGS: ("strings", "s"),
    AttributeProto.TENSORS: ("tensors", "t"),
    AttributeProto.GRAPHS: ("graphs", "g"),
    AttributeProto.SPARSE_TENSORS: ("sparse_tensors", "sparse_tensor"),
    AttributeProto.TYPE_PROTOS: ("type_protos", "tp"),
}

_MAKE_NODE_PARAMETERS = frozenset(inspect.signature(helper.make_node).parameters)


def _is_keyword_argument(attribute: onnx.AttributeProto) -> bool:
    """Whether `make_node` can take the attribute as a keyword and infer its type."""
    name = attribute.name
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if not plain or name in _MAKE_NODE_PARAMETERS or attribute.ref_attr_name:
        return False
    return attribute.type not in _REPEATED or bool(getattr(attribute, _REPEATED[attribute.type][0]))


def _given(arguments: Mapping[str, Expr]) -> list[Expr]:
    """Keyword arguments, without those that are empty lists."""
    return [named(f"{name}=", expr) for name, expr in arguments.items() if one_line(expr) != "[]"]


def _opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> Expr:
    return listing(call("helper.make_opsetid", quote(one.domain), str(one.version)) for one in imports)


def _tensor(tensor: onnx.TensorProto) -> Expr:
    """A tensor in the same field (raw or typed) as the given one: compilers read them differently."""
    if tensor.HasField("data_location") or tensor.external_data:
        raise _Inexpressible(tensor.name)
    for spell in (_raw_tensor, _typed_tensor):
        try:
            expr, rebuilt = spell(tensor)
        except (ValueError, TypeError, KeyError, OverflowError):
            continue  # a damaged tensor, or a type that this spelling does not know
        _strip(rebuilt)
        if rebuilt == tensor:
            return expr
    return call("TensorProto.FromString", bytes_expr(tensor.SerializeToString(deterministic=True)))


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
    start = [quote(tensor.name), _data_type(tensor.data_type), repr(dims)]
    return call("helper.make_tensor", *start, values), rebuilt


def _sparse(tensor: onnx.SparseTensorProto) -> Expr:
    _only(tensor, "values", "indices", "dims")
    if not (tensor.HasField("values") and tensor.HasField("indices")):
        raise _Inexpressible("SparseTensorProto")
    parts = _tensor(tensor.values), _tensor(tensor.indices)
    return call("helper.make_sparse_tensor", *parts, repr(list(tensor.dims)))


def _value_info(info: onnx.ValueInfoProto) -> Expr:
    _only(info, "name", "type")
    name = quote(info.name)
    if not info.HasField("type"):
        return call("helper.make_empty_tensor_value_info", name)
    which = info.type.WhichOneof("value") or ""
    if which in ("tensor_type", "sparse_tensor_type"):
        return call(f"helper.make_{which.removesuffix('_type')}_value_info", name, *_tensor_type(info.type))
    return call("helper.make_value_info", name, _type(info.type))


def _tensor_type(kind: onnx.TypeProto) -> tuple[str, str]:
    """Element type and shape of a dense or sparse tensor type."""
    _only(kind, "tensor_type", "sparse_tensor_type")
    tensor = getattr(kind, kind.WhichOneof("value") or "")
    _only(tensor, "elem_type", "shape")
    if not tensor.HasField("elem_type"):
        raise _Inexpressible("TypeProto")
    if not tensor.HasField("shape"):
        return _data_type(tensor.elem_type), "None"
    return _data_type(tensor.elem_type), one_line(listing(_dim(dim) for dim in tensor.shape.dim))


def _dim(dim: onnx.TensorShapeProto.Dimension) -> str:
    _only(dim, "dim_value", "dim_param")
    which = dim.WhichOneof("value")
    if which is None:
        return "None"
    return str(dim.dim_value) if which == "dim_value" else quote(dim.dim_param)


def _type(kind: onnx.TypeProto) -> Expr:
    which = kind.WhichOneof("value")
    if which is None:
        _only(kind)
        return "onnx.TypeProto()"
    if which in ("tensor_type", "sparse_tensor_type"):
        return call(f"helper.make_{which}_proto", *_tensor_type(kind))
    _only(kind, "sequence_type", "optional_type", "map_type")
    if which == "map_type":
        _only(kind.map_type, "key_type", "value_type")
        return call("helper.make_map_type_proto", _data_type(kind.map_type.key_type), _type(kind.map_type.value_type))
    inner = getattr(kind, which)
    if not inner.HasField("elem_type"):
        raise _Inexpressible("TypeProto")
    return call(f"helper.make_{which}_proto", _type(inner.elem_type))


_ELEMENT: dict[str, Callable[[Any], Expr]] = {
    "f": _float,
    "i": str,
    "s": _text,
    "t": _tensor,
    "sparse_tensor": _sparse,
    "tp": _type,
}


def _packed_model(model: onnx.ModelProto) -> list[str]:
    """The serialised model in base64, below a sketch of its first nodes."""
    nodes = model.graph.node
    sketch = [f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)})" for node in nodes[:_SKETCH]]
    if len(nodes) > _SKETCH:
        sketch.append(f"... and {len(nodes) - _SKETCH} more nodes")
    data = bytes_expr(model.SerializeToString(deterministic=True))
    return [
        f"# The model in base64: {len(nodes)} nodes",
        *(f"#   {_comment(line)}" for line in sketch),
        *render(named("model = ", call("onnx.load_model_from_string", data))),
    ]


def _comment(line: str) -> str:
    """One line that cannot leave its comment."""
    plain = "".join(character if character.isprintable() else "?" for character in line)
    return plain.replace("<!--", "<!..")[:90]
