"""Values as Python source: the shortest spelling that gives back the very same bits.

Every spelling is checked against the array it stands for before it is used, so a rounding surprise
falls through to the next spelling and at last to the packed bytes.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from fuzz.instance_values import DECIMALS
from fuzz.wire import SMALL_DTYPES, Raw, Value
from triage.layout import Expr, Group, call, followed, listing, named, one_line, quote

#: Arrays with at most this many elements are written out.
SMALL = 64
#: Below this size a plain list reads better than a recipe such as ``np.full``.
RECIPE_FROM = 9
#: Fewer numbers that come again are read as they stand, and so are fewer rows.
_SHORTEST_CYCLE, _MANY_ROWS = 3, 8
#: More numbers than this in a pattern are no pattern that a person sees.
_LONGEST_CYCLE = 12
#: About so many numbers fit on a line, and so many columns of them beside the name and the dtype.
_ONE_LINE, _LONG_LINE = 24, 80

Array = np.ndarray[Any, np.dtype[Any]]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Any]

#: How a person fills a tensor whose numbers do not matter, by the method of numpy's generator.
DRAWN: Mapping[str, Draw] = {
    "standard_normal({shape})": lambda generator, shape: generator.standard_normal(shape),
    "uniform(-1, 1, {shape})": lambda generator, shape: generator.uniform(-1, 1, shape),
    "uniform(0, 1, {shape})": lambda generator, shape: generator.uniform(0, 1, shape),
}


def as_array(value: Array | Raw) -> Array:
    """A numpy array of either form; `Raw` becomes an ml_dtypes array, strings an object array."""
    if isinstance(value, Raw):
        return np.frombuffer(value.data, np.dtype(getattr(ml_dtypes, value.dtype))).reshape(value.shape)
    if value.dtype.kind in "UST":
        return value.astype(object)
    return value


def dtype_text(dtype: np.dtype[Any]) -> str:
    """The dtype as an attribute of its module: ``np.float32``, ``ml_dtypes.bfloat16``, ``object``."""
    if dtype.kind == "O":
        return "object"
    if dtype.name in SMALL_DTYPES:
        return f"ml_dtypes.{dtype.name}"
    return "np.bool_" if dtype.name == "bool" else f"np.{dtype.name}"


def array_expr(value: Array | Raw) -> Expr:
    """An expression that rebuilds the array: same dtype, shape and bits. Raises nothing."""
    array = as_array(value)
    for spell in _SPELLINGS:
        expr = spell(array)
        if expr is not None:
            return expr
    return _packed(array)


def value_expr(value: Value) -> Expr:
    """An expression for any value that a graph takes: tensor, sequence or absent optional."""
    if value is None:
        return "None"
    if isinstance(value, list | tuple) and not isinstance(value, Raw):
        return listing(value_expr(item) for item in value)
    return array_expr(value)


def bytes_expr(data: bytes) -> Group:
    """An expression for a byte string, deflated and in base64."""
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    pieces = tuple(f'"{text[at : at + 80]}"' for at in range(0, len(text), 80))
    return call("zlib.decompress", Group("base64.b64decode(", pieces, ")", comma=""))


def number_texts(array: Array) -> tuple[list[str], list[Any]]:
    """The elements in row order as source text, and as the Python objects that the text means."""
    pairs = [_SPELL_ELEMENT.get(array.dtype.kind, _spell_float)(element) for element in array.ravel()]
    return [text for text, _ in pairs], [meaning for _, meaning in pairs]


def _spell_float(element: Any) -> tuple[str, Any]:
    number = float(element)
    sign = "-" if np.signbit(np.float64(number)) else ""
    if np.isnan(number):
        return f"{sign}np.nan", -np.nan if sign else np.nan
    if np.isinf(number):
        return f"{sign}np.inf", number
    text = str(element)
    if float(text) != number and type(element)(float(text)) != element:
        text = repr(number)
    return text, float(text)


def _spell_complex(element: Any) -> tuple[str, Any]:
    real, real_value = _spell_float(element.real)
    imaginary, imaginary_value = _spell_float(element.imag)
    return f"complex({real}, {imaginary})", complex(real_value, imaginary_value)


def _spell_string(element: Any) -> tuple[str, Any]:
    text = element.decode("utf-8", "replace") if isinstance(element, bytes) else str(element)
    return quote(text), text


def _spell_integer(element: Any) -> tuple[str, Any]:
    return str(int(element)), int(element)


_SPELL_ELEMENT: dict[str, Callable[[Any], tuple[str, Any]]] = {
    "b": lambda element: (str(bool(element)), bool(element)),
    "i": _spell_integer,
    "u": _spell_integer,
    "U": _spell_string,  # numpy makes these of a string of an object array
    "S": _spell_string,
    "c": _spell_complex,
    "O": _spell_string,
}


def _same(array: Array, rebuilt: Array) -> bool:
    if array.dtype.kind == "O":
        return [str(item) for item in array.ravel()] == list(rebuilt.ravel())
    return array.tobytes() == rebuilt.tobytes()


def _shape_text(shape: Sequence[int]) -> str:
    return repr(tuple(int(size) for size in shape))


def _as_empty(array: Array) -> Expr | None:
    if array.size:
        return None
    return call("np.zeros", _shape_text(array.shape), f"dtype={dtype_text(array.dtype)}")


def _as_constant(array: Array) -> Expr | None:
    if array.size < RECIPE_FROM:
        return None
    first = array.ravel()[:1]
    if not _same(array.ravel(), np.repeat(first, array.size)):
        return None
    (text,), (meaning,) = number_texts(first)
    if not _same(array, _rebuilt([meaning] * array.size, array)):
        return None
    return call("np.full", _shape_text(array.shape), text, f"dtype={dtype_text(array.dtype)}")


def _as_range(array: Array) -> Expr | None:
    if array.size < RECIPE_FROM or array.dtype.kind not in "iuf" or array.dtype.name in SMALL_DTYPES:
        return None
    first, second = (float(element) for element in array.ravel()[:2])
    step = second - first
    if not (np.isfinite(first) and step and step.is_integer() and first.is_integer()):
        return None
    bounds = [int(first), int(first) + int(step) * array.size, int(step)]
    if max(abs(bound) for bound in bounds) >= 2**31:
        return None
    if not _same(array, np.arange(*bounds).astype(array.dtype)):
        return None
    given = bounds if step != 1 else bounds[:2] if first else bounds[1:2]
    expr = call("np.arange", *map(str, given), f"dtype={dtype_text(array.dtype)}")
    return expr if array.ndim == 1 else followed(expr, f".reshape({_shape_text(array.shape)})")


def _as_cycle(array: Array) -> Expr | None:
    """The same few whole numbers again and again, as reducing leaves them in large tensors."""
    if array.size < RECIPE_FROM or array.dtype.kind not in "iuf" or array.dtype.name in SMALL_DTYPES:
        return None
    flat = array.ravel()
    first, period = float(flat[0]), int(np.argmax(flat[1:] == flat[0])) + 1
    if period < _SHORTEST_CYCLE or 2 * period > flat.size or not abs(first) < 2**31:
        return None
    bounds = (int(first), int(first) + period)
    if not _same(array, np.resize(np.arange(*bounds).astype(array.dtype), array.shape)):
        return None
    given = bounds if bounds[0] else bounds[1:]
    counted = call("np.arange", *map(str, given), f"dtype={dtype_text(array.dtype)}")
    return call("np.resize", counted, _shape_text(array.shape))


def _as_pattern(array: Array) -> Expr | None:
    """Any few numbers again and again, where all of them would take several lines."""
    if array.size < RECIPE_FROM or array.dtype.kind not in "biuf" or array.dtype.name in SMALL_DTYPES:
        return None
    flat = array.ravel()
    period = next((some for some in range(2, _LONGEST_CYCLE + 1) if _same(np.resize(flat[:some], flat.shape), flat)), 0)
    if not period or 2 * period > flat.size or not (_has_many_rows(array) or flat.size > _ONE_LINE):
        return None
    start = _as_whole(flat[:period]) or _as_list(flat[:period])
    return call("np.resize", start, _shape_text(array.shape)) if start else None


def _as_drawn(array: Array) -> Expr | None:
    """Random numbers of a seed that a person would take, in the place of packed bytes."""
    if array.size <= SMALL or array.dtype.kind != "f" or array.dtype.name in SMALL_DTYPES:
        return None
    for text, draw in DRAWN.items():
        if _same(array, drawn(draw, array)):
            method = text.format(shape=_shape_text(array.shape))
            return f"np.random.default_rng(0).{method}.round({DECIMALS}).astype({dtype_text(array.dtype)})"
    return None


def drawn(draw: Draw, like: Array) -> Array:
    """An array as one recipe of `DRAWN` draws it, of the dtype and shape of another."""
    numbers = np.asarray(draw(np.random.default_rng(0), like.shape)).round(DECIMALS)
    return numbers.astype(like.dtype)


def _as_one_odd(array: Array) -> Expr | None:
    """One number everywhere but in one place, where all of them would take several lines."""
    if array.size <= _ONE_LINE or array.dtype.kind not in "iuf" or array.dtype.name in SMALL_DTYPES:
        return None
    flat = array.ravel()
    usual = flat[0] if flat[0] == flat[-1] else flat[1]
    places = np.flatnonzero(flat != usual)
    if len(places) != 1:
        return None
    texts, meanings = number_texts(np.array([flat[places[0]], usual]))
    odd = np.where(np.arange(flat.size) == places[0], *meanings).astype(array.dtype)
    if not _same(flat, odd):
        return None
    choice = call("np.where", f"np.arange({flat.size}) == {places[0]}", *texts)
    return followed(choice, f".astype({dtype_text(array.dtype)}).reshape({_shape_text(array.shape)})")


def _has_many_rows(array: Array, many: int = _MANY_ROWS) -> bool:
    return array.ndim > 1 and array.size // array.shape[-1] >= many


def _is_deep(array: Array) -> bool:
    """Rows of rows that do not fit on a line."""
    return array.ndim > 2 and len(one_line(nested(number_texts(array)[0], array.shape))) > _LONG_LINE


def _as_rows(array: Array) -> Expr | None:
    """Numbers in too many rows to give each a line of its own, or in rows of rows, whose brackets take lines, too."""
    if array.size > SMALL or array.dtype.kind not in "biuf" or array.dtype.name in SMALL_DTYPES:
        return None
    if not _has_many_rows(array) and not (_has_many_rows(array, _MANY_ROWS // 2) and _is_deep(array)):
        return None
    flat = _as_whole(array.ravel()) or _as_list(array.ravel())
    return followed(flat, f".reshape({_shape_text(array.shape)})") if flat else None


def _as_whole(flat: Array) -> Expr | None:
    """Whole numbers without the fraction that a list of floats would give each of them."""
    if flat.dtype.kind not in "iuf" or not np.isfinite(flat).all():
        return None
    whole = [int(element) for element in flat]
    if not _same(flat, _rebuilt(whole, flat)):
        return None
    return call("np.array", listing(map(str, whole), fill=True), f"dtype={dtype_text(flat.dtype)}")


def _as_list(array: Array) -> Expr | None:
    if array.size > SMALL and array.dtype.kind != "O":
        return None
    texts, meanings = number_texts(array)
    if not _same(array, _rebuilt(meanings, array)):
        return None
    return call("np.array", nested(texts, array.shape), f"dtype={dtype_text(array.dtype)}")


def _rebuilt(meanings: list[Any], array: Array) -> Array:
    return np.array(meanings, dtype=array.dtype)


def nested(texts: Sequence[str], shape: Sequence[int]) -> Expr:
    """Element texts in row order as nested list displays of the given shape (no size of zero)."""
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return listing(texts, fill=True)
    row = len(texts) // shape[0]
    return listing(nested(texts[at : at + row], shape[1:]) for at in range(0, len(texts), row))


def _packed(array: Array) -> Expr:
    data = bytes_expr(array.tobytes())
    expr = call("np.frombuffer", data, named("dtype=", dtype_text(array.dtype)))
    # frombuffer gives a read-only array, which some compilers refuse.
    return followed(expr, f".reshape({_shape_text(array.shape)}).copy()")


_SPELLINGS = (
    _as_empty,
    _as_constant,
    _as_range,
    _as_cycle,
    _as_pattern,
    _as_one_odd,
    _as_rows,
    _as_list,
    _as_drawn,
)
