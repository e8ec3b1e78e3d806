"""A function of one number, asked about a whole range of them at once: for which of them the result is wrong.

One run with some hundred numbers tells what no single neighbour does: that a cast reads all subnormal numbers as normal
ones, that an approximation is off from a certain number on. Every number of a type with eight bits is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.case import Case
from fuzz.oracles import differential
from fuzz.wire import SMALL_DTYPES, Raw, Value, dtype_name
from triage.differ import differing, widened
from triage.inquiry import Condition, Inquiry
from triage.literals import Array, as_array
from triage.passes._instances import named_tensors, with_array
from triage.schemas import CASTS, formal_name
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.wording import enumerated

#: So many numbers of a wider type are asked about.
NUMBERS = 401
#: Fewer numbers tell of no range; the largest power of ten.
_FEW, _MOST = 20, 4
#: Every number of a type with so many bits is asked about.
_BITS = 8
_NARROWER = ("float4", "float6", "int4", "uint4", "int2", "uint2", "bool")
#: What the numbers of a floating-point type of eight bits are, in the order in which they are told.
_KINDS = ("zero", "subnormal", "normal", "infinite", "NaN")
#: A call's only tensor, in words.
_INPUT = "input"


@dataclass(frozen=True)
class _Told:
    """What a sweep tells: the words of a title, and of a sentence."""

    text: str
    said: str


def swept(inquiry: Inquiry) -> Condition | None:
    """The numbers for which a function of one number is wrong; None of other operators, and where nothing is told."""
    failure = inquiry.failure
    if not failure.symptom.startswith("wrong:") or failure.symptom in differential.FORMS:
        return None
    data = _data(inquiry)
    if data is None:
        return None
    name, formal, array = data
    every = _codes(array)
    numbers = every if every is not None else _finite(inquiry, name, _around(array))
    if len(numbers) < _FEW or not _is_of_each_alone(inquiry, name, numbers):
        return None
    wrong = _wrong(inquiry, name, numbers)
    if wrong is None or not wrong.any() or wrong.all():
        return None
    told = _by_kind(numbers, wrong, formal) if every is not None and array.dtype.kind not in "iu" else None
    told = told or _by_limit(inquiry, name, formal, numbers, wrong)
    if told is None:
        return None
    kind = dtype_name(array).replace("_", "") if inquiry.failure.case.kind == "onnx" else dtype_name(array)
    whole = f"all {len(numbers)} numbers of {kind}" if every is not None else _range(numbers)
    return Condition("value", told.text, f"Of {whole} in `{name}` {told.said}.", needed=True)


def _data(inquiry: Inquiry) -> tuple[str, str, Array] | None:
    """(name, what the specification calls it, numbers) of the one tensor that has the shape of the only result."""
    case, reference = inquiry.failure.case, inquiry.failure.reference
    if reference is None or len(reference.outputs) != 1 or case.kind == "keras":
        return None
    result = _only(reference.outputs)
    model = load(case) if case.kind == "onnx" else None
    if model is not None and len(model.graph.node) != 1:
        return None
    known = tensors(case, model) if model is not None else named_tensors(case)
    found = [(name, value) for name, value in known.items() if isinstance(value, np.ndarray) and value.ndim]
    if len(found) != 1 or result is None or found[0][1].shape != result.shape:
        return None
    [(name, array)] = found
    if array.dtype.kind not in "fiu" and dtype_name(array) not in SMALL_DTYPES:
        return None
    return name, formal_name(model, name) if model is not None else _INPUT, array


def _codes(array: Array) -> Array | None:
    """Every number of a type of eight bits; None of a wider one, and of one with fewer, of which a byte is no code."""
    if array.dtype.itemsize * 8 != _BITS or array.dtype.name.startswith(_NARROWER):
        return None
    return np.arange(1 << _BITS, dtype=np.uint8).view(array.dtype)


def _around(array: Array) -> Array:
    """Numbers from minus to plus the next power of ten of what the witness holds; whole ones of an integer type."""
    wide = widened(array)
    largest = float(np.abs(wide[np.isfinite(wide)].astype(np.float64)).max(initial=1.0))
    most = 10.0 ** min(math.ceil(math.log10(largest) - 1e-9), _MOST)
    low = 0.0 if array.dtype.kind == "u" else -most
    own = wide[np.isfinite(wide)].ravel()[:NUMBERS]
    with np.errstate(all="ignore"):
        return np.unique(np.concatenate([np.linspace(low, most, NUMBERS), own, -own]).astype(array.dtype))


def _finite(inquiry: Inquiry, name: str, numbers: Array) -> Array:
    """The numbers for which a number comes out: at the end of its domain a function may be infinite, and right."""
    expected = _expected(inquiry, _with(inquiry.failure.case, name, numbers))
    if expected is None or expected.size != len(numbers):
        return numbers[:0]
    wide = widened(expected).ravel()
    return numbers[np.isfinite(wide)] if wide.dtype.kind in "fiu" else numbers


def _with(case: Case, name: str, numbers: Array) -> Case:
    if case.kind != "onnx":
        shape = (1,) * (named_tensors(case)[name].ndim - 1) + numbers.shape  # type: ignore[union-attr]
        return with_array(case, name, numbers.reshape(shape))
    model = load(case)
    shape = (1,) * (tensors(case, model)[name].ndim - 1) + numbers.shape
    open_shapes(model)
    return with_tensors(case, model, {name: numbers.reshape(shape)})


def _is_of_each_alone(inquiry: Inquiry, name: str, numbers: Array) -> bool:
    """Whether each result hangs on the one number in its place, as far as the reference tells."""
    other = numbers.copy()
    other[::2] = numbers[len(numbers) // 2]
    one, two = (_expected(inquiry, _with(inquiry.failure.case, name, each)) for each in (numbers, other))
    if one is None or two is None or one.size != len(numbers) or one.shape != two.shape:
        return False
    return one.ravel()[1::2].tobytes() == two.ravel()[1::2].tobytes()


def _expected(inquiry: Inquiry, case: Case) -> Array | None:
    outcome = inquiry.judge.runner.run(case, inquiry.judge.reference)
    return _only(outcome.outputs)


def _only(outputs: Sequence[tuple[str, Value]]) -> Array | None:
    """The one result, if it is a tensor."""
    found = [value for _, value in outputs]
    return as_array(found[0]) if len(found) == 1 and isinstance(found[0], np.ndarray | Raw) else None


def _wrong(inquiry: Inquiry, name: str, numbers: Array) -> Array | None:
    """For which of the numbers the compiler is wrong; None where that cannot be seen.

    What a cast to a wider type gives is exact.
    """
    verdict = inquiry.verdict(_with(inquiry.failure.case, name, numbers))
    if verdict is None or verdict.outcome is None:
        return None
    reference = verdict.failure.reference if verdict.failure else None
    if reference is None:
        return np.zeros(len(numbers), np.bool_) if verdict.failure is None else None
    want, got = _only(reference.outputs), _only(verdict.outcome.outputs)
    if want is None or got is None or want.shape != got.shape or want.dtype != got.dtype:
        return None
    mask = differing(want, got)
    if _is_exact(inquiry.failure.case, numbers.dtype, want.dtype):
        one, other = widened(want), widened(got)
        mask = ~((one == other) | (np.isnan(one) & np.isnan(other)))
    return np.asarray(mask).ravel()


def _is_exact(case: Case, taken: np.dtype, given: np.dtype) -> bool:
    casts = case.kind == "onnx" and load(case).graph.node[0].op_type in CASTS
    return casts and given.itemsize > taken.itemsize and given.kind == "f"


def _by_kind(numbers: Array, wrong: Array, formal: str) -> _Told | None:
    """By the kinds of a floating-point type's numbers, where all of a kind are wrong or none is."""
    kinds = _kinds(numbers)
    spoiled = [kind for kind in _KINDS if (kinds == kind).any() and wrong[kinds == kind].all()]
    split = [kind for kind in _KINDS if wrong[kinds == kind].any() and kind not in spoiled]
    if not spoiled or split:
        return None
    told = enumerated(spoiled)
    return _Told(f"{told} {formal}", f"{int(wrong.sum())} are wrong: those that are {told}")


