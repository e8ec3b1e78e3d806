"""Element types of ONNX tensors as generators see them: numbers, value ranges, data of their kind.

A dtype is the number of `onnx.TensorProto.DataType`. Values are kept within `RANGE`: far enough below the largest
value that a sum of a few thousand products of what operators are given stays finite, and integers never overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from onnx import TensorProto as T
from onnx import helper

#: (low, high): no tensor holds a value outside.
Interval = tuple[float, float]

FLOAT, DOUBLE, FLOAT16, BFLOAT16 = int(T.FLOAT), int(T.DOUBLE), int(T.FLOAT16), int(T.BFLOAT16)
INT8, INT16, INT32, INT64 = int(T.INT8), int(T.INT16), int(T.INT32), int(T.INT64)
UINT8, UINT16, UINT32, UINT64 = int(T.UINT8), int(T.UINT16), int(T.UINT32), int(T.UINT64)
INT2, INT4, UINT2, UINT4 = int(T.INT2), int(T.INT4), int(T.UINT2), int(T.UINT4)
BOOL, STRING = int(T.BOOL), int(T.STRING)
FLOAT4E2M1, FLOAT8E8M0 = int(T.FLOAT4E2M1), int(T.FLOAT8E8M0)

RANGE: Mapping[int, Interval] = {
    T.FLOAT: (-1e6, 1e6),
    T.DOUBLE: (-1e6, 1e6),
    T.BFLOAT16: (-1e6, 1e6),
    T.FLOAT16: (-3e4, 3e4),
    T.COMPLEX64: (-1e6, 1e6),
    T.COMPLEX128: (-1e6, 1e6),
    T.FLOAT8E4M3FN: (-448.0, 448.0),
    T.FLOAT8E4M3FNUZ: (-240.0, 240.0),
    T.FLOAT8E5M2: (-3e4, 3e4),
    T.FLOAT8E5M2FNUZ: (-3e4, 3e4),
    T.FLOAT8E8M0: (2.0**-20, 2.0**20),
    T.FLOAT4E2M1: (-6.0, 6.0),
    T.INT8: (-128, 127),
    T.INT16: (-(2.0**15), 2.0**15 - 1),
    T.INT32: (-(2.0**30), 2.0**30),
    T.INT64: (-(2.0**40), 2.0**40),
    T.INT4: (-8, 7),
    T.INT2: (-2, 1),
    T.UINT8: (0, 255),
    T.UINT16: (0, 2.0**16 - 1),
    T.UINT32: (0, 2.0**31),
    T.UINT64: (0, 2.0**40),
    T.UINT4: (0, 15),
    T.UINT2: (0, 3),
    T.BOOL: (0, 1),
    T.STRING: (0, 0),
}
#: Every dtype of the standard at IR version 13, in the order of their numbers.
ALL = tuple(sorted(int(code) for code in RANGE))
FLOATS = frozenset(int(code) for code in (T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16))
UNSIGNED = frozenset(int(code) for code in (T.UINT8, T.UINT16, T.UINT32, T.UINT64, T.UINT4, T.UINT2))
SIGNED = frozenset(int(code) for code in (T.INT8, T.INT16, T.INT32, T.INT64, T.INT4, T.INT2))
#: Floats of eight bits with a sign.
FLOAT8 = frozenset(int(code) for code in (T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2, T.FLOAT8E5M2FNUZ))
#: What most compilers know; a graph in these is not refused for its element types.
COMMON = frozenset(int(code) for code in (T.FLOAT, T.DOUBLE, T.FLOAT16, T.INT32, T.INT64, T.UINT8, T.INT8, T.BOOL))

#: Ranges of new tensors, and those that are drawn where none of these fits.
_FLOATING: tuple[Interval, ...] = (
    (-1.0, 1.0),
    (0.5, 2.0),
    (-3.0, 3.0),
    (0.0, 1.0),
    (-2.0, -0.5),
    (1.0, 3.0),
    (0.125, 1.0),
)
_FLOATING_AT_NEED: tuple[Interval, ...] = ((-0.5, 0.5), (1.0, 1.0), (0.0, 0.0))
_WHOLE: tuple[Interval, ...] = ((-3, 3), (0, 4), (1, 3), (-2, -1), (0, 1), (-1, 1))
_WHOLE_AT_NEED: tuple[Interval, ...] = ((1, 1), (0, 0))


def is_floating(code: int) -> bool:
    """Whether values between integers exist. Complex numbers count: parts are drawn like floats."""
    return code in FLOATS or code in _COMPLEX or code in _SMALL_FLOATS


_COMPLEX = frozenset((int(T.COMPLEX64), int(T.COMPLEX128)))
_SMALL_FLOATS = frozenset(
    int(code)
    for code in (
        T.FLOAT8E4M3FN,
        T.FLOAT8E4M3FNUZ,
        T.FLOAT8E5M2,
        T.FLOAT8E5M2FNUZ,
        T.FLOAT8E8M0,
        T.FLOAT4E2M1,
    )
)


@lru_cache(1 << 12)
def fresh_intervals(code: int, low: float, high: float) -> tuple[Interval, ...]:
    """The ranges that a new tensor of the dtype may get within [low, high]; empty when none fits."""
    if code == STRING:
        return ((0, 0),)
    floor, ceiling = RANGE[code]
    floor, ceiling = max(floor, low), min(ceiling, high)
    choices = (_FLOATING, _FLOATING_AT_NEED) if is_floating(code) else (_WHOLE, _WHOLE_AT_NEED)
    for intervals in choices:
        inside = [each for each in intervals if floor <= each[0] and each[1] <= ceiling]
        fitting = tuple(each for each in inside if _holds(code, each))
        if fitting:
            return fitting
    edges = (float(np.ceil(floor)), float(np.floor(ceiling)))
    return (edges,) if edges[0] <= edges[1] else ()


def _holds(code: int, ends: Interval) -> bool:
    """Whether both ends are values of the dtype, so that rounding cannot leave the range."""
    return code in _COMPLEX or bool((np.array(ends).astype(numpy_dtype(code)).astype(np.float64) == ends).all())


def numpy_dtype(code: int) -> np.dtype:
    """The numpy (or ml_dtypes) type; object for strings."""
    return np.dtype(helper.tensor_dtype_to_np_dtype(code))


WORDS = (b"", b"a", b"Hello World", b"12", "\u00fcberm\u00e4\u00dfig".encode(), b"a,b,c")


def draw(code: int, shape: tuple[int, ...], interval: Interval, rng: np.random.Generator) -> np.ndarray:
    """An array of the dtype and shape with values in the interval; words for strings."""
    if code == STRING:
        words = [WORDS[at].decode() for at in rng.integers(0, len(WORDS), shape).ravel()]
        return np.array(words, dtype=object).reshape(shape)
    low, high = interval
    dtype = numpy_dtype(code)
    if not is_floating(code):
        return rng.integers(int(low), int(high) + 1, shape).astype(dtype).reshape(shape)
    if code in _COMPLEX:
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype).reshape(shape)
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype).reshape(shape)


#: Bits of one element as ONNX packs it.
_BITS = {int(T.INT4): 4, int(T.UINT4): 4, int(T.FLOAT4E2M1): 4, int(T.INT2): 2, int(T.UINT2): 2}
#: Elements of a pool of data, of which every new constant is a slice.
POOL = 1 << 14


def raw(array: np.ndarray, code: int) -> bytes:
    """TensorProto.raw_data of the array: little-endian, elements of less than a byte packed from the low bits up."""
    bits = _BITS.get(code, 8)
    if bits == 8:
        data: bytes = array.astype(array.dtype.newbyteorder("<")).tobytes()
        return data
    per_byte = 8 // bits
    items = array.ravel().view(np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-items.size // per_byte) * per_byte, np.uint8)
    padded[: items.size] = items
    rows = padded.reshape(-1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    packed: bytes = np.bitwise_or.reduce(rows, axis=1).astype(np.uint8).tobytes()
    return packed


@lru_cache(64)
def _pool(code: int, interval: Interval) -> tuple[bytes, int]:
    """Raw data of `POOL` elements drawn once, and the bits of an element."""
    array = draw(code, (POOL,), interval, np.random.default_rng(code))
    data = raw(array, code)
    return data, 8 * len(data) // POOL


def raw_slice(code: int, size: int, interval: Interval, at: float) -> bytes:
    """Raw data of `size` (≤ `POOL`) elements in the interval; `at` in [0, 1) says where in the pool they lie."""
    data, bits = _pool(code, interval)
    if bits < 8:  # whole bytes only, and what is beyond the last element is zero
        length = -(-size * bits // 8)
        start = int(at * (len(data) - length))
        spare = length * 8 - size * bits
        piece = data[start : start + length]
        return piece[:-1] + bytes([piece[-1] & (0xFF >> spare)]) if spare else piece
    width = bits // 8
    start = int(at * (POOL - size)) * width
    return data[start : start + size * width]
