"""What holds between the inputs of an operator made ordinary: their types, their number of dimensions, their axes.

A converter that forgets to bring two inputs to one type, a kernel that knows six dimensions, an axis that happens to be
the first one: no single attribute or number shows it. Each neighbour here has `contrasts` that show how far it reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import onnx
from onnx import AttributeProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.schemas import CASTS, attribute_text, formal_inputs, schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant

KIND, TYPES = "relation", "types"
#: How the condition ends of a parameter that changes the first axis, and of one that changes one of the first two.
FIRST, SECOND, LEADING = "axis 0", "axis 1", "axis 0 or 1"
#: What a title says of `axes` that must not be all of them.
SOME_AXES = "axes that leave some out"
#: How a condition on the number of dimensions says it.
RANK = re.compile(r"(?:.* of more than )?(\d+)(?:-D| dimension)")
#: Fewer dimensions than this are what most operators are made for.
MANY = 4
#: Per-axis parameters that leave an axis as it is, by the name of the input; sizes are those of the data.
_NEUTRAL: Mapping[str, float] = {"scales": 1.0, "pads": 0}
#: Per-axis parameters by which sizes are multiplied.
_FACTORS = ("scales", "repeats")
#: Those of fractions; such are whole numbers else.
_FRACTIONS = ("scales", "roi")
#: How the specification's type strings call numpy's types, where not by the same name.
_SPELLED = {"float32": "float", "float64": "double"}


#: What two inputs of different types are tried in, besides each other's.
_THIRD = ("float32", "int32", "int64")


@dataclass(frozen=True)
class Wider:
    """A case outside of a condition's words that would have to fail for the wider words to hold."""

    said: str
    case: Case
    text: str


def variants(case: Case) -> Iterator[Variant]:
    """The neighbours of a model of one node; none of a larger one."""
    if len(parsed(case.model).graph.node) != 1:
        return
    yield from _one_of_many(case)
    yield from _one_type(case)
    yield from _all_axes(case)
    yield from _another_axis(case)
    yield from _last_axis(case)
    yield from _no_dimensions(case)
    yield from _fewer_dimensions(case, MANY)


def of_few_dimensions(case: Case) -> Iterator[Variant]:
    """The neighbours with one dimension less of a model of one node whose data have two or three."""
    data = _data(case) if len(parsed(case.model).graph.node) == 1 else None
    if data is not None and data.array.ndim < MANY:
        yield from _fewer_dimensions(case, 2)


def wider(case: Case, variant: Variant) -> Iterator[Wider]:
    """The cases that would widen a condition of this module, found by its words."""
    if variant.kind not in (KIND, TYPES):
        return
    for one, two in _pairs_of_types(case):
        if (variant.kind, variant.text) == (TYPES, _typed(one, two)):
            swapped = _retyped(case, {one.name: two.array.dtype, two.name: one.array.dtype})
            yield Wider("the two types exchanged", swapped, "inputs of different types")
            yield from _one_alone(case, variant, one, two)
    data = _data(case)
    if data is None:
        return
    rank = data.array.ndim
    for one in _inputs(case)[1:]:
        if variant.text == f"{one.formal} that change {SECOND}":
            turned = np.array([2 * _kept(one, data)[0], *_kept(one, data)[1:]]).astype(one.array.dtype)
            said = f"`{one.name} = {turned.tolist()}`"
            yield Wider(
                said, with_tensors(case, _open(case), {one.name: turned}), f"{one.formal} that change {LEADING}"
            )
    if variant.text == _first_axis(data):
        whole = _before(case, [name for name, array in _arrays(case).items() if array.shape == data.array.shape])
        words = "axis=0" if _given_axis(case) == 0 else "axis 0"
        yield Wider(f"`{data.name}` of two dimensions and `axis=0`", _with_axis(whole, 0), words)
    elif variant.text == _dimensions(data):
        said = f"`{data.name}` of {rank + 1} dimensions"
        some = f"{rank - 1} dimension{'s' * (rank > 2)}"
        yield Wider(said, _reranked(case, 1), f"{data.formal} of more than {some}")


def _one_alone(case: Case, variant: Variant, one: _Input, two: _Input) -> Iterator[Wider]:
    """Both in the type in which they do not pass: what fails so, too, needs one input's type, whatever the other's."""
    passing = {_arrays(other)[one.name].dtype for other in variant.cases}
    for odd, other in ((one, two), (two, one)):
        if odd.array.dtype not in passing:
            same = _retyped(case, {other.name: odd.array.dtype})
            yield Wider(f"both of {odd.array.dtype.name}", same, f"{odd.array.dtype.name} {odd.formal}")


