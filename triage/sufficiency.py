"""Witnesses that have a condition and pass all the same: what a bug needs need not be enough for it.

"Resize with fractional scales" says more than was seen if a scale of 0.6 fails on two elements and 1.5 passes. So
conditions that a title would state are tried from inside as well: the same model with other numbers in the same tensor
and with other sizes. A witness counts only if it has all of them, and if its right result hangs on each option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, zip_longest

import numpy as np

from fuzz.case import Case, Failure, Outcome, Status
from fuzz.judge import values
from fuzz.oracles import differential
from fuzz.wire import Raw, Value
from triage.contrasts import changed
from triage.inquiry import Inquiry, with_true_shapes
from triage.literals import as_array
from triage.mutants import Mutant, moved_on, mutants, rearranged, sizes, windows
from triage.variants import Variant

Makers = Sequence[Callable[[Case], Iterator[Variant]]]

#: Runs that are worth one condition, and witnesses that are proposed: most lose the condition or are invalid.
MOST_RUNS, MOST_PROPOSED = 6, 32


def passing(inquiry: Inquiry, variant: Variant, stated: Sequence[Variant], makers: Makers) -> str:
    """What the first witness has that passes in spite of the condition, in words; "" where none was seen.

    `variant` is the case without the condition, `stated` are those of all conditions that the title would state,
    this one included; `makers` find them again in other cases.
    """
    runs = 0
    for mutant in islice(_others(inquiry.failure, variant), MOST_PROPOSED):
        if runs >= MOST_RUNS or inquiry.over():
            break
        without = [again for one in stated if (again := _found_again(mutant.case, one, makers))]
        if len(without) < len(stated):
            continue
        runs += inquiry.verdict(mutant.case) is not None
        if inquiry.passes(mutant.case) and _tells(inquiry, mutant.case, without) and _passes_again(inquiry, mutant):
            return mutant.said
    return ""


def _passes_again(inquiry: Inquiry, mutant: Mutant) -> bool:
    """Whether a witness in data passes with the same numbers in other places as well.

    A window whose numbers cancel out has the right sum, and any average of it is zero.
    """
    case = mutant.case
    moved = moved_on(case, mutant.name) if mutant.name else None
    return moved is None or inquiry.passes(moved) is not False


def is_option(kind: str, text: str) -> bool:
    """Whether a condition is an attribute or an optional input, not the kind of a tensor."""
    return kind == "attribute" or text.startswith("optional input ")


def _others(failure: Failure, variant: Variant) -> Iterator[Mutant]:
    """Other sizes, and other numbers in the tensor that the condition speaks of; in any where it speaks of none.

    Numbers elsewhere may hide any bug, so of a condition on one tensor they prove nothing. A wrong shape hangs on
    sizes before all: on numbers the few runs would be lost.
    """
    case = failure.case
    if is_option(variant.kind, variant.text):
        if failure.symptom == differential.SHAPE:
            pairs = zip_longest(windows(case), sizes(case)) if case.kind == "onnx" else ()
            yield from (one for one in chain.from_iterable(pairs) if one is not None)
        yield from mutants(case)
        return
    name = _tensor(case, variant)
    near = (one for one in mutants(case) if one.name in ("", name))
    for one in chain.from_iterable(zip_longest(near, rearranged(case, name))):
        if one is not None:
            yield one


def _tensor(case: Case, variant: Variant) -> str:
    """The tensor that a variant gives other numbers, or makes a constant or an input."""
    moved = set(case.inputs) ^ set(variant.cases[0].inputs)
    return moved.pop() if len(moved) == 1 else changed(case, variant)


def _found_again(case: Case, variant: Variant, makers: Makers) -> Variant | None:
    """The same variant of another case; None where that has not got the condition."""
    found = chain.from_iterable(make(case) for make in makers)
    return next((one for one in found if (one.kind, one.text) == (variant.kind, variant.text)), None)


def _tells(inquiry: Inquiry, case: Case, without: Sequence[Variant]) -> bool:
    """Whether a pass proves that the conditions are not enough.

    A constant or a copy of an input comes out right by chance, but for its shape, and so does what an option does not
    change.
    """
    if not inquiry.failure.symptom.startswith("wrong:"):
        return True
    right = _reference(inquiry, case)
    shaped = inquiry.failure.symptom == differential.SHAPE
    if right is None or (not shaped and all(_plain(value, case) for value in values(right))):
        return False
    options = [one.cases[0] for one in without if is_option(one.kind, one.text)]
    others = [_reference(inquiry, one) for one in options]
    return all(one is None or differential.compare(values(one), values(right)) is not None for one in others)


def _reference(inquiry: Inquiry, case: Case) -> Outcome | None:
    shaped = with_true_shapes(inquiry.judge, case)
    found = inquiry.judge.runner.run(shaped, inquiry.judge.reference) if shaped else None
    return found if found is not None and found.status is Status.OK else None


def _plain(value: Value, case: Case) -> bool:
    """Whether a tensor holds at most one number, or is an input as it was."""
    if not isinstance(value, np.ndarray | Raw):
        return True
    array = as_array(value)
    fed = [as_array(one) for one in case.inputs.values() if isinstance(one, np.ndarray | Raw)]
    if any((one.dtype, one.shape, one.tobytes()) == (array.dtype, array.shape, array.tobytes()) for one in fed):
        return True
    flat = array.ravel()
    return all(one == flat[0] or (one != one and flat[0] != flat[0]) for one in flat)
