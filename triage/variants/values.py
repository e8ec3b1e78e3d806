"""Values made ordinary: no NaN, infinity, negative number or zero; no empty tensor, no scalar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.schemas import formal_name
from triage.variants import Variant, neighbour

_PLAIN = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)


def _distinct(array: Array) -> list[Array]:
    """Two tensors of small numbers without a zero: what is right for both is not right by coincidence."""
    steps = np.arange(array.size).reshape(array.shape)
    return [(steps % 5 + 1).astype(array.dtype), (steps % 3 + 2).astype(array.dtype)]


def _positive(array: Array) -> list[Array]:
    return [np.abs(array), np.abs(array) + np.array(1, array.dtype)]


def _zeros(array: Array) -> list[Array]:
    return [np.zeros_like(array)]


@dataclass(frozen=True)
class Special:
    """A kind of number that compilers stumble over: which elements are of it, and what to put in their place."""

    text: str
    said: str
    kinds: str
    found: Callable[[Array], Array]
    instead: Callable[[Array], Sequence[Array]]

    def replaced(self, array: Array) -> list[Array]:
        """The array with ordinary numbers in the place of the special ones, some ways; none where there are none."""
        mask = self.found(array) if array.dtype.kind in self.kinds else np.array(False)
        return [np.where(mask, instead, array) for instead in self.instead(array)] if mask.any() else []


#: The absolute value of a negative axis is out of range, where zero may be an axis still.
SPECIAL = (
    Special("NaN", "no NaN in", "f", np.isnan, _distinct),
    Special("infinite", "no infinity in", "f", np.isinf, _distinct),
    Special("negative", "no negative number in", "if", lambda array: np.asarray(array < 0), _positive),
    Special("negative", "no negative number in", "i", lambda array: np.asarray(array < 0), _zeros),
    Special("zero", "no zero in", "if", lambda array: np.asarray(array == 0), _distinct),
)


def variants(case: Case) -> Iterator[Variant]:
    """Each tensor without its special numbers, then with an ordinary shape."""
    model = parsed(case.model)
    fed = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray) and _is_plain(value)}
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer if one.data_type in _PLAIN}
    for name, array in {**constants, **fed}.items():
        for special in SPECIAL:
            values = special.replaced(array)
            if values:
                sentence = f"With {special.said} `{name}` the same model passes."
                text = f"{special.text} {formal_name(model, name)}"
                yield Variant("value", text, sentence, tuple(_with_value(case, name, value) for value in values))
    for name, array in fed.items():
        yield from _ordinary_shape(case, name, formal_name(model, name), array)


def _is_plain(array: Array) -> bool:
    return array.dtype.isbuiltin == 1 and array.dtype.kind in "fiu"


def _ordinary_shape(case: Case, name: str, formal: str, array: Array) -> Iterator[Variant]:
    if array.ndim == 0:
        longer = _with_value(case, name, array.reshape(1))
        yield Variant("value", f"scalar {formal}", f"With a one-dimensional `{name}` the same model passes.", (longer,))
    elif 0 in array.shape:
        larger = np.zeros(tuple(size or 2 for size in array.shape), array.dtype)
        cases = tuple(_with_value(case, name, value) for value in _distinct(larger))
        yield Variant("value", f"empty {formal}", f"With a non-empty `{name}` the same model passes.", cases)


def _with_value(case: Case, name: str, value: Array) -> Case:
    model = parsed(case.model)
    for info in model.graph.input:
        if info.name == name:
            kind = info.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(name, kind, value.shape))
    for tensor in model.graph.initializer:
        if tensor.name == name:
            tensor.CopyFrom(numpy_helper.from_array(value, name))
    fed = {**case.inputs, name: value} if name in case.inputs else dict(case.inputs)
    return neighbour(case, model, fed)