def of_other_types(case: Case, variant: Variant) -> Iterator[tuple[str, Case]]:
    """The inputs of a condition on their two types both in a third one, in words and as cases.

    What fails then as well does not hang on their being two.
    """
    if variant.kind != TYPES:
        return
    for one, two in _pairs_of_types(case):
        if variant.text != _typed(one, two):
            continue
        for dtype in map(np.dtype, _THIRD):
            if dtype not in (one.array.dtype, two.array.dtype) and one.may_be(dtype) and two.may_be(dtype):
                yield f"both of {dtype.name}", _retyped(case, {one.name: dtype, two.name: dtype})


# ---------------------------------------------------------------- the tensors of the only node


@dataclass(frozen=True)
class _Input:
    """A tensor that the node reads, what the specification calls it, and the formal type that it shares with others."""

    name: str
    formal: str
    kind: str
    allowed: frozenset[str]
    array: Array

    def may_be(self, dtype: np.dtype) -> bool:
        """Whether the specification allows the type."""
        return f"tensor({_SPELLED.get(dtype.name, dtype.name)})" in self.allowed


def _inputs(case: Case) -> list[_Input]:
    model = load(case)
    node, arrays = model.graph.node[0], _arrays(case)
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    return [
        _Input(name, formal.name, formal.type_str, frozenset(formal.types), arrays[name])
        for name, formal in pairs
        if name in arrays
    ]


def _arrays(case: Case) -> dict[str, Array]:
    found = tensors(case, load(case))
    return {name: array for name, array in found.items() if array.dtype.isbuiltin == 1 and array.dtype.kind in "fiub"}


def _data(case: Case) -> _Input | None:
    """The first input of the node."""
    node = parsed(case.model).graph.node[0]
    return next((one for one in _inputs(case) if one.name == node.input[0]), None)


# ---------------------------------------------------------------- inputs of one type


def _one_of_many(case: Case) -> Iterator[Variant]:
    """The only input of an operator that takes any number of them, given twice."""
    model = load(case)
    node = model.graph.node[0]
    formals = formal_inputs(node, model)
    if len(node.input) == 1 and formals and formals[0].option == OpSchema.FormalParameterOption.Variadic:
        node.input.append(node.input[0])
        twice = with_tensors(case, model, {})
        yield Variant(KIND, "a single input", "With its input given twice the same model passes.", (twice,))


def _one_type(case: Case) -> Iterator[Variant]:
    """Two inputs that may have different types, both in the one's type and both in the other's; else in one of these.

    A compiler may have another bug in one of the types.
    """
    for one, two in _pairs_of_types(case):
        cases = {
            each.array.dtype.name: _retyped(case, {other.name: each.array.dtype})
            for each, other in ((one, two), (two, one))
        }
        for names in (list(cases), *([name] for name in cases)):
            said = " or both of ".join(names)
            sentence = f"With `{one.name}` and `{two.name}` both of {said} the same model passes."
            yield Variant(TYPES, _typed(one, two), sentence, tuple(cases[name] for name in names))


def _typed(one: _Input, two: _Input) -> str:
    return f"{one.array.dtype.name} {one.formal} and {two.array.dtype.name} {two.formal}"


def _pairs_of_types(case: Case) -> Iterator[tuple[_Input, _Input]]:
    """The pairs of inputs whose types differ and that may have each other's type."""
    if parsed(case.model).graph.node[0].op_type in CASTS:
        return
    for one, two in combinations(_inputs(case), 2):
        differ = one.array.dtype != two.array.dtype and one.kind != two.kind
        if differ and one.may_be(two.array.dtype) and two.may_be(one.array.dtype):
            yield one, two


def _retyped(case: Case, types: Mapping[str, np.dtype]) -> Case:
    """The case with tensors of other types, and outputs of the type that they follow."""
    model = load(case)
    open_shapes(model)
    node = model.graph.node[0]
    schema = schema_of(node, model)
    arrays = {name: _arrays(case)[name].astype(dtype) for name, dtype in types.items()}
    kinds = {one.kind: one.name for one in _inputs(case) if one.name in types}
    for info in model.graph.input:
        if info.name in types:
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(types[info.name])
    for name, formal in zip(node.output, schema.outputs if schema else (), strict=False):
        for info in model.graph.output:
            if info.name == name and formal.type_str in kinds:
                info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(types[kinds[formal.type_str]])
    return with_tensors(case, model, arrays)


# ---------------------------------------------------------------- axes


