"""The inconsistency oracle (OPERA section III-C): two results of one case, compared by Chebyshev distance.

Shape and dtype come first, then the positions of NaN and infinities, then values: integers, booleans
and strings exactly; floating point by the Chebyshev distance against an absolute and a relative term.
The paper's threshold is 1e-3; dtypes with fewer bits get their own resolution as the relative term.

Where the rule ``ratio`` is asked for, the values of numeric tensors are compared as graph-based fuzzing does (Luo et
al., section IV): at least 99.9 % of a tensor's elements must have a relative error of at most 0.1 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.wire import Raw, Value, dtype_name

CHEBYSHEV = 1e-3
#: What a result may be wrong in that none of its values has a part in.
COUNT, DTYPE, SHAPE = "wrong:count", "wrong:dtype", "wrong:shape"
FORMS = (COUNT, DTYPE, SHAPE)
#: The names of the rules for values.
RULES = ("chebyshev", "ratio")
#: The rule ``ratio``: the largest relative error, and one element in so many may exceed it.
RELATIVE_ERROR, ONE_IN = 1e-3, 1000
#: Units in the last place that a low-precision result may be off, over the whole of an operator.
_ULPS = 8
#: Distance between 1 and the next number, for dtypes whose resolution is near or above CHEBYSHEV.
_RESOLUTION = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e4m3fnuz": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "float8_e5m2fnuz": 2.0**-2,
    "float8_e8m0fnu": 1.0,
    "float4_e2m1fn": 2.0**-1,
}


#: Distance between 0 and the next number, where it is above CHEBYSHEV.
_SMALLEST = {"float8_e4m3fn": 2.0**-9, "float4_e2m1fn": 2.0**-1}


@dataclass(frozen=True)
class Tolerance:
    """|actual - expected| may be at most ``absolute + relative * |expected|``, element by element."""

    absolute: float
    relative: float


@dataclass(frozen=True)
class Difference:
    """Where two results part. `symptom` is ``wrong:count|dtype|shape|nan|inf|values``."""

    output: int
    symptom: str
    detail: str
    distance: float = 0.0


def tolerance(dtype: str) -> Tolerance:
    """The tolerance for a dtype: the paper's for float32 and above, coarser for what has fewer bits."""
    resolution = _RESOLUTION.get(dtype, 0.0)
    if resolution < CHEBYSHEV / _ULPS:
        return Tolerance(CHEBYSHEV, CHEBYSHEV)
    if resolution > 2.0**-5:
        # Two results of an eight-bit type that differ by one rounding step differ by one step, not by eight: 0.5 is
        # not 1, which every such type holds exactly.
        return Tolerance(max(CHEBYSHEV, _SMALLEST.get(dtype, 0.0)), resolution)
    return Tolerance(max(CHEBYSHEV, _ULPS * resolution), _ULPS * resolution)


def compare(actual: Sequence[Value], expected: Sequence[Value], rule: str = RULES[0]) -> Difference | None:
    """The first difference between two lists of outputs under one of the `RULES`, or None when they agree."""
    if len(actual) != len(expected):
        return Difference(0, COUNT, f"{len(actual)} outputs instead of {len(expected)}")
    for position, (got, want) in enumerate(zip(actual, expected, strict=True)):
        difference = _compare_value(got, want, position, rule)
        if difference:
            return difference
    return None


def misdeclared(actual: Sequence[Value], expected: Sequence[Value]) -> Difference | None:
    """The first difference in the number of outputs or in a dtype, which no value has a part in; None without one."""
    if len(actual) != len(expected):
        return compare(actual, expected)
    pairs = enumerate(zip(actual, expected, strict=True))
    other = ((at, got, want) for at, (got, want) in pairs if dtype_name(got) != dtype_name(want))
    return next((_compare_value(got, want, at, RULES[0]) for at, got, want in other), None)


def differing(
    actual: Sequence[tuple[str, Value]], expected: Sequence[tuple[str, Value]], rule: str = RULES[0]
) -> set[str]:
    """The names (as the reference gives them) of the outputs that differ; all where the counts do."""
    if len(actual) != len(expected):
        return {name for name, _ in expected}
    pairs = zip(actual, expected, strict=True)
    return {name for (_, got), (name, want) in pairs if _compare_value(got, want, 0, rule)}


