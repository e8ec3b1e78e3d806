"""Distances between results, element by element: in absolute terms, in ulp, in tolerances. Pure numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.backends._coherence import SMALL, coherence
from fuzz.oracles import differential
from fuzz.wire import Value, dtype_name

#: Bits of the fraction and exponent of the smallest normal number.
_FORMATS = {"float64": (52, -1022), "float32": (23, -126), "float16": (10, -14), "bfloat16": (7, -126)}


@dataclass(frozen=True)
class Worst:
    """The element whose error is the largest in multiples of its noise.

    `excess`, `reference_excess`: that multiple for the compiler and for the reference; `error`,
    `reference_error`, `noise` absolute; `ulp` is one unit in the last place there. `wide` is the value in
    float64, `actual` and `expected` what compiler and reference gave. `explained` of `beyond` elements
    that leave the tolerance stay within their noise. `whole`: the output holds whole numbers or booleans.
    """

    output: int
    index: tuple[int, ...]
    excess: float
    reference_excess: float
    error: float
    reference_error: float
    noise: float
    ulp: float
    wide: float
    actual: float
    expected: float
    beyond: int
    explained: int
    whole: bool = False


def numbers(value: Value) -> np.ndarray | None:
    """The elements as float64, None for what is no tensor of real numbers."""
    if not isinstance(value, np.ndarray) or value.dtype.kind in "OUSTc":
        return None
    with np.errstate(all="ignore"):
        found: np.ndarray = value.astype(np.float64)
    return found


def ulp(wide: np.ndarray, dtype: str) -> np.ndarray:
    """One unit in the last place of `dtype` at each value; 1 for integers and booleans."""
    if dtype not in _FORMATS:
        return np.ones(wide.shape)
    bits, least = _FORMATS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.where(np.isfinite(wide) & (wide != 0), np.abs(wide), 2.0**least)))
        found: np.ndarray = np.exp2(np.maximum(exponent, least) - bits)
    return found


def distance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """|one - other|; 0 between equal infinities or NaNs, infinity where only one is finite."""
    with np.errstate(all="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        found = np.where(same, 0.0, np.abs(one - other))
    return np.where(np.isnan(found), np.inf, found)


def excess(error: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """`error` in multiples of `noise`: 0 where noise has no bound, infinity where there is none at all."""
    with np.errstate(all="ignore"):
        ratio = np.where(noise == 0, np.where(error == 0, 0.0, np.inf), error / noise)
    return np.where((error == 0) | np.isinf(noise), 0.0, ratio)


def beyond_tolerance(actual: np.ndarray, expected: np.ndarray, dtype: str) -> np.ndarray:
    """Where two results part by more than the larger of the two terms of the oracle's tolerance.

    The oracle takes their sum, so this finds all that it finds and a little more.
    """
    allowed = differential.tolerance(dtype)
    if dtype not in _FORMATS and "float" not in dtype:
        return np.asarray(distance(actual, expected) > 0)
    finite = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    return np.asarray(distance(actual, expected) > np.maximum(allowed.absolute, allowed.relative * finite))


def comparable(actual: Sequence[Value], expected: Sequence[Value]) -> bool:
    """Whether two results have the same number of outputs, of the same dtypes and shapes."""
    return len(actual) == len(expected) and all(
        dtype_name(one) == dtype_name(other) and getattr(one, "shape", None) == getattr(other, "shape", None)
        for one, other in zip(actual, expected, strict=True)
    )


def near_miss(actual: Sequence[Value], expected: Sequence[Value]) -> str:
    """One sentence where results leave the stricter tolerance of `beyond_tolerance`, else ""."""
    if not comparable(actual, expected):
        return ""
    for at, (one, other) in enumerate(zip(actual, expected, strict=True)):
        got, want = numbers(one), numbers(other)
        if got is None or want is None:
            continue
        outside = np.flatnonzero(beyond_tolerance(got, want, dtype_name(other)))
        if outside.size:
            worst = int(outside[np.argmax(distance(got, want).ravel()[outside])])
            values = f"{got.ravel()[worst]:.7g} instead of {want.ravel()[worst]:.7g}"
            return f"{outside.size} of {got.size} elements of output {at} are close to the tolerance, worst: {values}"
    return ""


#: By how much the runs of one program differ where sums are added up in another order, as a share of the largest
#: value. Integers are the same.
_STEADY = {"float64": 1e-5, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-2}


def steady(one: Sequence[Value], other: Sequence[Value]) -> bool:
    """Whether two runs of one program gave the same values, measured by the largest of them, however small that is.

    The tolerance sees no difference between 0 and 1e-22, but arithmetic gives either the one or the other every time.
    """
    if not comparable(one, other):
        return False
    for mine, theirs in zip(one, other, strict=True):
        got, want = numbers(mine), numbers(theirs)
        if got is None or want is None:
            continue
        largest = np.max(np.abs(want), initial=0, where=np.isfinite(want))
        if np.any(distance(got, want) > _STEADY.get(dtype_name(theirs), 0) * largest):
            return False
    return True


#: (usual, from): errors as coherent as `from` are all one error where trials under noise have `usual` at most.
#: The fewer independent errors there are, the likelier they agree by chance (decision 004).
_COHERENT = ((0.2, 0.9), (0.3, 0.95), (0.6, 0.99))


def pattern(actual: Value, truth: Value, usual: Sequence[float]) -> str:
    """How all elements err alike (``the same proportion (1.016)``), else "".

    `usual` are the coherence of factors and of offsets that trials under noise have. Only for float32 and float64: in
    narrower types long sums stop growing, which is rounding and strikes all sums alike.
    """
    got, want = numbers(actual), numbers(truth)
    if got is None or want is None or got.shape != want.shape or dtype_name(actual) not in ("float32", "float64"):
        return ""
    with np.errstate(all="ignore"):
        error = got - want
        factor, offset = coherence(error, want)
        if _is_one_error(factor, usual[0]):
            large = np.abs(want) > SMALL * np.nanmax(np.abs(want))
            return f"the same proportion ({1 + float(np.nanmean(error[large] / want[large])):.4g})"
        if _is_one_error(offset, usual[1]):
            return f"the same direction by about as much ({float(np.nanmean(error)):.3g})"
    return ""


def _is_one_error(found: float, usual: float) -> bool:
    return any(usual <= most and found >= least for most, least in _COHERENT)


def agrees(vote: Sequence[Value], other: Sequence[Value], where: Sequence[np.ndarray], noise: Sequence[Value]) -> bool:
    """Whether two results are equal up to the tolerance or twice the noise, in the elements that `where` marks."""
    for one, two, marked, still in zip(vote, other, where, noise, strict=True):
        mine, theirs, allowed = numbers(one), numbers(two), numbers(still)
        if mine is None or theirs is None or mine.shape != theirs.shape:
            if _same([one], [two]) == 0:
                return False
            continue
        outside = beyond_tolerance(mine, theirs, dtype_name(two)) & marked
        if allowed is not None and allowed.shape == mine.shape:
            outside &= distance(mine, theirs) > 2 * allowed
        if outside.any():
            return False
    return True


def parted(actual: Sequence[Value], expected: Sequence[Value]) -> list[np.ndarray]:
    """By output: the elements in which two results of the same shapes part."""
    found = []
    for one, other in zip(actual, expected, strict=True):
        got, want = numbers(one), numbers(other)
        if got is None or want is None or got.shape != want.shape:
            found.append(np.ones((), bool))
        else:
            found.append(beyond_tolerance(got, want, dtype_name(other)))
    return found


def nearer(vote: Sequence[Value], actual: Sequence[Value], expected: Sequence[Value]) -> int:
    """+1 where a third result is much nearer to `actual`, -1 to `expected`, 0 where it is neither."""
    if not comparable(actual, expected):
        return _same(vote, actual) - _same(vote, expected)
    if not comparable(vote, expected):
        return 0
    to_actual = to_expected = 0.0
    for third, one, other in zip(vote, actual, expected, strict=True):
        parts = numbers(third), numbers(one), numbers(other)
        if parts[0] is None or parts[1] is None or parts[2] is None:
            to_actual = max(to_actual, 0.0 if _same([third], [one]) else np.inf)
            to_expected = max(to_expected, 0.0 if _same([third], [other]) else np.inf)
            continue
        where = beyond_tolerance(parts[1], parts[2], dtype_name(other))
        to_actual = max(to_actual, float(np.max(distance(parts[0], parts[1])[where], initial=0.0)))
        to_expected = max(to_expected, float(np.max(distance(parts[0], parts[2])[where], initial=0.0)))
    if to_actual == to_expected:
        return 0
    if not np.isfinite(max(to_actual, to_expected)):  # everything finite is nearer to a number than to infinity
        return _same(vote, actual) - _same(vote, expected)
    return 1 if to_actual * 4 <= to_expected else (-1 if to_expected * 4 <= to_actual else 0)


def _same(one: Sequence[Value], other: Sequence[Value]) -> int:
    return int(differential.compare(one, other) is None)


def worst(
    actual: Sequence[Value], expected: Sequence[Value], wide: Sequence[Value], noise: Sequence[Value]
) -> Worst | None:
    """The worst element of all outputs, among those where `actual` leaves the tolerance; None if there is none."""
    found = [
        each
        for at, parts in enumerate(zip(actual, expected, wide, noise, strict=True))
        if (each := _worst_of(at, *parts)) is not None
    ]
    return max(found, key=lambda each: each.excess, default=None)


def _worst_of(at: int, actual: Value, expected: Value, wide: Value, noise: Value) -> Worst | None:
    a, r, w, n = numbers(actual), numbers(expected), numbers(wide), numbers(noise)
    if a is None or r is None or w is None or n is None or not a.shape == r.shape == w.shape == n.shape:
        return None
    dtype = dtype_name(expected)
    beyond = beyond_tolerance(a, r, dtype).ravel()
    if not beyond.any():
        return None
    unit = ulp(w, dtype)
    allowed = n + (2 * unit if dtype in _FORMATS else 0.0)
    mine, theirs = distance(a, w), distance(r, w)
    ratios = np.where(beyond, excess(mine, allowed).ravel(), -1.0)
    ties = np.flatnonzero(ratios == ratios.max())
    index = int(ties[np.argmax(mine.ravel()[ties])])

    def pick(values: np.ndarray) -> float:
        return float(values.ravel()[index])

    return Worst(
        at,
        tuple(int(i) for i in np.unravel_index(index, a.shape)),
        float(ratios[index]),
        float(excess(theirs, allowed).ravel()[beyond].max()),
        pick(mine),
        pick(theirs),
        pick(allowed),
        pick(unit),
        pick(w),
        pick(a),
        pick(r),
        int(beyond.sum()),
        int((beyond & (ratios <= 1.0)).sum()),
        dtype not in _FORMATS and "float" not in dtype,
    )
