"""Attributes left to their defaults, and numbers in them towards 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import onnx
from onnx import AttributeProto

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import load, open_shapes, with_model

KINDS = ("onnx",)
#: Counts and sizes that mean nothing when they are 0, which no checker says.
_POSITIVE = frozenset(
    {
        "blocksize",
        "dilations",
        "group",
        "hidden_size",
        "kernel_shape",
        "kv_num_heads",
        "num_groups",
        "num_outputs",
        "q_num_heads",
        "size",
        "strides",
    }
)
_BODIES = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All attributes of a node dropped, then halves of them, then each; then each with simpler numbers."""
    for at, node in enumerate(walk(load(case).graph)):
        names = [attribute.name for attribute in node.attribute if attribute.type not in _BODIES]
        for chunk in chunks(len(names)):
            yield _changed(case, at, {names[position]: None for position in chunk})
        for attribute in node.attribute:
            simpler = _SIMPLER.get(attribute.type)
            for value in simpler(attribute) if simpler else ():
                yield _changed(case, at, {attribute.name: value})


def _changed(case: Case, at: int, changes: Mapping[str, AttributeProto | None]) -> Case:
    model = load(case)
    open_shapes(model)  # what the node makes may have other sizes now
    node = list(walk(model.graph))[at]
    kept = [attribute for attribute in node.attribute if attribute.name not in changes]
    kept += [value for value in changes.values() if value is not None]
    del node.attribute[:]
    node.attribute.extend(kept)
    return with_model(case, model)


def _integer(attribute: AttributeProto) -> Iterator[AttributeProto]:
    for value in _fills(attribute):
        if abs(value) < abs(attribute.i) or value == -attribute.i != 0:
            yield onnx.helper.make_attribute(attribute.name, value)


def _integers(attribute: AttributeProto) -> Iterator[AttributeProto]:
    """All zeros, all ones, each number towards zero, and the list shortened."""
    given = list(attribute.ints)
    choices = [[fill] * len(given) for fill in _fills(attribute) if sum(map(abs, given)) > fill * len(given)]
    choices += [given[: len(given) // 2], given[:1], given[:-1]] if len(given) > 1 else []
    for at, number in enumerate(given):
        choices += [[*given[:at], fill, *given[at + 1 :]] for fill in _fills(attribute) if abs(number) > fill]
    for choice in choices:
        if choice:
            yield onnx.helper.make_attribute(attribute.name, choice)


def _fills(attribute: AttributeProto) -> tuple[int, ...]:
    return (1,) if attribute.name in _POSITIVE else (0, 1)


def _real(attribute: AttributeProto) -> Iterator[AttributeProto]:
    for value in (0.0, 1.0, float(round(attribute.f, 1)) if abs(attribute.f) < 1e9 else 2.0):
        if len(repr(value)) < len(repr(attribute.f)) or (value == 0 != attribute.f) or (value == 1 < abs(attribute.f)):
            yield onnx.helper.make_attribute(attribute.name, value)


_SIMPLER: dict[int, Callable[[AttributeProto], Iterator[AttributeProto]]] = {
    AttributeProto.INT: _integer,
    AttributeProto.INTS: _integers,
    AttributeProto.FLOAT: _real,
}
