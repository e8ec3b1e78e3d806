"""Items of a file: JSON Lines with one operator instance a line, in the project's formats and in OPERA's.

An ONNX instance has ``op_type``, ``kwargs``, ``input_shape`` and ``input_dtype``, and ``id`` or ``line``. A library
instance (docs/instances.md) has ``api``, ``args``, ``kwargs``, ``init`` and ``tensors``, and ``id``. One without an id
goes by the number of its line in the file. Lines are checked as `graphwarden instances` checks them, but that an id is
whatever the file says: a file may use names of its own.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import onnx
from onnx.defs import OpSchema

from fuzz import instance_onnx, instance_store
from fuzz.instance import InstanceError
from fuzz.ranking.item import Call, Item, Tensor, Value


class UnreadableItem(ValueError):
    """A line that is no operator instance; the message says where and why."""


def items(path: Path, *, named: bool = True) -> list[Item]:
    """The instances of a JSON Lines file (``.gz``: compressed), in its order; with ids of their own if `named`.

    Raises UnreadableItem and OSError.
    """
    found: list[Item] = []
    lines: dict[str | int, int] = {}
    for number, line in _lines(path):
        where = f"{path}:{number}"
        item = _item(where, line, number)
        if named and item.id in lines:
            raise UnreadableItem(f"{where}: id {item.id} is that of line {lines[item.id]} already")
        lines[item.id] = number
        found.append(item)
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.strip()
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UnreadableItem(f"{path}: is no whole gzip file ({error}); write it again") from error


def _item(where: str, line: bytes, number: int) -> Item:
    try:
        document = instance_store.document(line, where)
        identity = _identity(document, number)
        if "op_type" in document:
            instance_onnx.check(document)
            return onnx_item(document, identity, line.decode())
        if "api" not in document:
            raise InstanceError("has neither op_type nor api, so it is no operator instance")
        if instance_store.as_written(line) is None:  # aliases, inline tensors: made canonical
            document = json.loads(instance_store.check({k: v for k, v in document.items() if k != "line"}))
        return instance_item(document, identity, line.decode())
    except instance_store.StoreError as error:
        raise UnreadableItem(str(error)) from error
    except InstanceError as error:
        raise UnreadableItem(f"{where}: {error}") from error


def _identity(document: Mapping[str, Any], number: int) -> str | int:
    """What an instance goes by: its id, its line in the file it was taken from, else its line in this file."""
    identity = document.get("id", document.get("line", number))
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise InstanceError(f"the id must be text or a whole number, got {identity!r}")
    return identity


def onnx_item(document: Mapping[str, Any], identity: str | int, text: str) -> Item:
    """The item of an ONNX instance, OPERA's or ours, that `fuzz.instance_onnx.check` accepts."""
    call = onnx_call(document["op_type"], document["kwargs"], _typed(document, "input"), _typed(document, "output"))
    return Item(identity, (call,), text)


def _typed(document: Mapping[str, Any], side: str) -> tuple[Tensor, ...]:
    pairs = zip(document.get(f"{side}_dtype") or (), document.get(f"{side}_shape") or (), strict=False)
    return tuple(Tensor((dtype or "").lower(), None if shape is None else tuple(shape)) for dtype, shape in pairs)


def onnx_call(
    op_type: str,
    attributes: Mapping[str, Value],
    inputs: Sequence[Tensor | None],
    results: tuple[Tensor, ...] = (),
    domain: str = "",
    contents: Mapping[int, Value] = MappingProxyType({}),
) -> Call:
    """A call of an ONNX operator; None marks an optional input that is left out. Inputs get their formal names.

    `contents` holds the elements of some inputs by position.
    """
    formals, defaults = _formals(op_type, domain)
    parameters: dict[str, Value] = {name: _plain(value) for name, value in attributes.items()}
    named: dict[str, Value] = {}
    for at, tensor in enumerate(inputs):
        if tensor is not None:
            formal = formals[at] if at < len(formals) else f"input {at}"
            name = formal if formal not in parameters else f"input {at}"
            parameters[name] = tensor
            if at in contents:
                named[name] = contents[at]
    return Call(op_type, parameters, defaults, results, named)


def _plain(value: Value) -> Value:
    """OPERA's file writes texts as ``{"bytes": …}``."""
    if isinstance(value, Mapping) and value.keys() == {"bytes"}:
        return value["bytes"]
    return [_plain(each) for each in value] if isinstance(value, list) else value


@cache
def _formals(op_type: str, domain: str) -> tuple[tuple[str, ...], Mapping[str, Value]]:
    """The formal inputs and the attributes' defaults of an operator's newest schema; empty where there is none."""
    try:
        schema = onnx.defs.get_schema(op_type, domain)
    except onnx.defs.SchemaError:
        return (), {}
    variadic = OpSchema.FormalParameterOption.Variadic
    names = tuple(f"{formal.name} 0" if formal.option == variadic else formal.name for formal in schema.inputs)
    defaults = {
        name: onnx.helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    return names, {k: v.decode() if isinstance(v, bytes) else v for k, v in defaults.items()}


def instance_item(document: Mapping[str, Any], identity: str | int, text: str) -> Item:
    """The item of a library instance that `fuzz.instance.parse` accepts; of its dtypes aliases are kept as they are."""
    tensors = [_tensor(entry) for entry in document.get("tensors") or ()]
    parameters: dict[str, Value] = {}
    for prefix, part in (("init ", document.get("init") or {}), ("", document)):
        for at, value in enumerate(part.get("args") or ()):
            parameters[f"{prefix}{at}"] = _argument(value, tensors)
        for name, value in (part.get("kwargs") or {}).items():
            parameters[f"{prefix}{name}"] = _argument(value, tensors)
    call = Call(str(document["api"]), parameters)
    return Item(identity, (call,), text)


def _argument(value: Value, tensors: list[Tensor]) -> Value:
    if isinstance(value, list):
        return [_argument(each, tensors) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"tensor"}:
        return tensors[value["tensor"]]
    if value.keys() == {"tuple"}:
        return _argument(value["tuple"], tensors)
    return _tensor(value) if "dtype" in value and len(value) > 1 else value


def _tensor(entry: Mapping[str, Any]) -> Tensor:
    shape = entry.get("shape")
    if shape is None:
        shape, values = [], entry.get("values")
        while isinstance(values, list):
            shape, values = [*shape, len(values)], values[0] if values else None
    return Tensor(str(entry["dtype"]), tuple(shape), bool(entry.get("constant")))
