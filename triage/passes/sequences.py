"""Shorter sequences among the graph inputs, of smaller tensors and simpler numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._forms import FORMS, simpler
from triage.passes._sizes import HUMAN
from triage.submodel import load, open_shapes, with_model

KINDS = ("onnx",)

_Array = np.ndarray[Any, Any]


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every sequence emptied, cut to one item, to half, and without its last item; then its items cut and simpler."""
    for name, value in case.inputs.items():
        if not isinstance(value, list):
            continue
        for length in dict.fromkeys((0, 1, len(value) // 2, len(value) - 1)):
            if 0 <= length < len(value):
                yield replace(case, inputs={**case.inputs, name: value[:length]}, expected=None)
        if all(isinstance(item, np.ndarray) for item in value):
            yield from _with_items(case, name, value, _cut)
            for number in range(len(FORMS)):
                yield from _with_items(case, name, value, partial(_formed, number))


def _cut(item: _Array) -> _Array:
    """At most two along every axis that is longer than a person reads."""
    return np.array(item[tuple(slice(size if size <= HUMAN else HUMAN - 1) for size in item.shape)])


def _formed(number: int, item: _Array) -> _Array:
    return dict(simpler(item)).get(number, item)


def _with_items(case: Case, name: str, items: Sequence[_Array], change: Callable[[_Array], _Array]) -> Iterator[Case]:
    """The case with changed items, whose declared sizes are left open if others come; none where nothing changes."""
    changed = [change(item) for item in items]
    if all(one is other or one.tobytes() == other.tobytes() for one, other in zip(changed, items, strict=True)):
        return
    model = load(case)
    if any(one.shape != other.shape for one, other in zip(changed, items, strict=True)):
        open_shapes(model)
        for info in (*model.graph.input, *model.graph.output):
            _open(info.type)
    yield with_model(case, model, {**case.inputs, name: changed})


def _open(kind: onnx.TypeProto) -> None:
    """Forget the sizes of the tensors that a sequence or an optional holds, in place."""
    for holder in (kind.sequence_type, kind.optional_type):
        if holder.HasField("elem_type"):
            _open(holder.elem_type)
            for dim in holder.elem_type.tensor_type.shape.dim:
                dim.Clear()