def _kinds(numbers: Array) -> Array:
    """The kind of each number, a word of `_KINDS`."""
    import ml_dtypes

    wide = numbers.astype(np.float64)
    tiny = float(ml_dtypes.finfo(numbers.dtype).smallest_normal)
    size = np.abs(wide)
    with np.errstate(invalid="ignore"):
        conditions = [np.isnan(wide), np.isinf(wide), wide == 0, size < tiny]
    return np.select(conditions, ["NaN", "infinite", "zero", "subnormal"], "normal")


def _by_limit(inquiry: Inquiry, name: str, formal: str, numbers: Array, wrong: Array) -> _Told | None:
    """By the number from which on the result is wrong, where there is one."""
    wide = widened(numbers).astype(np.float64)
    for words, key in (("", wide), (" in size", np.abs(wide))):
        for beyond, order in (("above", 1), ("below", -1)):
            along = key * order
            right, bad = along[~wrong], along[wrong]
            if right.max() >= bad.min():
                continue
            last, first = _sharpened(inquiry, name, numbers.dtype, (right.max() * order, bad.min() * order))
            said = f"those are wrong that are {beyond} {last:.6g}{words}"
            return _Told(f"{formal} {beyond} {_short(last, first)}{words}", said)
    return None


def _sharpened(inquiry: Inquiry, name: str, dtype: np.dtype, bracket: tuple[float, float]) -> tuple[float, float]:
    """The bracket of the last right and the first wrong number, as narrow as one more run makes it."""
    if dtype.kind in "iu":
        return bracket
    between = np.linspace(*bracket, NUMBERS).astype(dtype)
    wrong = _wrong(inquiry, name, between)
    if wrong is None or wrong[0] or not wrong[-1]:
        return bracket
    first = int(wrong.argmax())
    clean = bool(wrong[first:].all())
    wide = widened(between).astype(np.float64)
    return (float(wide[first - 1]), float(wide[first])) if clean else bracket


def _short(last: float, first: float) -> str:
    """The fewest digits of a number that is as good a limit: it lies between the last right and the first wrong one."""
    low, high = sorted((last, first))
    rounded = (float(f"{(last + first) / 2:.{digits}g}") for digits in range(1, 8))
    between = next((f"{number:g}" for number in rounded if low <= number <= high), f"{last:.6g}")
    return min(f"{last:.6g}", between, key=len)


def _range(numbers: Array) -> str:
    wide = widened(numbers).astype(np.float64)
    return f"{len(numbers)} numbers from {wide.min():g} to {wide.max():g}"
