"""What tells sizes, with others: a `shape` that spells out those of the result, a `split` without an empty part.

A `shape` may say 1, 0 or -1 where the result is longer, and compilers take it by its word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fuzz.case import Case
from triage.schemas import formal_name
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.values import with_value

#: What the specification calls the input that tells the sizes of the result, and that of its parts.
_FORMAL, _PARTS = "shape", "split"
#: What a title says of a shape that leaves out leading axes of the result.
SHORT = "shape shorter than that of the result"

#: What a title says of parts without an element that others follow.
EARLY_ZERO = f"zero {_PARTS} before the last"


def variants(case: Case, result: Sequence[int]) -> Iterator[Variant]:
    """Each tensor that tells the sizes of the result, with these very sizes; `result` are they."""
    model = load(case)
    for name, told in tensors(case, model).items():
        if told.ndim != 1 or told.dtype != np.int64 or formal_name(model, name) != _FORMAL:
            continue
        if 0 < len(told) < len(result):
            sentence = f"With all sizes of the result in `{name}`, {list(result)}, the same model passes."
            yield Variant("value", SHORT, sentence, (with_value(case, name, np.array(result, np.int64)),))
        if len(told) != len(result):
            continue
        others = sorted({int(number) for number in told[told != result]})
        if others:
            text = f"{' and '.join(map(str, others))} in {_FORMAL}"
            sentence = f"With the sizes of the result in `{name}`, {list(result)}, the same model passes."
            yield Variant("value", text, sentence, (with_value(case, name, np.array(result, np.int64)),))


def trailing(case: Case, result: Sequence[int]) -> Case | None:
    """The case whose `shape` tells the last sizes of the `result`, where it tells fewer than there are, and others.

    A 1 there is a matter of its own.
    """
    model = load(case)
    for name, told in tensors(case, model).items():
        if told.ndim != 1 or told.dtype != np.int64 or formal_name(model, name) != _FORMAL:
            continue
        wanted = list(result)[len(result) - len(told) :]
        if 0 < len(told) < len(result) and told.tolist() != wanted:
            return with_value(case, name, np.array(wanted, np.int64))
    return None


def of_parts(case: Case) -> Iterator[Variant]:
    """Each `split` with other numbers in the place of zeros, and data that are as long as their sum."""
    for numbers in _parts(case):
        if 0 in numbers[:-1]:
            ended = _split(case, [*([1] * (len(numbers) - 1)), 0])
            sentence = f"With no zero in `{_PARTS}` but its last, and data as long as its sum, the same model passes."
            yield from [Variant("value", EARLY_ZERO, sentence, (ended,))] if ended else []
        if 0 in numbers:
            cases = [_split(case, [number or other for number in numbers]) for other in (1, 2)]
            sentence = f"With no zero in `{_PARTS}`, and data as long as its sum, the same model passes."
            yield Variant("value", f"zero {_PARTS}", sentence, tuple(one for one in cases if one))


def with_some(case: Case) -> Iterator[Case]:
    """The case with two elements in the last part, where all of them are empty."""
    for numbers in _parts(case):
        found = None if any(numbers) or not numbers else _split(case, [*numbers[:-1], 2])
        yield from [found] if found else []


def _parts(case: Case) -> Iterator[list[int]]:
    """The numbers of `split`, of a model of one node."""
    model = load(case)
    known = tensors(case, model)
    for name in model.graph.node[0].input[1:2] if len(model.graph.node) == 1 else ():
        if name in known and formal_name(model, name) == _PARTS and known[name].ndim == 1:
            yield [int(number) for number in known[name]]


def _split(case: Case, numbers: Sequence[int]) -> Case | None:
    """The only node's data as long as the sum of these numbers, its parts; None of data that are no numbers."""
    model = load(case)
    node, known = model.graph.node[0], tensors(case, model)
    data = known.get(node.input[0])
    axis = next((one.i for one in node.attribute if one.name == "axis"), 0)
    if data is None or data.dtype.kind not in "fiu":
        return None
    sizes = list(data.shape)
    sizes[axis] = sum(numbers)
    filled = np.arange(1, 1 + int(np.prod(sizes))).reshape(sizes).astype(data.dtype)
    open_shapes(model)
    return with_tensors(case, model, {node.input[0]: filled, node.input[1]: np.array(numbers, np.int64)})
