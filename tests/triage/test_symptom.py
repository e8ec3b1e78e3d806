"""The class of a wrong result, and the sentence that gives its evidence."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fuzz.wire import Raw
from triage.symptom import Kind, classify

RAMP = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
BYTES = np.array([3, 200, 17, 90], np.int32)


def altered(array: np.ndarray, index: Any, value: Any) -> np.ndarray:
    copy = array.copy()
    copy[index] = value
    return copy


#: (class, expected, actual, words of the sentence)
WRONG: list[tuple[Kind, Any, Any, str]] = [
    (Kind.DTYPE, np.int64([1, 2]), np.float32([1, 2]), "float32 instead of int64; the numbers are right"),
    (Kind.DTYPE, np.int64([1, 2]), np.float32([0, 0]), "the numbers differ as well"),
    (Kind.DTYPE, np.float32([1, 2]), Raw("bfloat16", (2,), b"\x00\x00\x00\x00"), "bfloat16 instead of float32"),
    (Kind.SHAPE, RAMP, RAMP.reshape(3, 8), "the right ones in the right order"),
    (Kind.SHAPE, RAMP, RAMP.transpose(2, 0, 1), "the axes are in another order"),
    (Kind.SHAPE, RAMP[:, :1], RAMP[:, 0] + 1, "only axes of size 1"),
    (Kind.SHAPE, RAMP, RAMP[:0], "empty"),
    (Kind.MISSING, RAMP, None, "none instead of float32"),
    (Kind.TEXT, np.array(["a"], object), np.array(["b"], object), "strings"),
    (Kind.NAN, RAMP, altered(RAMP, (0, 0, 0), np.nan), "NaN instead of 1; only at index 0 of axis 2"),
    (Kind.NAN, altered(RAMP, (1, 2, 3), np.nan), RAMP, "24 instead of NaN"),
    (Kind.NAN, np.float32([-np.inf, 1]), np.float32([np.nan, 1]), "NaN instead of -infinity"),
    (Kind.INFINITE, np.float32([np.inf, 1]), np.float32([7, 1]), "7 instead of infinity"),
    (Kind.INFINITE, np.float32([np.inf, 1]), np.float32([-np.inf, 1]), "wrong sign"),
    (Kind.INFINITE, np.float64([np.inf]), np.float64([3.4028234663852886e38]), "the largest float32"),
    (Kind.SATURATED, np.float32([np.inf, 1]), np.float32([3.4028235e38, 1]), "a limit of float32, instead of infinity"),
    (Kind.SATURATED, np.int8([1, 5, 6]), np.int8([127, 5, 6]), "127, a limit of int8, instead of 1"),
    (
        Kind.UNSATURATED,
        np.array([448, 1], ml_dtypes.float8_e4m3fn),
        np.array([2, 1], ml_dtypes.float8_e4m3fn),
        "2 instead of 448, the limit of float8_e4m3fn",
    ),
    (Kind.WRAPPED, BYTES + 256, BYTES, "only 8 bits were kept"),
    (Kind.WRAPPED, np.int64([2**40 + 1, 2**40 + 7]), np.int64([1, 7]), "only 32 bits were kept"),
    (Kind.ZERO, RAMP, np.zeros_like(RAMP), "zero everywhere instead of 1"),
    (Kind.ZERO, RAMP, altered(RAMP, (slice(None), 2), 0), "only at index 2 (the last one) of axis 1"),
    (Kind.CONSTANT, RAMP, np.full_like(RAMP, 9), "9 everywhere"),
    (Kind.PERMUTED, RAMP[0][:, :3], RAMP[0][:, :3].T, "transposed by axes [1, 0]"),
    (Kind.PERMUTED, RAMP, RAMP.transpose(0, 2, 1).reshape(2, 3, 4), "then read as the expected shape"),
    (Kind.PERMUTED, RAMP, RAMP[:, ::-1], "reversed along axis 1"),
    (Kind.PERMUTED, RAMP, np.roll(RAMP, 1, 2), "rotated by 1 along axis 2"),
    (Kind.PERMUTED, RAMP[0], RAMP[0][[1, 0, 2]], "the slices along axis 0 are in another order"),
    (Kind.PERMUTED, np.float32([1, 2, 3, 4]), np.float32([2, 1, 4, 3]), "in another order"),
    (
        Kind.REPEATED,
        RAMP,
        np.repeat(RAMP[:, :1], 3, 1),
        "the first slice of the expected ones is repeated along axis 1",
    ),
    (Kind.SHIFTED, np.float32([1, 2, 3, 4, 5, 6]), np.float32([9, 1, 2, 3, 4, 5]), "shifted by 1 along axis 0"),
    (Kind.SIGN, RAMP, altered(RAMP, (0, 1), -RAMP[0, 1]), "the wrong sign: -5 instead of 5"),
    (Kind.ROUNDING, np.int32([5, -4, 7]), np.int32([5, -3, 7]), "one too large: -3 instead of -4"),
    (Kind.OFFSET, RAMP, RAMP + 2.5, "off by 2.5"),
    (Kind.OFFSET, RAMP, RAMP + np.where(RAMP > 20, 2.5, 0).astype(np.float32), "off by 2.5; only at index 2"),
    (Kind.SCALED, RAMP, RAMP * np.float32(0.75), "the expected numbers times 0.75"),
    (Kind.INVERTED, np.array([True, False]), np.array([True, True]), "True where False is expected"),
    (Kind.INVERTED, np.array([True, False]), np.array([False, True]), "true for false and false for true"),
    (Kind.INACCURATE, RAMP, RAMP * np.linspace(1, 1.01, 24, dtype=np.float32).reshape(2, 3, 4), "1 % off"),
    (Kind.UNINITIALISED, np.float32([np.inf, 1, 1]), np.float32([-1e24, 4e-41, 1]), "below the least normal float32"),
    (
        Kind.VALUES,
        RAMP,
        altered(RAMP, (0, 0), [7, -3, 90, 0.1]),
        "4 of 24 elements are wrong; only at index 0 of axis 1",
    ),
]


@pytest.mark.parametrize(("kind", "expected", "actual", "words"), WRONG, ids=[f"{w[0]}-{w[3][:30]}" for w in WRONG])
def test_a_wrong_result_is_classified_and_told_with_evidence(
    kind: Kind, expected: Any, actual: Any, words: str
) -> None:
    found = classify([expected], [actual])
    assert found is not None and found.kind is kind, found
    assert words in found.told
    assert "\n" not in found.told


@pytest.mark.parametrize("value", [RAMP, np.array(3.0), np.zeros((0, 2)), np.array(["a"], object), None, [RAMP, RAMP]])
def test_what_agrees_has_no_symptom(value: Any) -> None:
    assert classify([value], [value]) is None


def test_noise_within_the_tolerance_is_no_symptom() -> None:
    assert classify([RAMP], [RAMP * np.float32(1.0001)]) is None


def test_another_number_of_outputs_is_told_first() -> None:
    found = classify([RAMP, RAMP], [RAMP])
    assert found is not None and found.kind is Kind.COUNT and "1 outputs instead of 2" in found.told


def test_the_items_of_a_sequence_are_compared() -> None:
    found = classify([[RAMP, RAMP]], [[RAMP, RAMP + 2.5]])
    assert found is not None and found.kind is Kind.OFFSET


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64", "bfloat16", "int4", "float8_e5m2"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,)])
def test_every_dtype_and_shape_gets_some_class(dtype: str, shape: tuple[int, ...]) -> None:
    kind: Any = getattr(ml_dtypes, dtype) if hasattr(ml_dtypes, dtype) else np.dtype(dtype)
    zeros, ones = np.zeros(shape, kind), np.ones(shape, kind)
    found = classify([zeros], [ones])
    assert (found is None) == (zeros.size == 0)


@pytest.mark.parametrize("seed", range(20))
def test_random_numbers_are_given_no_reason(seed: int) -> None:
    """A class that chance could produce would be a false claim."""
    draw = np.random.default_rng(seed)
    shape = tuple(int(size) for size in draw.integers(1, 5, int(draw.integers(1, 4))))
    expected, actual = (draw.normal(size=shape).astype(np.float32) * 10 for _ in range(2))
    found = classify([expected], [actual])
    assert found is None or expected.size < 3 or found.kind is Kind.VALUES, (found, expected, actual)


def test_integers_of_64_bits_lose_nothing() -> None:
    found = classify([np.int64([2**62 + 1, 5, 5])], [np.int64([2**62, 5, 5])])
    assert found is not None and found.kind is Kind.ROUNDING