def _compare_value(got: Value, want: Value, output: int, rule: str) -> Difference | None:
    if isinstance(want, list):
        if not isinstance(got, list):
            return Difference(output, DTYPE, f"a {dtype_name(got)} instead of a sequence")
        inner = compare(got, want, rule)
        return Difference(output, inner.symptom, f"in the sequence: {inner.detail}", inner.distance) if inner else None
    if want is None or got is None:
        same = want is None and got is None
        return None if same else Difference(output, DTYPE, f"{dtype_name(got)} instead of {dtype_name(want)}")
    if dtype_name(got) != dtype_name(want):
        return Difference(output, DTYPE, f"dtype {dtype_name(got)} instead of {dtype_name(want)}")
    if tuple(_shape(got)) != tuple(_shape(want)):
        return Difference(output, SHAPE, f"shape {_shape(got)} instead of {_shape(want)}")
    if isinstance(got, Raw) or isinstance(want, Raw):
        same = isinstance(got, Raw) and isinstance(want, Raw) and got.data == want.data
        return None if same else Difference(output, "wrong:values", "different bytes")
    compared = _compare_ratio if rule == "ratio" and np.asarray(want).dtype.kind in "iufc" else _compare_arrays
    return compared(np.asarray(got), np.asarray(want), output)


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value, np.ndarray | Raw)
    return tuple(value.shape)


def _compare_arrays(got: np.ndarray, want: np.ndarray, output: int) -> Difference | None:
    name = dtype_name(want)
    if name == "string" or want.dtype.kind in "biu" or name in ("int4", "uint4", "int2", "uint2"):
        return _compare_exactly(got, want, output)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = got.astype(wide).ravel(), want.astype(wide).ravel()
        return _nan_difference(a, b, output) or _value_difference(a, b, tolerance(name), output, got.shape)


def _compare_ratio(got: np.ndarray, want: np.ndarray, output: int) -> Difference | None:
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = got.astype(wide).ravel(), want.astype(wide).ravel()
        close = np.isfinite(b) & (np.abs(a - b) <= RELATIVE_ERROR * np.abs(b))
        far = np.flatnonzero(~(close | (a == b) | (np.isnan(a) & np.isnan(b))))
        if far.size * ONE_IN <= a.size:
            return None
        distance = np.abs(a - b)[far]
        worst = int(far[np.argmax(np.where(np.isnan(distance), np.inf, distance))])
    symptom = "wrong:values" if np.isfinite(a[far]).all() and np.isfinite(b[far]).all() else "wrong:nan"
    if symptom == "wrong:nan" and not (np.isnan(a[far]) | np.isnan(b[far])).any():
        symptom = "wrong:inf"
    where = [int(i) for i in np.unravel_index(worst, got.shape)]
    values = f"{a[worst]:.7g} instead of {b[worst]:.7g}"
    detail = f"{far.size} of {a.size} elements have a relative error above 0.1 %, at {where}: {values}"
    return Difference(output, symptom, detail, float(abs(a[worst] - b[worst])))


def _compare_exactly(got: np.ndarray, want: np.ndarray, output: int) -> Difference | None:
    different = np.flatnonzero(np.asarray(got != want).ravel())
    if not different.size:
        return None
    at = int(different[0])
    where = tuple(int(i) for i in np.unravel_index(at, got.shape))
    values = f"{got.ravel()[at]} instead of {want.ravel()[at]}"
    detail = f"{different.size} of {got.size} elements differ, first at {list(where)}: {values}"
    return Difference(output, "wrong:values", detail, float("inf"))


def _nan_difference(a: np.ndarray, b: np.ndarray, output: int) -> Difference | None:
    for name, test in (("nan", np.isnan), ("inf", np.isinf)):
        mine, theirs = test(a), test(b)
        if name == "inf" and a.dtype.kind == "f":
            # An infinity of the wrong sign is as wrong as none at all.
            mine, theirs = np.where(mine, np.sign(a), 0), np.where(theirs, np.sign(b), 0)
        different = np.flatnonzero(mine != theirs)
        if different.size:
            at = int(different[0])
            differ = f"{different.size} of {a.size} elements differ in being {name}"
            detail = f"{differ}, first at flat index {at}: {a[at]} instead of {b[at]}"
            return Difference(output, f"wrong:{name}", detail, float("inf"))
    return None


def _value_difference(
    a: np.ndarray, b: np.ndarray, allowed: Tolerance, output: int, shape: tuple[int, ...]
) -> Difference | None:
    finite = np.isfinite(a) & np.isfinite(b)
    distance = np.where(finite, np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)), 0.0)
    bound = allowed.absolute + allowed.relative * np.where(finite, np.abs(b), 0.0)
    beyond = np.flatnonzero(distance > bound)
    if not beyond.size:
        return None
    worst = int(beyond[np.argmax(distance[beyond])])
    where = [int(i) for i in np.unravel_index(worst, shape)]
    detail = (
        f"{beyond.size} of {a.size} elements differ, Chebyshev distance {distance[worst]:.4g} "
        f"at {where}: {a[worst]:.7g} instead of {b[worst]:.7g}"
    )
    return Difference(output, "wrong:values", detail, float(distance[worst]))
