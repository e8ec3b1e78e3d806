"""Where two values differ, for a reader: which elements, by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fuzz.oracles.differential import tolerance
from fuzz.wire import Raw, Value, dtype_name
from triage.literals import Array, as_array, number_texts

#: Rows in a table of differing elements, and elements of an array that is shown whole.
MOST_ROWS = 8
WHOLE = 24


def is_inexact(value: Array) -> bool:
    """Whether elements are compared with a tolerance: floats of every width and complex numbers."""
    return value.dtype.kind in "fc" or "float" in value.dtype.name


def widened(value: Array) -> Array:
    """The same numbers in a dtype wide enough to subtract in."""
    if value.dtype.kind == "O" or not is_inexact(value):
        return value
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def differing(expected: Array, actual: Array) -> Array:
    """A mask of the elements that differ by the oracle's measure; the shapes are equal. NaN equals NaN."""
    if not is_inexact(expected) or not is_inexact(actual):
        return np.asarray(expected != actual)
    allowed = tolerance(dtype_name(expected))
    close = np.isclose(widened(actual), widened(expected), rtol=allowed.relative, atol=allowed.absolute, equal_nan=True)
    return ~np.asarray(close)


def differing_beyond_type(expected: Value, actual: Value) -> Array | None:
    """The mask of `differing` once `actual` is converted to the dtype of `expected`; None where nothing can be said.

    That is so for equal dtypes, other shapes, and whatever is not a plain array of numbers.
    """
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or expected.shape != actual.shape:
        return None
    if expected.dtype.kind not in "fiub" or actual.dtype.kind not in "fiub" or expected.dtype == actual.dtype:
        return None
    with np.errstate(all="ignore"):
        return differing(expected, actual.astype(expected.dtype))


def describe(name: str, expected: Value, actual: Value) -> list[str]:
    """Lines that say how one output differs; empty when it does not.

    Sequences are compared item by item; an item's name carries its position.
    """
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{name}: {len(expected)} items expected, {len(actual)} found"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for at, (one, two) in pairs for line in describe(f"{name}[{at}]", one, two)]
    if not isinstance(expected, np.ndarray | Raw) or not isinstance(actual, np.ndarray | Raw):
        same = expected is None and actual is None
        return [] if same else [f"{name}: {dtype_name(expected)} expected, {dtype_name(actual)} found"]
    return _describe_arrays(name, as_array(expected), as_array(actual))


def summary(value: Value) -> str:
    """Dtype and shape, as in ``float32 (2, 3)``."""
    if isinstance(value, np.ndarray | Raw):
        return f"{dtype_name(value)} {tuple(value.shape)}"
    return "absent" if value is None else f"sequence of {len(value)}"


def _describe_arrays(name: str, expected: Array, actual: Array) -> list[str]:
    if expected.shape != actual.shape or dtype_name(expected) != dtype_name(actual):
        return [f"{name}:", *_apart("expected", expected), *_apart("actual  ", actual)]
    mask = differing(expected, actual)
    count = int(mask.sum())
    if not count:
        return []
    elements = "1 element differs" if mask.size == 1 else f"{count} of {mask.size} elements differ"
    head = f"{name}: {summary(expected)}, {elements}{_largest(expected, actual, mask)}"
    show = _side_by_side if 0 < expected.size <= WHOLE else _first_rows
    return [head, "", *show(expected, actual, mask)]


def _apart(title: str, array: Array) -> list[str]:
    """Type and, where they are few, elements of an array that has no counterpart of its own shape."""
    elements = f": {_nested(array)}" if 0 < array.size <= WHOLE else ""
    return [f"  {title}  {summary(array)}{elements}"]


def _largest(expected: Array, actual: Array, mask: Array) -> str:
    if not is_inexact(expected) and expected.dtype.kind not in "iu":
        return ""
    wide = (lambda a: a.astype(object)) if expected.dtype.kind in "iu" else widened
    with np.errstate(all="ignore"):
        distances = np.abs(wide(actual)[mask] - wide(expected)[mask])
    finite = [float(one) for one in distances.ravel() if np.isfinite(float(one))]
    if not finite or (mask.size == 1 and not is_inexact(expected)):
        return ""
    return f", largest difference {max(finite):.6g}"


def _side_by_side(expected: Array, actual: Array, mask: Array) -> Iterator[str]:
    """Both arrays whole, one line for each innermost row; ``<`` marks the rows that differ."""
    leading = expected.shape[:-1]
    rows = [("index" if leading else "", "expected", "actual", "")]
    for index in np.ndindex(*leading):
        sign = "<" if mask[index].any() and mask.size > 1 else ""
        rows.append((_index_text(index), _nested(expected[index]), _nested(actual[index]), sign))
    return _columns(rows)


def _first_rows(expected: Array, actual: Array, mask: Array) -> Iterator[str]:
    """The first elements that differ."""
    where = np.argwhere(mask)
    rows = [("index", "expected", "actual")]
    for index in where[:MOST_ROWS]:
        at = tuple(int(part) for part in index)
        rows.append((_index_text(at), _nested(expected[at]), _nested(actual[at])))
    yield from _columns(rows)
    if len(where) > MOST_ROWS:
        yield f"  ... and {len(where) - MOST_ROWS} more"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    used = [column for column in zip(*rows, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in used]
    for row in zip(*used, strict=True):
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _index_text(index: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, index)) + "]" if len(index) else ""


def _nested(part: Any) -> str:
    """An array as nested lists on one line, an element as itself."""
    array = np.asarray(part)
    if array.ndim:
        return "[" + ", ".join(_nested(item) for item in array) + "]"
    (text,), _ = number_texts(array.reshape(1))
    return text.replace("np.", "").replace("-nan", "nan")[:40]


def shown(name: str, value: Value) -> list[str]:
    """One output by itself: its type, and its elements when they are few."""
    head = f"{name}: {summary(value)}"
    if isinstance(value, np.ndarray | Raw) and 0 < as_array(value).size <= WHOLE:
        return [f"{head}: {_nested(as_array(value))}"]
    return [head]
