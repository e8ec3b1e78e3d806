"""Values made ordinary: no NaN, infinity, negative number or zero; no fraction or number at all in what an operator
takes beside its data; no empty tensor, no scalar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TypeGuard

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.defs import OpSchema

from fuzz.case import Case
from fuzz.wire import Value
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.schemas import formal_inputs, formal_name
from triage.variants import Variant, neighbour


def _distinct(array: Array) -> list[Array]:
    """Two tensors of small numbers without a zero: what is right for both is not right by coincidence."""
    steps = np.arange(array.size).reshape(array.shape)
    return [(steps % 5 + 1).astype(array.dtype), (steps % 3 + 2).astype(array.dtype)]


def _positive(array: Array) -> list[Array]:
    return [np.abs(array), np.abs(array) + np.array(1, array.dtype)]


def _whole(array: Array) -> list[Array]:
    """Rounded up, and one more; 0 is left out, for it is no scale and no size."""
    above = np.ceil(array)
    return [np.where(above == 0, 1, above).astype(array.dtype), (np.maximum(above, 0) + 1).astype(array.dtype)]


def _even(array: Array) -> list[Array]:
    """Each number one less, and one more."""
    return [array - np.array(1, array.dtype), array + np.array(1, array.dtype)]


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
        with np.errstate(invalid="ignore"):
            mask = self.found(array) if array.dtype.kind in self.kinds else np.array(False)
        return [np.where(mask, instead, array) for instead in self.instead(array)] if mask.any() else []

    def mixed(self, array: Array) -> list[Array]:
        """The array with ordinary numbers beside the special ones, where all are special: in turns along each axis,
        the first one alone and the last one alone. So a slice or window of special numbers is left where there are
        several."""
        values = self.replaced(array) if array.size > 1 else []
        if not values or not np.asarray(self.found(array)).all():
            return []
        turns = np.indices(array.shape).sum(axis=0) % 2
        places = np.arange(array.size).reshape(array.shape)
        masks = (turns == 0, turns == 1, places == 0, places == array.size - 1)
        return [np.where(mask, value, array) for mask, value in zip(masks, cycle(values), strict=False)]

    def appended(self, array: Array) -> list[Array]:
        """A vector with an ordinary number behind it."""
        one = self.instead(array[:1])[0] if array.ndim == 1 and array.size else array[:0]
        return [np.concatenate([array, one])] if one.size else []


def special_numbers(array: Array, specials: Iterable[Special]) -> Iterator[tuple[str, str, list[Array]]]:
    """(a title's words, a sentence's, the values) of an array without its special numbers."""
    for special in specials:
        if values := special.replaced(array):
            yield special.text, special.said, values


def uniform_numbers(array: Array) -> Iterator[tuple[str, str, list[Array]]]:
    """As `special_numbers`: with other numbers beside the special ones, where there are none."""
    for special in SPECIAL:
        if special.text in _TELLING_ALONE and (values := special.mixed(array)):
            yield f"{ALL}{special.text}", f"other numbers beside those that are {special.text} in", values


#: What the title's word begins with where all numbers are of a kind, and the kinds of which that may be what matters:
#: the extremes of a window or a slice that holds nothing else.
ALL = "all-"
_TELLING_ALONE = ("NaN", "-inf", "+inf", "infinite", "negative")
#: Beyond this a number is large: 8-bit floats end at 240 and 448, and an exponential of float16 long before.
LARGE = 100
#: Operators that round their data to whole numbers.
_ROUNDING = ("Round", "QuantizeLinear", "DynamicQuantizeLinear")
#: The operator that divides by its second input and rounds.
_ROUNDS_BY_SCALE = "QuantizeLinear"
#: The absolute value of a negative axis is out of range, where zero may be an axis still.
SPECIAL = (
    Special("NaN", "no NaN in", "f", np.isnan, _distinct),
    Special("-inf", "no minus infinity in", "f", np.isneginf, _distinct),
    Special("+inf", "no plus infinity in", "f", np.isposinf, _distinct),
    Special("infinite", "no infinity in", "f", np.isinf, _distinct),
    Special("large", f"small numbers for those beyond {LARGE} in", "f", lambda array: np.abs(array) > LARGE, _distinct),
    Special("negative", "no negative number in", "if", lambda array: (array < 0) & np.isfinite(array), _positive),
    Special("negative", "no negative number in", "i", lambda array: np.asarray(array < 0), _zeros),
    Special("zero", "no zero in", "if", lambda array: np.asarray(array == 0), _distinct),
)

#: What only inputs behind an operator's first are tried without: data are full of fractions.
FRACTIONAL = Special("fractional", "only whole numbers in", "f", lambda a: np.isfinite(a) & (a != np.floor(a)), _whole)
#: What only integers in an optional input are tried without: halves are rounded to even numbers, zero points included.
ODD = Special("odd", "only even numbers in", "iu", lambda array: np.asarray(array % 2 == 1), _even)
#: What only an optional input is tried without, which zeros often make as if it were left out.
NON_ZERO = Special("non-zero", "only zeros in", "fiu", lambda array: np.asarray(array != 0), _zeros)


#: How the condition on ties begins.
HALFWAY = "halfway"


def halfway(step: float = 1.0) -> Special:
    """Numbers that are half-way between two multiples of a step, which rules of rounding treat differently."""

    def moved(array: Array) -> list[Array]:
        return [(array + side * step / 4).astype(array.dtype) for side in (1, -1)]

    between = "two whole ones" if step == 1 else f"two multiples of {step:g}"
    return Special(
        HALFWAY, f"no number half-way between {between} in", "f", lambda array: array / step % 1 == 0.5, moved
    )


def variants(case: Case) -> Iterator[Variant]:
    """Each tensor without its special numbers, then with an ordinary shape."""
    model = parsed(case.model)
    fed, constants = _fed(case), _held(model)
    known = {**constants, **fed}
    for name, array in known.items():
        yield from _with_numbers(case, model, name, special_numbers(array, (*SPECIAL, *_by_place(model, name, known))))
    empty = {name: array for name, array in constants.items() if not array.size or array.shape == (1,)}
    truths = {name: value for name, value in case.inputs.items() if _is_truths(value)}
    for name, array in {**fed, **empty, **truths}.items():
        yield from _ordinary_shape(case, name, formal_name(model, name), array)


def uniform(case: Case) -> Iterator[Variant]:
    """Each tensor of which all numbers are of one special kind with others beside them."""
    model = parsed(case.model)
    for name, array in {**_held(model), **_fed(case)}.items():
        yield from _with_numbers(case, model, name, uniform_numbers(array))


def _with_numbers(
    case: Case, model: onnx.ModelProto, name: str, found: Iterable[tuple[str, str, list[Array]]]
) -> Iterator[Variant]:
    for text, said, values in found:
        sentence = f"With {said} `{name}` the same model passes."
        cases = tuple(with_value(case, name, value) for value in values)
        yield Variant("value", f"{text} {formal_name(model, name)}", sentence, cases)


def _fed(case: Case) -> dict[str, Array]:
    return {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray) and _is_plain(value)}


def _held(model: onnx.ModelProto) -> dict[str, Array]:
    return {one.name: numpy_helper.to_array(one) for one in model.graph.initializer if _is_held(one)}


def _by_place(model: onnx.ModelProto, name: str, known: Mapping[str, Array]) -> Iterator[Special]:
    """The kinds of number that are worth a try where nodes read the tensor; int64 are axes and sizes.

    An operator's first input is data, which is full of fractions, unless it is indices, which are not.
    """
    places = [(node, at) for node in model.graph.node for at, read in enumerate(node.input) if read == name]
    if any(at == 0 for _, at in places):
        if formal_name(model, name) == "indices":
            yield FRACTIONAL
        if places[0][0].op_type in _ROUNDING:
            yield halfway(_step(places[0][0], known))
        return
    yield FRACTIONAL
    formals = [formal for node, at in places for formal in formal_inputs(node, model)[at : at + 1]]
    optional = any(formal.option == OpSchema.FormalParameterOption.Optional for formal in formals)
    if optional and known[name].dtype != np.int64:
        yield from (ODD, NON_ZERO)


def _step(node: onnx.NodeProto, known: Mapping[str, Array]) -> float:
    """What the node divides its data by before it rounds them."""
    scale = known.get(node.input[1]) if node.op_type == _ROUNDS_BY_SCALE and len(node.input) > 1 else None
    return float(scale.item()) if scale is not None and scale.size == 1 and scale.item() else 1.0


def _is_held(tensor: TensorProto) -> bool:
    return _is_plain(numpy_helper.to_array(tensor))


def _is_plain(array: Array) -> bool:
    return array.dtype.isbuiltin == 1 and array.dtype.kind in "fiu"


def _is_truths(value: Value) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray) and value.dtype == np.bool_


def _ordinary_shape(case: Case, name: str, formal: str, array: Array) -> Iterator[Variant]:
    if array.ndim == 0:
        longer = with_value(case, name, array.reshape(1))
        yield Variant("value", f"scalar {formal}", f"With a one-dimensional `{name}` the same model passes.", (longer,))
    elif array.shape == (1,) and _is_meant_as_scalar(case, name):
        single = with_value(case, name, array.reshape(()))
        yield Variant("value", f"1-D {formal}", f"With a 0-D `{name}` the same model passes.", (single,))
    elif 0 in array.shape:
        larger = np.zeros(tuple(size or 2 for size in array.shape), array.dtype)
        cases = tuple(with_value(case, name, value) for value in _distinct(larger))
        yield Variant("value", f"empty {formal}", f"With a non-empty `{name}` the same model passes.", cases)


def _is_meant_as_scalar(case: Case, name: str) -> bool:
    """Whether the specification's words call the tensor a scalar, in some place where a node reads it."""
    model = parsed(case.model)
    read = [(node, at) for node in model.graph.node for at, each in enumerate(node.input) if each == name]
    formals = [formal for node, at in read for formal in formal_inputs(node, model)[at : at + 1]]
    return any("scalar" in formal.description.lower() for formal in formals)


def with_value(case: Case, name: str, value: Array) -> Case:
    """The case with another value in an input or a constant."""
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
