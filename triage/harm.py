"""A wrong type that does harm: inputs whose results come out wrong, and not only in another type.

Nobody minds an int32 in the place of an int64 that holds a 3. So where the values are equal once they are converted,
other inputs are tried, near the limits of what the wrong type holds. Nor is a 6 in the place of "true" as bad as the 0
that the largest of -1 and 0 is, if that is what a compiler computes, nor a 1 in the place of 1.0 as bad as the 0 of 1
divided by 2 in whole numbers: calls are tried with such numbers, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice

import numpy as np

from fuzz.case import Case, Failure
from fuzz.instance import Tensor
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from triage.differ import differing_beyond_type
from triage.drawn import settled
from triage.inquiry import with_true_shapes
from triage.passes._instances import parsed, with_instance
from triage.seen import same_operator
from triage.variants.arguments import numbered

#: What the next smaller type cannot hold, by the dtype of an input.
_TELLING = {
    "int64": (2**31 + 1, 2**53 + 1, -(2**40)),
    "uint64": (2**32 + 1, 2**63 + 1),
    "int32": (2**24 + 1, 2**15 + 1),
    "uint32": (2**31 + 1, 2**24 + 1),
    "float64": (1e300, 1 + 2.0**-40),
    "float32": (1e20, 1 + 2.0**-20),
    "bool": (True, False),
}
_WHOLE = ("int64", "int32", "int16", "int8")
#: Numbers, in turns, by the dtype of a call's tensor: some are true and the largest is not; whole ones leave a rest.
_TURNS = {
    **dict.fromkeys(("float64", "float32", "float16"), ((-1, 0),)),
    **dict.fromkeys(_WHOLE, ((-1, 0), (2, 3))),
}
#: So many other failing cases are tried.
_MOST_SEEN = 3
#: Larger tensors of a call are left alone.
MOST_ELEMENTS = 64


def harmful(judge: Judge, failure: Failure, seen: Sequence[Case] = ()) -> Failure | None:
    """The failure with other input values, where these make values wrong too; None where none of them does.

    Then those of a few cases that were `seen` to fail the same way: what a reduction leaves may have too few elements
    for that. None as well for failures other than of the dtype, and where the values are wrong already.
    """
    if failure.symptom != differential.DTYPE or wrong_values(failure):
        return None
    like = [case for case in seen if _alike(failure.case, case) and case.id != failure.case.id]
    for case in chain(_cases(failure.case), chain.from_iterable(map(_cases, like[:_MOST_SEEN]))):
        shaped = with_true_shapes(judge, case)
        found = judge.examine(shaped, failure.target).failure if shaped else None
        if found is not None and found.symptom == differential.DTYPE and wrong_values(found):
            return found
    return None


def _alike(case: Case, other: Case) -> bool:
    """Whether both are calls of one function, or models of one node of the same operator."""
    if case.kind == other.kind == "instance":
        return parsed(case).api == parsed(other).api
    return same_operator(case, other)


def _cases(case: Case) -> Iterator[Case]:
    """Each input in turn full of telling numbers, each tensor of a call with numbers in turns."""
    if case.kind == "instance":
        yield from _calls(case)
        return
    for name, value in case.inputs.items():
        if isinstance(value, np.ndarray):
            for number in _TELLING.get(value.dtype.name, ()):
                filled = np.full_like(value, number)
                yield replace(case, inputs={**case.inputs, name: filled}, expected=None)


def _calls(case: Case) -> Iterator[Case]:
    """The call with other numbers, then with an axis besides where it has an empty list of them."""
    for instance in (parsed(case), *(longer for _, longer in numbered(parsed(case)))):
        for at, tensor in enumerate(instance.tensors):
            for filled in _filled(tensor):
                tensors = (*instance.tensors[:at], filled, *instance.tensors[at + 1 :])
                yield with_instance(case, replace(instance, tensors=tensors))


def _filled(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor with telling numbers; longer where it has too few places for them."""
    count = math.prod(tensor.shape)
    numbers = [*((number,) for number in _TELLING.get(tensor.dtype, ())), *_TURNS.get(tensor.dtype, ())]
    for each in numbers if 0 < count <= MOST_ELEMENTS else ():
        shape = tensor.shape if count >= len(each) else (*tensor.shape[:-1], len(each))  # one number is the largest
        values = tuple(islice(cycle(each), math.prod(shape)))
        yield replace(tensor, shape=shape, values=values, low=None, high=None)


def wrong_values(failure: Failure) -> bool:
    """Whether values of the same shape are others, whatever their types."""
    failure = settled(failure)
    if failure.reference is None:
        return False
    pairs = zip(values(failure.reference), values(failure.outcome), strict=False)
    masks = (differing_beyond_type(want, got) for want, got in pairs)
    return any(mask is not None and mask.any() for mask in masks)
