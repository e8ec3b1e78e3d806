"""Other witnesses: the same model with other numbers and other sizes. Pure.

What holds for one witness may be a coincidence of its numbers. A model that was reduced to ones and twos is a poor
place to look for what a bug needs: nothing is negative, no number is between two others, many sizes are equal.
Tensors of an operator instance get other numbers only, its arguments may depend on their sizes; `longer` tries others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import TypeAlias

import numpy as np

from fuzz.case import Case
from triage.literals import Array
from triage.passes import _instances
from triage.schemas import CASTS
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.wording import enumerated

Shape: TypeAlias = tuple[int, ...]

#: Tensors of more elements are data whatever they are for.
_MOST_PARAMETERS = 8
#: What takes the place of the numbers of a floating-point parameter: scales, ratios and limits are seldom whole.
_FRACTIONS = (0.6, 1.5, 2.4)


#: So many numbers `longer` gives an axis at least, and their steps: results that are one number are told apart by two.
_LONGER = {48: 5, 20: 3}
#: How many of these differ in a tensor, so that pairs do not repeat.
_PERIODS = (13, 11, 7)


@dataclass(frozen=True)
class Mutant:
    """A case that differs in numbers or sizes only, and what it has instead, in words.

    `name` is the tensor whose numbers differ, "" where sizes do. `change` is what was done: it is the same where the
    same was done to a case that lacks an input of this one.
    """

    said: str
    case: Case
    name: str = ""
    change: str = ""


def mutants(case: Case) -> Iterator[Mutant]:
    """Parameters, numbers and sizes in turn, so that the first few are of every kind.

    Fractions tell on tensors that are long enough only: two elements are scaled by 1.5 and by 2 alike.
    """
    if case.kind != "onnx":
        yield from _instance_numbers(case)
        return
    kinds = (list(_fractions_on_wide(case)), list(_numbers(case)), list(_parameters(case)), list(sizes(case)))
    for found in chain.from_iterable(zip_longest(*kinds)):
        if found is not None:
            yield found


def _parameters(case: Case) -> Iterator[Mutant]:
    """Each small floating-point tensor behind the first input with fractions in the place of what is not 0 or 1."""
    model = load(case)
    first = {node.input[0] for node in model.graph.node if node.input}
    for name, array in tensors(case, model).items():
        if name in first or array.dtype.kind != "f" or not 0 < array.size <= _MOST_PARAMETERS:
            continue
        ordinary = (array == 0) | (array == 1)
        places = ~ordinary if array.size > 1 and not ordinary.all() else np.ones(array.shape, np.bool_)
        for fraction in _FRACTIONS:
            other = np.where(places, fraction, array).astype(array.dtype)
            if not np.array_equal(other, array):
                yield _renumbered(case, name, other)


def _numbers(case: Case) -> Iterator[Mutant]:
    """Each tensor of data with negative numbers, fractions and halves, of integers with negative numbers.

    Where something is cast, also with numbers that narrow types do not hold.
    """
    casts = any(node.op_type in CASTS for node in load(case).graph.node)
    for name, array in tensors(case, load(case)).items():
        for said, other in chain(_other_numbers(array), _out_of_range(array) if casts else ()):
            told = f"{said} in `{name}`"
            yield Mutant(_spelled(name, other, told), with_tensors(case, load(case), {name: other}), name, told)


def _other_numbers(array: Array) -> Iterator[tuple[str, Array]]:
    steps = np.arange(array.size).reshape(array.shape)
    mixed = steps * 7 % 11 - 5
    if array.dtype.kind == "f" and array.size:
        yield "positive and negative fractions", (mixed * 0.75).astype(array.dtype)
        yield "halves", (steps - array.size // 2 + 0.5).astype(array.dtype)
    elif array.dtype.kind == "i" and array.size > 1:
        yield "positive and negative numbers", mixed.astype(array.dtype)


def _out_of_range(array: Array) -> Iterator[tuple[str, Array]]:
    steps = np.arange(1, array.size + 1).reshape(array.shape)
    if array.dtype.kind == "f" and array.dtype.itemsize > 2:
        yield "thousands", (steps * 1000).astype(array.dtype)
        yield "negative thousands", (steps * -700).astype(array.dtype)


def windows(case: Case) -> Iterator[Mutant]:
    """A pool of one input with larger windows, on larger data: reducing makes windows of one element."""
    model = load(case)
    node = model.graph.node[0] if len(model.graph.node) == 1 else None
    held = next((one for one in node.attribute if one.name == "kernel_shape"), None) if node else None
    array = tensors(case, model).get(node.input[0]) if node and len(node.input) == 1 else None
    if held is None or array is None or array.ndim != len(held.ints) + 2:
        return
    for grown, longer_ in product((1, 2), (1, 2, 3)):
        other = load(case)
        [kernel] = [one for one in other.graph.node[0].attribute if one.name == "kernel_shape"]
        kernel.ints[:] = [size + grown for size in held.ints]
        open_shapes(other)
        shape = (*array.shape[:2], *(size + longer_ for size in array.shape[2:]))
        numbers = (np.arange(int(np.prod(shape))) * 7 % 11 + 1).reshape(shape).astype(array.dtype)
        said = f"`kernel_shape={list(kernel.ints)}` and `{node.input[0] if node else ''}` of shape {shape}"
        yield Mutant(said, with_tensors(case, other, {other.graph.node[0].input[0]: numbers}), "", said)


def rearranged(case: Case, name: str) -> Iterator[Mutant]:
    """One small tensor of a model with numbers near its own; none where there is no such tensor.

    Shapes and counts are mostly invalid with any other numbers.
    """
    array = tensors(case, load(case)).get(name) if case.kind == "onnx" else None
    if array is None or array.dtype.kind not in "fiu" or not 0 < array.size <= _MOST_PARAMETERS:
        return
    with np.errstate(over="ignore"):
        found = (
            np.full_like(array, array.max()),
            array[::-1] if array.ndim else array,
            _neutral_first(array),
            array + 1,
            array - 1,
            array + 2,
        )
    seen = [array]
    for other in (one.astype(array.dtype) for one in found):
        if not any(np.array_equal(other, one, equal_nan=array.dtype.kind == "f") for one in seen):
            seen.append(other)
            yield _renumbered(case, name, other)


def _neutral_first(array: Array) -> Array:
    """Whole numbers of which the first half are ones: repeats, strides and sizes that leave those axes alone."""
    if array.dtype.kind == "f" or array.ndim != 1:
        return array
    return np.where(np.arange(array.size) < array.size // 2, 1, array)


def moved_on(case: Case, name: str) -> Case | None:
    """The numbers of one floating-point tensor each one place further; None where it is not data, as of parameters."""
    value = (_data(case) if case.kind == "onnx" else _instances.named_tensors(case)).get(name)
    if not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1 or value.dtype.kind != "f" or value.size < 2:
        return None
    other = np.roll(value, 1)
    return (
        with_tensors(case, load(case), {name: other})
        if case.kind == "onnx"
        else _instances.with_array(case, name, other)
    )


def _spelled(name: str, other: Array, told: str) -> str:
    """The numbers of a small tensor, else what is `told` of them: 2 and -2 are positive and negative numbers, too."""
    return f"`{name} = {_text(other)}`" if other.size <= _MOST_PARAMETERS else told


def _text(array: Array) -> str:
    return np.array2string(
        array, separator=", ", formatter={"float_kind": lambda number: f"{number:.3g}", "int_kind": str}
    )


def _renumbered(case: Case, name: str, other: Array) -> Mutant:
    said = f"`{name} = {_text(other)}`"
    return Mutant(said, with_tensors(case, load(case), {name: other}), name, said)


def sizes(case: Case, joint_to: Sequence[int] = ()) -> Iterator[Mutant]:
    """Larger tensors of a model: in turn a size in all tensors of data that share it, and one axis of a single tensor.

    A size that tensors share grows by one, to twice its size and one more, and to those of `joint_to`.
    """
    if case.kind != "onnx":
        return
    arrays = _data(case)
    shapes = {name: array.shape for name, array in arrays.items()}
    for one in chain.from_iterable(zip_longest(_jointly(shapes, joint_to), _axis_by_axis(shapes))):
        if one is not None:
            yield _resized(case, arrays, *one)


def _jointly(shapes: Mapping[str, Shape], joint_to: Sequence[int]) -> Iterator[tuple[str, dict[str, Shape]]]:
    """Each size larger in all tensors that share it."""
    for size in sorted({size for shape in shapes.values() for size in shape if size}):
        for larger in dict.fromkeys((*(to for to in joint_to if to > size), size + 1, 2 * size + 1)):
            grown = {n: tuple(larger if one == size else one for one in shape) for n, shape in shapes.items()}
            yield f"{size} to {larger}", grown


def _axis_by_axis(shapes: Mapping[str, Shape]) -> Iterator[tuple[str, dict[str, Shape]]]:
    """One axis of one tensor larger, then much larger, then smaller: the last axes of all tensors before others.

    A tensor that outgrows another one in the innermost axis shows most of what compilers do wrong with strides.
    """
    deepest = max((len(shape) for shape in shapes.values()), default=0)
    for change in (1, 2, -1):
        for back in range(1, deepest + 1):
            for name, shape in shapes.items():
                axis = len(shape) - back
                if axis >= 0 and shape[axis] and shape[axis] + change > 0:
                    other = (*shape[:axis], shape[axis] + change, *shape[axis + 1 :])
                    yield f"{name} {axis} {change}", {name: other}


def _configures(array: Array) -> bool:
    """Whether the numbers may be shapes, sizes, axes or indices, or none that can be repeated."""
    return array.dtype == object or not array.ndim or (array.ndim == 1 and array.dtype.kind in "iu")


def _resized(case: Case, arrays: Mapping[str, Array], change: str, shapes: Mapping[str, Shape]) -> Mutant:
    changed = {name: _filled(arrays[name], shape) for name, shape in shapes.items() if arrays[name].shape != shape}
    model = load(case)
    open_shapes(model)
    return Mutant(_of_shapes(changed), with_tensors(case, model, changed), change=change)


def _of_shapes(changed: Mapping[str, Array]) -> str:
    """All resized tensors in words, constants too, or nobody could try the same."""
    named: dict[Shape, list[str]] = {}
    for name, array in changed.items():
        named.setdefault(array.shape, []).append(f"`{name}`")
    return enumerated([f"{enumerated(names)} of shape {shape}" for shape, names in named.items()])


def _filled(array: Array, shape: tuple[int, ...]) -> Array:
    """The tensor in another shape: its numbers again and again, or counted on where they are 1, 2, 3 and so on."""
    counted = array.size > 1 and np.array_equal(array.ravel(), np.arange(1, array.size + 1))
    if not counted:
        return np.resize(array, shape)
    return np.arange(1, int(np.prod(shape)) + 1).reshape(shape).astype(array.dtype)


def _fractions_on_wide(case: Case) -> Iterator[Mutant]:
    """Fractions in parameters, all sizes of data above 1 made 2 * size + 1, which is odd; with vectors and without.

    A vector may hold one number for each channel, which grows with the data, or one for each axis.
    """
    arrays = _data(case)
    matrices = {name: array for name, array in arrays.items() if array.ndim > 1}
    for chosen in (matrices, arrays) if len(matrices) < len(arrays) else (arrays,):
        shapes = {n: tuple(2 * one + 1 if one > 1 else one for one in a.shape) for n, a in chosen.items()}
        wide = _resized(case, arrays, "all" if chosen is arrays else "matrices", shapes)
        if not wide.said:
            continue  # nothing grows
        for one in _parameters(wide.case):
            yield Mutant(f"{one.said} and {wide.said}", one.case, one.name, f"{one.change} {wide.change}")


def _data(case: Case) -> dict[str, Array]:
    """The tensors whose sizes may change."""
    return {name: array for name, array in tensors(case, load(case)).items() if not _configures(array)}


def _instance_numbers(case: Case) -> Iterator[Mutant]:
    for name, value in _instances.named_tensors(case).items():
        if not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1:
            continue
        for said, other in _other_numbers(value):
            told = f"{said} in `{name}`"
            yield Mutant(_spelled(name, other, told), _instances.with_array(case, name, other), name, told)


def longer(case: Case) -> Iterator[Mutant]:
    """A call with more numbers, of both signs and none of them 0, along the last axis of tensors of one length there.

    Few numbers fit what they should not by chance. Whether the call takes them is left to the reference.
    """
    arrays = _instances.named_tensors(case)
    plain = {
        n: a for n, a in arrays.items() if isinstance(a, np.ndarray) and a.dtype.kind in "fi" and a.ndim and a.size
    }
    for size in sorted({array.shape[-1] for array in plain.values()}, reverse=True):
        for length, stride in _LONGER.items():
            found = case
            for at, (name, array) in enumerate(plain.items()):
                if array.shape[-1] == size:
                    shape = (*array.shape[:-1], max(length, 2 * size))
                    period = _PERIODS[at % len(_PERIODS)]
                    mixed = (np.arange(int(np.prod(shape))) * stride % period - period // 2).reshape(shape)
                    found = _instances.with_array(found, name, np.where(mixed == 0, period, mixed).astype(array.dtype))
            yield Mutant(f"{length} and more numbers", found, change=f"{size} longer, in steps of {stride}")
