"""The classes of wrong results, and what finds them among the elements of two arrays. Pure; for `triage.symptom`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from fuzz.oracles.differential import tolerance
from fuzz.wire import dtype_name
from triage import symptom_order
from triage.literals import Array


class Kind(StrEnum):
    """The classes. The first five concern a whole output, the others its elements."""

    COUNT = "count"  # another number of outputs or of items
    DTYPE = "dtype"
    SHAPE = "shape"
    MISSING = "missing"  # a value where none is expected, or none where one is
    TEXT = "text"  # other strings
    UNINITIALISED = "uninitialised"  # what memory happened to hold
    NAN = "nan"  # NaN where a number is expected, or the reverse
    SATURATED = "saturated"  # clamped to a limit of the dtype where it should not be
    UNSATURATED = "unsaturated"  # not clamped where it should be
    INFINITE = "infinite"  # infinities in other places
    WRAPPED = "wrapped"  # off by a multiple of a power of two: bits were cut off
    ZERO = "zero"  # zeros where other numbers are expected
    CONSTANT = "constant"  # one number everywhere
    PERMUTED = "permuted"  # the expected numbers in another order
    REPEATED = "repeated"  # one slice over and over
    SHIFTED = "shifted"  # moved along an axis
    SIGN = "sign"  # right but for the sign
    ROUNDING = "rounding"  # off by one step of the dtype or of the integers
    OFFSET = "offset"  # off by one constant
    SCALED = "scaled"  # off by one factor
    INVERTED = "inverted"  # true for false
    INACCURATE = "inaccurate"  # close, but not close enough
    VALUES = "values"  # none of these


def wide(array: Array) -> Array:
    """The same numbers in a dtype that can be subtracted in without wrapping around."""
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and array.dtype.itemsize == 8):
        return array.astype(object)
    if array.dtype.kind in "iu" or dtype_name(array) in ("int4", "uint4", "int2", "uint2"):
        return array.astype(np.int64)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


@dataclass(frozen=True)
class Pair:
    """Expected and actual elements of equal shape and dtype; `wrong` marks those that differ for the oracle."""

    expected: Array
    actual: Array
    wrong: Array
    dtype: str
    lowest: float
    highest: float

    @staticmethod
    def of(want: Array, got: Array) -> Pair:
        name, a, b = dtype_name(want), wide(got), wide(want)
        exact = a.dtype.kind in "iO"
        allowed = tolerance(name)
        with np.errstate(all="ignore"):
            close = a == b if exact else np.isclose(a, b, rtol=allowed.relative, atol=allowed.absolute, equal_nan=True)
        lowest, highest = _limits(want)
        return Pair(b, a, ~np.asarray(close, dtype=bool), name, lowest, highest)

    @property
    def count(self) -> int:
        """How many elements are wrong."""
        return int(self.wrong.sum())

    @property
    def inexact(self) -> bool:
        """Whether the elements are floating-point or complex numbers."""
        return self.expected.dtype.kind in "fc"

    def both(self) -> tuple[Array, Array]:
        """The wrong elements, expected and actual, in flat order."""
        return self.expected[self.wrong], self.actual[self.wrong]

    def finite(self) -> bool:
        """Whether every wrong element is a finite number on both sides."""
        want, got = self.both()
        return not self.inexact or bool(np.isfinite(want).all() and np.isfinite(got).all())


def _limits(array: Array) -> tuple[float, float]:
    """The least and the greatest finite number of a dtype; NaN where that means nothing."""
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        return float(info.min), float(info.max)
    if array.dtype.kind in "bc":
        return float("nan"), float("nan")
    import ml_dtypes

    info_of = ml_dtypes.iinfo if dtype_name(array) in ("int4", "uint4", "int2", "uint2") else ml_dtypes.finfo
    found = info_of(array.dtype)
    return float(found.min), float(found.max)


def _uninitialised(pair: Pair) -> str:
    """Numbers below the least normal one, or of wildly different sizes, where ordinary numbers are expected."""
    if pair.dtype not in ("float32", "float64"):
        return ""
    least = float(np.finfo(pair.dtype).tiny)
    want, got = pair.both()
    odd = got[(got != 0) & (np.abs(got) < least)]
    ordinary = np.isinf(want) | np.isnan(want) | (want == 0) | (np.abs(want) >= least)
    if not odd.size or not ordinary.all():
        return ""
    least_told = f"a number below the least normal {pair.dtype}"
    return f"what looks like uninitialised memory, such as {float(odd[0]):.6g}, {least_told}"


def _nan(pair: Pair) -> str:
    if not pair.inexact:
        return ""
    want, got = pair.both()
    made, lost = int((np.isnan(got) & ~np.isnan(want)).sum()), int((~np.isnan(got) & np.isnan(want)).sum())
    if not made and not lost:
        return ""
    if made and lost:
        return f"NaN at {made} places where a number is expected, and numbers at {lost} places where NaN is"
    if lost:
        return f"{_text(got[np.isnan(want)][0])} instead of NaN" + (f", {lost} times" if lost > 1 else "")
    among = want[np.isnan(got)]
    return f"NaN instead of {_text(among[0])}" + (f", {made} times" if made > 1 else "")


def _saturated(pair: Pair) -> str:
    want, got = pair.both()
    at_limit = np.asarray((got == pair.highest) | (got == pair.lowest), dtype=bool)
    if not at_limit.all() or np.asarray((want == pair.highest) | (want == pair.lowest), dtype=bool).all():
        return ""
    if pair.dtype in ("bool", "uint2", "int2", "uint4", "int4") or (got == 0).all():
        return ""  # every other number is a limit there
    return f"{_text(got[0])}, a limit of {pair.dtype}, instead of {_text(want[0])}"


def _unsaturated(pair: Pair) -> str:
    want, got = pair.both()
    at_limit = np.asarray((want == pair.highest) | (want == pair.lowest), dtype=bool)
    if not at_limit.all() or (want == 0).all() or pair.dtype in ("bool", "uint2", "int2", "uint4", "int4"):
        return ""
    return f"{_text(got[0])} instead of {_text(want[0])}, the limit of {pair.dtype}"


def _infinite(pair: Pair) -> str:
    if not pair.inexact:
        return ""
    want, got = pair.both()
    if not (np.isinf(want) != np.isinf(got)).any():
        return "infinity of the wrong sign" if np.isinf(want).all() else ""
    at = int(np.flatnonzero(np.isinf(want) != np.isinf(got))[0])
    limit = _LIMITS.get(abs(complex(got[at])), "")
    return f"{_text(got[at])}{limit} instead of {_text(want[at])}"


#: Finite numbers in the place of infinities that betray a narrower type on the way.
_LIMITS = {3.4028234663852886e38: ", the largest float32,", 65504.0: ", the largest float16,"}


def _wrapped(pair: Pair) -> str:
    if pair.inexact or pair.dtype == "bool" or pair.count < 2:
        return ""
    want, got = pair.both()
    gaps = [abs(int(a) - int(b)) for a, b in zip(got, want, strict=True)]
    bits = next((bits for bits in (64, 32, 16, 8) if all(gap % 2**bits == 0 for gap in gaps)), 0)
    return f"off by multiples of 2**{bits}: only {bits} bits were kept" if bits else ""


def _zero(pair: Pair) -> str:
    want, got = pair.both()
    if pair.dtype == "bool" or (got != 0).any() or (want == 0).any():
        return ""
    everywhere = pair.actual.size > 1 and not (pair.actual != 0).any()
    return f"zero{' everywhere' if everywhere else ''} instead of {_text(want[0])}"


def _constant(pair: Pair) -> str:
    flat, want = pair.actual.ravel(), pair.expected.ravel()
    if pair.dtype == "bool" or flat.size < 3 or not (flat == flat[0]).all() or (want == want[0]).all():
        return ""
    return f"{_text(flat[0])} everywhere"


def _permuted(pair: Pair) -> str:
    return symptom_order.permuted(pair.expected, pair.actual)


def _repeated(pair: Pair) -> str:
    return symptom_order.repeated(pair.expected, pair.actual)


def _shifted(pair: Pair) -> str:
    return symptom_order.shifted(pair.expected, pair.actual)


def _sign(pair: Pair) -> str:
    want, got = pair.both()
    if pair.dtype == "bool" or not pair.finite() or not np.asarray(got == -want, dtype=bool).all():
        close = pair.inexact and pair.finite() and np.allclose(got, -want, rtol=1e-3, atol=0)
        if not close:
            return ""
    return f"the wrong sign: {_text(got[0])} instead of {_text(want[0])}"


def _rounding(pair: Pair) -> str:
    if pair.inexact or pair.dtype == "bool":
        return ""
    want, got = pair.both()
    gaps = {int(a) - int(b) for a, b in zip(got, want, strict=True)}
    if not gaps <= {1, -1}:
        return ""
    how = {frozenset((1,)): "one too large", frozenset((-1,)): "one too small"}.get(
        frozenset(gaps), "one off, either way"
    )
    return f"{how}: {_text(got[0])} instead of {_text(want[0])}"


def _offset(pair: Pair) -> str:
    want, got = pair.both()
    if pair.dtype == "bool" or pair.count < 3 or not pair.finite() or len(set(want.tolist())) < 2:
        return ""
    gaps = np.asarray(got - want)
    scale = float(np.max(np.abs(gaps)))
    if np.max(np.abs(gaps - gaps[0])) > 1e-3 * scale:
        return ""
    return f"off by {_text(gaps[0])}"


def _scaled(pair: Pair) -> str:
    want, got = pair.both()
    if pair.dtype == "bool" or pair.count < 3 or not pair.finite() or (want == 0).any() or len(set(want.tolist())) < 2:
        return ""
    ratios = np.asarray(got / want, dtype=complex if pair.expected.dtype.kind == "c" else float)
    if np.max(np.abs(ratios - ratios[0])) > 1e-3 * abs(ratios[0]):
        return ""
    return f"the expected numbers times {_text(ratios[0])}"


def _inverted(pair: Pair) -> str:
    if pair.dtype != "bool":
        return ""
    _, got = pair.both()
    if pair.count > 1 and pair.count == pair.wrong.size:
        return "true for false and false for true"
    values = {bool(value) for value in got}
    return f"{values.pop()} where {'False' if got[0] else 'True'} is expected" if len(values) == 1 else ""


def _inaccurate(pair: Pair) -> str:
    want, got = pair.both()
    if not pair.inexact or not pair.finite() or (want == 0).any():
        return ""
    worst = float(np.max(np.abs((got - want) / want)))
    return f"up to {100 * worst:.2g} % off" if worst < 0.05 else ""


def _text(value: object) -> str:
    if isinstance(value, complex | np.complexfloating):
        return f"{value:.6g}"
    number = float(value)  # type: ignore[arg-type]
    if np.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    return (
        str(int(number))
        if number == int(number) and abs(number) < 1e15
        else f"{number:.6g}"
        if number == number
        else "NaN"
    )


#: Classes that speak of the whole output.
OF_ALL = (Kind.CONSTANT, Kind.PERMUTED, Kind.REPEATED, Kind.SHIFTED)
#: The first that finds evidence speaks: what claims more stands before what claims less.
DETECTORS: tuple[tuple[Kind, Callable[[Pair], str]], ...] = (
    (Kind.UNINITIALISED, _uninitialised),
    (Kind.NAN, _nan),
    (Kind.SATURATED, _saturated),
    (Kind.UNSATURATED, _unsaturated),
    (Kind.INFINITE, _infinite),
    (Kind.WRAPPED, _wrapped),
    (Kind.ZERO, _zero),
    (Kind.CONSTANT, _constant),
    (Kind.PERMUTED, _permuted),
    (Kind.REPEATED, _repeated),
    (Kind.SHIFTED, _shifted),
    (Kind.SIGN, _sign),
    (Kind.ROUNDING, _rounding),
    (Kind.OFFSET, _offset),
    (Kind.SCALED, _scaled),
    (Kind.INVERTED, _inverted),
    (Kind.INACCURATE, _inaccurate),
)
