"""Smaller tensors: inputs and initializers sliced, equal sizes together as well as alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.passes._sizes import Plan, plans
from triage.submodel import load, open_shapes, tensors, with_tensors

KINDS = ("onnx",)
#: Integer tensors of at most one axis and this many elements may be shapes, sizes, axes or indices.
_CONFIGURATION = 16
#: Attributes whose numbers are sizes of tensors.
_SIZES = frozenset(
    {"hidden_size", "kernel_shape", "output_shape", "shape", "sizes", "split", "value_int", "value_ints"}
)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every plan with the first elements of each axis, with the last, and with numbers that mean a size following.

    Which elements matter is not known; halves from both ends find them.
    """
    arrays = tensors(case, load(case))
    data = frozenset(name for name, array in arrays.items() if not _configures(array))
    for plan in plans({name: array.shape for name, array in arrays.items()}, data):
        for last in (False, True):
            yield _sliced(case, arrays, plan, follow=False, last=last)
        if plan.sizes:
            yield _sliced(case, arrays, plan, follow=True, last=False)


def _configures(array: np.ndarray) -> bool:
    return array.dtype.kind in "iu" and array.ndim <= 1 and array.size <= _CONFIGURATION


def _sliced(case: Case, arrays: Mapping[str, np.ndarray], plan: Plan, follow: bool, last: bool) -> Case:
    model = load(case)
    open_shapes(model)
    changed = {name: _part(arrays[name], shape, last) for name, shape in plan.shapes.items()}
    if follow:
        for name, array in arrays.items():
            if _configures(array):
                changed[name] = _following(changed.get(name, array), plan.sizes)
        _follow_attributes(model, plan.sizes)
    return with_tensors(case, model, changed)


def _part(array: np.ndarray, shape: tuple[int, ...], last: bool) -> np.ndarray:
    sizes = zip(array.shape, shape, strict=True)
    return np.array(array[tuple(slice(old - new, old) if last else slice(new) for old, new in sizes)])


def _following(array: np.ndarray, sizes: Mapping[int, int]) -> np.ndarray:
    numbers = [sizes.get(int(number), int(number)) for number in array.ravel()]
    return np.array(numbers, dtype=array.dtype).reshape(array.shape)


def _follow_attributes(model: onnx.ModelProto, sizes: Mapping[int, int]) -> None:
    for node in walk(model.graph):
        for attribute in node.attribute:
            if attribute.name in _SIZES:
                attribute.ints[:] = [sizes.get(number, number) for number in attribute.ints]
                if attribute.HasField("i"):
                    attribute.i = sizes.get(attribute.i, attribute.i)
