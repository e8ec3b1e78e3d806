"""The protobuf wire format of ONNX messages, written directly.

A generator that writes thousands of models a second cannot afford message objects. Everything that recurs (names,
types, attributes) is encoded once and kept. Field numbers are those of onnx.proto; see the encoding guide of
Protocol Buffers for tags and varints. `tests/fuzz/operators/test_encoding.py` reads all of it back with onnx.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

_VARINT, _LENGTH, _FIXED32 = 0, 2, 5
#: AttributeProto.AttributeType
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS = 1, 2, 3, 4, 5, 6, 7

#: Encodings of shapes and lists that are remembered. There is no end of them in a long campaign.
_KEPT = 1 << 13
#: Tensors are called by number. 0 is the absent tensor, whose name is empty.
ABSENT = 0


def varint(number: int) -> bytes:
    """A base-128 varint; negative numbers as 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


#: Numbers, and lengths of content, that are encoded beforehand.
_MANY = 4096
_VARINTS = [varint(number) for number in range(_MANY)]
#: Tags of fields of bytes, text or messages by field number. onnx.proto has no larger ones in what is written here.
_TAGS = [varint(field << 3 | _LENGTH) for field in range(32)]


def _integer(field: int, number: int) -> bytes:
    return varint(field << 3 | _VARINT) + varint(number)


def delimited(field: int, content: bytes) -> bytes:
    """A field of bytes, text or a message."""
    length = len(content)
    return _TAGS[field] + (_VARINTS[length] if length < _MANY else varint(length)) + content


def _float(field: int, number: float) -> bytes:
    return varint(field << 3 | _FIXED32) + struct.pack("<f", number)


def _attribute(name: str, kind: int, content: bytes) -> bytes:
    return delimited(5, delimited(1, name.encode()) + content + _integer(20, kind))


@cache
def integer(name: str, value: int) -> bytes:
    """An INT attribute as a field of NodeProto."""
    return _attribute(name, _INT, _integer(3, value))


@cache
def floating(name: str, value: float) -> bytes:
    """A FLOAT attribute as a field of NodeProto."""
    return _attribute(name, _FLOAT, _float(2, value))


@cache
def text(name: str, value: str) -> bytes:
    """A STRING attribute as a field of NodeProto."""
    return _attribute(name, _STRING, delimited(4, value.encode()))


@lru_cache(_KEPT)
def integers(name: str, values: tuple[int, ...]) -> bytes:
    """An INTS attribute as a field of NodeProto."""
    return _attribute(name, _INTS, b"".join(_integer(8, value) for value in values))


@lru_cache(_KEPT)
def floats(name: str, values: tuple[float, ...]) -> bytes:
    """A FLOATS attribute as a field of NodeProto."""
    return _attribute(name, _FLOATS, b"".join(_float(7, value) for value in values))


@lru_cache(_KEPT)
def tensor_attribute(name: str, code: int, shape: tuple[int, ...], data: bytes) -> bytes:
    """A TENSOR attribute as a field of NodeProto; `data` is raw_data."""
    return _attribute(name, _TENSOR, delimited(5, tensor_content(code, shape, data)))


def graph(name: str, nodes: bytes, initializers: bytes, inputs: bytes, outputs: bytes, infos: bytes = b"") -> bytes:
    """A GraphProto; the parts are its repeated fields, encoded. `infos` are the types of other results."""
    return nodes + delimited(2, name.encode()) + initializers + inputs + outputs + infos


def graph_attribute(name: str, content: bytes) -> bytes:
    """A GRAPH attribute as a field of NodeProto; `content` is the GraphProto."""
    return _attribute(name, _GRAPH, delimited(6, content))


def attribute(name: str, value: object) -> bytes:
    """An attribute of the type that the Python value has; None is an attribute that is left out."""
    if value is None:
        return b""
    if isinstance(value, int):
        return integer(name, value)
    if isinstance(value, float):
        return floating(name, value)
    if isinstance(value, str):
        return text(name, value)
    if isinstance(value, tuple):
        return integers(name, value)
    raise TypeError(f"attribute {name}: no encoding for {type(value).__name__}")


def tensor_content(code: int, shape: Sequence[int], data: bytes) -> bytes:
    """A TensorProto with raw_data, without its name; `code` is a TensorProto.DataType."""
    return _tensor_head(code, tuple(shape)) + delimited(9, data)


@lru_cache(_KEPT)
def _tensor_head(code: int, shape: tuple[int, ...]) -> bytes:
    return b"".join([_integer(1, size) for size in shape]) + _integer(2, code)


def strings_content(shape: Sequence[int], items: Iterable[bytes]) -> bytes:
    """A TensorProto of strings, without its name."""
    return b"".join(_integer(1, size) for size in shape) + _integer(2, 8) + b"".join(delimited(6, s) for s in items)


@lru_cache(_KEPT)
def integer_tensor(values: tuple[int, ...], shape: tuple[int, ...], *, short: bool = False) -> bytes:
    """An int64 TensorProto, or a `short` one of int32, without its name."""
    return tensor_content(6 if short else 7, shape, struct.pack(f"<{len(values)}{'i' if short else 'q'}", *values))


def _dimension(size: int | None) -> bytes:
    return delimited(1, b"" if size is None else _integer(1, size))


_DIMENSIONS = {size: _dimension(size) for size in (None, *range(_MANY))}


@lru_cache(_KEPT)
def value_type(code: int, shape: tuple[int | None, ...]) -> bytes:
    """The TypeProto field of a ValueInfoProto; None is a size that is not known."""
    dims = b"".join([_DIMENSIONS[size] if size in _DIMENSIONS else _dimension(size) for size in shape])
    return delimited(2, delimited(1, _integer(1, code) + delimited(2, dims)))


class _Names(list[bytes]):
    """The encoded field `tag` with the name of each tensor, made as far as it was asked for."""

    def __init__(self, tag: int) -> None:
        super().__init__([delimited(tag, b"")])
        self._tag = tag

    def reach(self, count: int) -> None:
        """Have at least `count` names."""
        self.extend(delimited(self._tag, name(number).encode()) for number in range(len(self), count))


def name(number: int) -> str:
    """The name of a tensor; "" for the absent one."""
    return f"t{number}" if number else ""


#: NodeProto.input and .output; ValueInfoProto.name; TensorProto.name.
INPUT, OUTPUT, INFO, TENSOR = _Names(1), _Names(2), _Names(1), _Names(8)


def reach(count: int) -> None:
    """Have names for at least `count` tensors in `INPUT`, `OUTPUT`, `INFO` and `TENSOR`."""
    if len(INPUT) < count:
        for names in (INPUT, OUTPUT, INFO, TENSOR):
            names.reach(2 * count)


def operator_head(op_type: str) -> bytes:
    """NodeProto.op_type."""
    return delimited(4, op_type.encode())


def node(content: bytes) -> bytes:
    """GraphProto.node."""
    return delimited(1, content)


def model(
    opset: int,
    ir_version: int,
    nodes: bytes,
    initializers: bytes,
    inputs: bytes,
    outputs: bytes,
    infos: bytes = b"",
) -> bytes:
    """A ModelProto; the parts are repeated fields of its graph, encoded."""
    content = graph("g", nodes, initializers, inputs, outputs, infos)
    return _integer(1, ir_version) + delimited(7, content) + delimited(8, delimited(1, b"") + _integer(2, opset))
