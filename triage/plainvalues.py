"""Numbers as a person would fill a long tensor with, in the place of those that a script can only list or pack. Pure.

Whether the failure stays is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fuzz.case import Case
from fuzz.instance import tensors as drawn_tensors
from fuzz.wire import Raw
from triage.layout import render
from triage.literals import DRAWN, Array, array_expr, drawn
from triage.passes._instances import parsed, with_instance
from triage.passes.instance_values import scalars
from triage.submodel import inner_tensors, load, tensors, with_model, with_tensors

#: A tensor that takes more lines of a script than this is long.
_MOST_LINES = 4
#: A larger tensor of a call is left as it was drawn: its values would have to stand in the instance.
_MOST_WRITTEN = 4096
#: Counted numbers begin again behind this one.
_LAST = 9

#: The simplest first. Zeros come late: what a compiler does with them shows least.
_FORMS: tuple[Callable[[Array], Array], ...] = (
    lambda array: np.ones_like(array),
    lambda array: np.resize(np.arange(1, _LAST + 1), array.shape).astype(array.dtype),
    lambda array: np.resize(np.arange(_low(array), _high(array) + 1), array.shape).astype(array.dtype),
    lambda array: np.zeros_like(array),
    lambda array: _all_but_one(array),
    *(lambda array, draw=draw: drawn(draw, array) for draw in DRAWN.values()),
)


def plainer(case: Case) -> Iterator[Case]:
    """The case with each of its long tensors filled more plainly, the plainest first; one tensor at a time."""
    return _instances(case) if case.kind == "instance" else _models(case)


def _models(case: Case) -> Iterator[Case]:
    for name, array in tensors(case, load(case)).items():
        for plain in _shorter(array):
            yield with_tensors(case, load(case), {name: plain})
    for at, tensor in enumerate(inner_tensors(load(case).graph)):
        for plain in _shorter(numpy_helper.to_array(tensor)):
            model = load(case)
            _refill(list(inner_tensors(model.graph))[at], plain)
            yield with_model(case, model)


def _refill(tensor: onnx.TensorProto, plain: Array) -> None:
    """Other numbers in the field, raw or typed, that holds the old ones: only typed ones have a textual syntax."""
    if tensor.HasField("raw_data"):
        tensor.CopyFrom(numpy_helper.from_array(plain, tensor.name))
    else:
        tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, plain.shape, plain.ravel()))


def _instances(case: Case) -> Iterator[Case]:
    instance = parsed(case)
    for at, value in enumerate(drawn_tensors(instance)):
        if isinstance(value, Raw) or not isinstance(value, np.ndarray) or value.size > _MOST_WRITTEN:
            continue
        for plain in _shorter(value):
            tensor = replace(instance.tensors[at], values=scalars(plain), seed=0, low=None, high=None)
            filled = (*instance.tensors[:at], tensor, *instance.tensors[at + 1 :])
            yield with_instance(case, replace(instance, tensors=filled))


def _shorter(array: Array) -> Iterator[Array]:
    """The array in every plain form that a script has fewer lines for; none if it is short as it is."""
    before = _lines(array)
    if before <= _MOST_LINES or array.dtype.kind not in "iufb":
        return
    for form in _FORMS:
        plain = np.asarray(form(array))
        if plain.dtype == array.dtype and _lines(plain) < before:
            yield plain


def _lines(array: Array) -> int:
    """How long people look at it: packed bytes say nothing in however few lines."""
    lines = render(array_expr(array))
    return len(lines) + (_MOST_LINES if "b64decode" in "".join(lines) else 0)


def _low(array: Array) -> int:
    """The least number, if it is a small one: integers may be indices."""
    return max(-_LAST, int(np.nan_to_num(array.astype(np.float64).min())))


def _high(array: Array) -> int:
    return max(_low(array), min(_LAST, int(np.nan_to_num(array.astype(np.float64).max()))))


def _all_but_one(array: Array) -> Array:
    """Zeros, but for the number that is farthest from zero, which stays."""
    flat = array.ravel()
    at = int(np.argmax(np.abs(np.nan_to_num(flat.astype(np.float64)))))
    return np.where(np.arange(flat.size) == at, flat, np.zeros_like(flat)).reshape(array.shape)
