"""What a wrong result looks like, in the few words that a title has room for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from fuzz.wire import Raw, Value, dtype_name
from triage.differ import differing, differing_beyond_type, is_inexact, widened
from triage.literals import Array, as_array

#: What is said of all elements together; it may only seem so where two tensors hold the same numbers.
PATTERNS = ("unchanged", "zeros", "swapped", "the wrong sign")


@dataclass(frozen=True)
class _Wrong:
    """One wrong output: all its elements, those that differ, and the arrays that went in."""

    want: Array
    got: Array
    mask: Array
    inputs: Mapping[str, Array]

    @property
    def wanted(self) -> Array:
        """The elements that should have come out, where others did."""
        return self.want[self.mask]

    @property
    def gotten(self) -> Array:
        """The elements that came out in their place."""
        return self.got[self.mask]


def effect(want: Value, got: Value, inputs: Mapping[str, Value]) -> str:
    """``returns 0 instead of -1``, ``returns shape (1, 3) instead of (2, 3)``; "" when nothing differs.

    `want` and `got` are one output of the reference and of the compiler, `inputs` the case's.
    """
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return f"returns a sequence of {len(got)} instead of {len(want)}"
        return next((found for pair in zip(want, got, strict=True) if (found := effect(*pair, inputs))), "")
    if not isinstance(want, np.ndarray | Raw) or not isinstance(got, np.ndarray | Raw):
        return "" if want is None and got is None else f"returns {_kind(got)} instead of {_kind(want)}"
    if dtype_name(want) != dtype_name(got):
        return _type(want, got)
    if tuple(want.shape) != tuple(got.shape):
        return _other_shape(want, got)
    arrays = {name: as_array(value) for name, value in inputs.items() if isinstance(value, np.ndarray | Raw)}
    mask = differing(as_array(want), as_array(got))
    return _values(_Wrong(as_array(want), as_array(got), mask, arrays)) if mask.any() else ""


def _type(want: Array | Raw, got: Array | Raw) -> str:
    """``returns int32 instead of int64``, with the first numbers that are others where the type does harm.

    With the shapes where these are others, too: who mends the type alone has mended little.
    """
    if tuple(want.shape) != tuple(got.shape):
        other, right = f"{dtype_name(got)} of shape {_shape(got)}", f"{dtype_name(want)} of shape {_shape(want)}"
        return f"returns {other} instead of {right}"
    mask = differing_beyond_type(want, got)
    if mask is None or not mask.any() or not isinstance(want, np.ndarray) or not isinstance(got, np.ndarray):
        return f"returns {dtype_name(got)} instead of {dtype_name(want)}"
    told = f"{dtype_name(got)} {number(got[mask][0])} instead of {dtype_name(want)} {number(want[mask][0])}"
    return f"returns {told}"


def _other_shape(want: Array | Raw, got: Array | Raw) -> str:
    """``returns shape (1, 3) instead of (2, 3)``; zeros where there should be numbers are worth a word.

    Integers are places and counts as often as not, and zero is the first.
    """
    found, wanted = as_array(got), as_array(want)
    if not found.size or not is_inexact(found) or np.any(found) or not np.any(wanted):
        return f"returns shape {_shape(got)} instead of {_shape(want)}"
    zeros = "zeros" if found.size > 1 else "0"
    return f"returns {zeros} of shape {_shape(got)} instead of numbers of shape {_shape(want)}"


def _kind(value: Value) -> str:
    return {"none": "nothing", "sequence": "a sequence"}.get(dtype_name(value), f"a {dtype_name(value)} tensor")


def _shape(value: Array | Raw) -> str:
    return str(tuple(int(size) for size in value.shape))


def _values(wrong: _Wrong) -> str:
    return next(found for test in _TESTS if (found := test(wrong)))


def _one_pair(wrong: _Wrong) -> str:
    """The same wrong value in the place of the same right one, wherever they differ."""
    pairs = {(number(one), number(other)) for one, other in zip(wrong.gotten, wrong.wanted, strict=True)}
    return "returns {} instead of {}".format(*pairs.pop()) if len(pairs) == 1 else ""


def _input_unchanged(wrong: _Wrong) -> str:
    same = [name for name, array in wrong.inputs.items() if _equal(array, wrong.got)]
    named = f" {same[0]}" if same and same[0] != "input" else ""
    return f"returns its input{named} unchanged" if same and wrong.got.size > 1 else ""


def _all_nan(wrong: _Wrong) -> str:
    return f"returns NaN{_instead_of(wrong.wanted)}" if _is(wrong.gotten, np.isnan) else ""


def _no_nan(wrong: _Wrong) -> str:
    return f"returns {_some(wrong.gotten)} instead of NaN" if _is(wrong.wanted, np.isnan) else ""


def _infinite(wrong: _Wrong) -> str:
    return f"returns {_some(wrong.gotten)}{_instead_of(wrong.wanted)}" if _is(wrong.gotten, np.isinf) else ""


def _not_infinite(wrong: _Wrong) -> str:
    if not _is(wrong.wanted, np.isinf):
        return ""
    return f"returns {_some(wrong.gotten)}{_instead_of(wrong.wanted)}"


def _zeros(wrong: _Wrong) -> str:
    return "returns zeros" if wrong.got.size > 1 and wrong.got.dtype.kind != "O" and not wrong.got.any() else ""


def _transposed(wrong: _Wrong) -> str:
    square = wrong.want.ndim > 1 and wrong.want.shape[-1] == wrong.want.shape[-2]
    return "returns the last two axes swapped" if square and _equal(wrong.got, wrong.want.swapaxes(-1, -2)) else ""


def _negated(wrong: _Wrong) -> str:
    if wrong.want.dtype.kind not in "if" or wrong.gotten.size < 2:
        return ""
    return "returns the wrong sign" if _equal(wrong.gotten, -wrong.wanted) else ""


def _integers(wrong: _Wrong) -> str:
    if is_inexact(wrong.want):
        return ""
    at = tuple(int(part) for part in np.argwhere(wrong.mask)[0])
    found = f"{number(wrong.got[at])} instead of {number(wrong.want[at])}"
    return f"returns wrong values ({found} at {list(at)})"


def rough(size: float) -> str:
    """Two digits of a number, written as people do: ``1000`` and not ``1e+03``."""
    return f"{float(f'{size:.2g}'):g}"


def _some_special(wrong: _Wrong) -> str:
    """Numbers in the place of NaN or infinities, or these in the place of numbers, among smaller faults."""
    if not is_inexact(wrong.want):
        return ""
    special = np.isfinite(widened(wrong.wanted)) != np.isfinite(widened(wrong.gotten))
    if not special.any():
        return ""
    first = int(np.argmax(special))
    return f"returns wrong values ({number(wrong.gotten[first])} for {number(wrong.wanted[first])})"


def _distance(wrong: _Wrong) -> str:
    with np.errstate(all="ignore"):
        distances = np.abs(widened(wrong.gotten) - widened(wrong.wanted))
    finite = distances[np.isfinite(distances)]
    return f"returns wrong values (off by up to {rough(finite.max())})" if finite.size else "returns wrong values"


#: The first that has words is the one that is told.
_TESTS: tuple[Callable[[_Wrong], str], ...] = (
    _one_pair,
    _input_unchanged,
    _all_nan,
    _no_nan,
    _infinite,
    _not_infinite,
    _zeros,
    _transposed,
    _negated,
    _integers,
    _some_special,
    _distance,
)


def _is(array: Array, test: Callable[[Array], Array]) -> bool:
    """Whether a float test holds for every element."""
    return is_inexact(array) and bool(np.all(test(widened(array))))


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and not differing(other, one).any()


def _some(array: Array) -> str:
    """All the elements in few words: the one number that they are, or their kind."""
    texts = {number(element) for element in array}
    if len(texts) == 1:
        return texts.pop()
    return "infinities" if _is(array, np.isinf) else "numbers"


def _instead_of(wanted: Array) -> str:
    texts = {number(element) for element in wanted}
    if len(texts) == 1:
        return f" instead of {texts.pop()}"
    return " instead of infinities" if _is(wanted, np.isinf) else " instead of numbers"


def number(element: object) -> str:
    """An element in at most six digits; NaN without its meaningless sign."""
    if isinstance(element, str | bytes | np.bool_ | np.integer | np.complexfloating):
        return str(element)
    value = float(element)  # type: ignore[arg-type]
    return "NaN" if np.isnan(value) else f"{value + 0.0:.6g}"  # -0.0 + 0.0 is 0.0