def _all_axes(case: Case) -> Iterator[Variant]:
    """No attribute `axes`, and a parameter for every axis instead, which leaves the others as they are."""
    model, data = load(case), _data(case)
    node = model.graph.node[0]
    given = next((one for one in node.attribute if one.name == "axes" and one.type == AttributeProto.INTS), None)
    if given is None or data is None:
        return
    changed = {}
    for one in _inputs(case)[1:]:
        if one.formal == "sizes":
            full = np.array(data.array.shape, one.array.dtype)
        elif one.formal in _NEUTRAL:
            count = data.array.ndim * (2 if one.formal == "pads" else 1)
            full = np.full(count, _NEUTRAL[one.formal], one.array.dtype)
        else:
            continue
        if one.array.size * data.array.ndim != full.size * len(given.ints):
            return
        for at, axis in enumerate(given.ints):
            full[axis :: data.array.ndim] = one.array[at :: len(given.ints)]
        changed[one.name] = full
    if not changed:
        return
    names = " and ".join(f"`{name}`" for name in changed)
    text, every = attribute_text(given), list(range(data.array.ndim))
    open_shapes(model)
    if list(given.ints) != every:
        given.ints[:] = every
        sentence = f"With `axes={every}` and {names} given for all axes the same model passes."
        yield Variant("attribute", SOME_AXES, sentence, (with_tensors(case, model, changed),))
    del node.attribute[list(node.attribute).index(given)]
    sentence = f"Without `axes` and with {names} given for all axes the same model passes."
    yield Variant("attribute", text, sentence, (with_tensors(case, model, changed),))


def _another_axis(case: Case) -> Iterator[Variant]:
    """One more axis before the only one of the data, with the operator's `axis` where it was."""
    model, data = load(case), _data(case)
    schema = schema_of(model.graph.node[0], model)
    if data is None or data.array.ndim != 1 or schema is None or "axis" not in schema.attributes:
        return
    deeper = _with_axis(_before(case, [data.name]), -1)
    sentence = f"With one more dimension before that of `{data.name}`, and `axis=-1`, the same model passes."
    yield Variant(KIND, _first_axis(data), sentence, (deeper,))


def _last_axis(case: Case) -> Iterator[Variant]:
    """A number for each axis of the data, which changes the last axis instead of the first, or as well as it does."""
    data = _data(case)
    if data is None or data.array.ndim < 2:
        return
    for one in _inputs(case)[1:]:
        sizes = one.formal == "sizes"
        if one.array.shape != (data.array.ndim,) or not (sizes or one.formal in _FACTORS):
            continue
        kept = _kept(one, data)
        factors = one.array / np.maximum(kept, 1)
        if data.array.ndim > 2 and not (factors[:2] == 1).all():
            yield _leading_axes_kept(case, one, kept, SECOND if factors[0] == 1 else LEADING)
        if factors[0] == 1:
            continue
        both = factors[-1] != 1
        turned = np.array([kept[0], *one.array[1:]]) if both else factors[::-1] * kept
        how = "leaves axis 0 as it is" if both else "changes the last axis instead"
        turned = (np.rint(turned) if sizes else turned).astype(one.array.dtype)
        sentence = f"With `{one.name} = {turned.tolist()}`, which {how}, the same model passes."
        text = f"{one.formal} that change {FIRST}"
        yield Variant(KIND, text, sentence, (with_tensors(case, _open(case), {one.name: turned}),))


def _kept(one: _Input, data: _Input) -> Array:
    """The sizes, or the factors, that leave all axes as they are."""
    return np.array(data.array.shape if one.formal == "sizes" else [1] * data.array.ndim)


def _leading_axes_kept(case: Case, one: _Input, kept: Array, which: str) -> Variant:
    """Batch and channels as they are; the last axis is changed if nothing else is."""
    turned = np.concatenate([kept[:2], one.array[2:]])
    if (turned == kept).all():
        turned[-1] = 2 * kept[-1] + 1 if one.formal == "sizes" else 2
    turned = turned.astype(one.array.dtype)
    sentence = f"With `{one.name} = {turned.tolist()}`, which leaves axes 0 and 1 as they are, the same model passes."
    changed = with_tensors(case, _open(case), {one.name: turned})
    return Variant(KIND, f"{one.formal} that change {which}", sentence, (changed,))


def _open(case: Case) -> onnx.ModelProto:
    """The model with outputs of any size."""
    model = load(case)
    open_shapes(model)
    return model


def _given_axis(case: Case) -> int | None:
    """The attribute `axis` as the model gives it."""
    return next((int(one.i) for one in parsed(case.model).graph.node[0].attribute if one.name == "axis"), None)


def _first_axis(data: _Input) -> str:
    return f"1-D {data.formal}"


def _before(case: Case, names: list[str]) -> Case:
    """The case with an axis of two before those of some tensors."""
    model = load(case)
    open_shapes(model)
    _open_ranks(model, 1)
    arrays = _arrays(case)
    return with_tensors(case, model, {name: np.stack([arrays[name], arrays[name]]) for name in names})


def _with_axis(case: Case, axis: int) -> Case:
    model = load(case)
    node = model.graph.node[0]
    kept = [one for one in node.attribute if one.name != "axis"]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("axis", axis)])
    return with_tensors(case, model, {})


# ---------------------------------------------------------------- dimensions


def _no_dimensions(case: Case) -> Iterator[Variant]:
    """A scalar as a vector, and one number in all that has as many numbers as it has dimensions: none."""
    data = _data(case)
    counted = [one.name for one in _inputs(case)[1:] if one.array.shape == (0,) and one.array.dtype.kind == "i"]
    if data is None or data.array.ndim or not counted:
        return
    model = _open(case)
    _open_ranks(model, 1)
    arrays = {name: np.ones(1, _arrays(case)[name].dtype) for name in counted}
    longer = with_tensors(case, model, {**arrays, data.name: np.stack([data.array, data.array])})
    numbers = " and ".join(f"`{name} = [1]`" for name in counted)
    sentence = f"With a one-dimensional `{data.name}` and {numbers} the same model passes."
    yield Variant(KIND, f"scalar {data.formal}", sentence, (longer,))


def _fewer_dimensions(case: Case, least: int) -> Iterator[Variant]:
    """The data without its last dimension, and all that has one number or axis for each dimension likewise."""
    data = _data(case)
    if data is None or data.array.ndim < least:
        return
    if any(array.ndim == data.array.ndim and not array.shape[-1] for array in _arrays(case).values()):
        return  # nothing is left without the last dimension
    if data.array[..., 0].size == 1 < data.array.size:
        return  # a single number is left, of which most options make nothing
    fewer = _reranked(case, -1)
    numbered = np.arange(1, data.array[..., 0].size + 1).reshape(data.array.shape[:-1]).astype(data.array.dtype)
    other = with_tensors(fewer, load(fewer), {data.name: numbered})
    said = f"{data.array.ndim - 1} dimension{'s' * (data.array.ndim > 2)}"
    sentence = f"With `{data.name}` of {said} the same model passes."
    yield Variant(KIND, _dimensions(data), sentence, (fewer, other))


def _dimensions(data: _Input) -> str:
    return f"{data.array.ndim}-D {data.formal}"


def _reranked(case: Case, change: int) -> Case:
    """The case with one dimension less at the end (-1) or one more of size two (1)."""
    model, data = load(case), _data(case)
    assert data is not None
    rank = data.array.ndim
    open_shapes(model)
    _open_ranks(model, change)
    formals = {one.name: one.formal for one in _inputs(case)}
    arrays = {
        name: _array_of_rank(array, rank, change, counts=array.dtype.kind == "i" or formals.get(name) in _FRACTIONS)
        for name, array in _arrays(case).items()
    }
    for attribute in model.graph.node[0].attribute:
        if attribute.type == AttributeProto.INTS:
            attribute.ints[:] = [int(number) for number in _per_axis(np.array(attribute.ints), rank, change)]
    return with_tensors(case, model, arrays)


def _array_of_rank(array: Array, rank: int, change: int, *, counts: bool) -> Array:
    """`counts`: whether a vector may have a number for each dimension; a slope of three channels has not."""
    if array.ndim == rank:
        return array[..., 0] if change < 0 else np.stack([array, array], -1)
    return _per_axis(array, rank, change) if array.ndim == 1 and counts else array


def _per_axis(numbers: Array, rank: int, change: int) -> Array:
    """A vector of one or two numbers for each dimension, or each spatial one, for one dimension less or more."""
    for length in (rank, rank - 2):
        for halves in (1, 2):
            if length > 1 and len(numbers) == length * halves:
                rows = numbers.reshape(halves, length)
                return np.ravel(rows[:, :-1] if change < 0 else np.concatenate([rows, rows[:, -1:]], axis=1))
    return numbers


def _open_ranks(model: onnx.ModelProto, change: int) -> None:
    """Declare the outputs with as many dimensions more or less, of unknown sizes, in place."""
    for info in model.graph.output:
        rank = len(info.type.tensor_type.shape.dim) + change
        kind = info.type.tensor_type.elem_type
        info.CopyFrom(helper.make_tensor_value_info(info.name, kind, [None] * max(rank, 0)))
