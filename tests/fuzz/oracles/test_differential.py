"""The inconsistency oracle: what differs, in which order it is looked at, and what is tolerated."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fuzz.oracles import differential
from fuzz.wire import Raw, Value


def symptom(got: Value, want: Value) -> str:
    difference = differential.compare([got], [want])
    return difference.symptom if difference else ""


def f32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_equal_results_agree() -> None:
    values: list[Value] = [f32(1, 2), np.array(["a"], dtype=object), None, [f32(1)], np.array(3), np.zeros((0, 4))]
    assert differential.compare(values, values) is None


@pytest.mark.parametrize(
    ("got", "want", "found"),
    [
        (f32(1, 2), np.array([1, 2], dtype=np.float64), "wrong:dtype"),
        (f32(1, 2), f32(1, 2).reshape(1, 2), "wrong:shape"),
        (np.array(1.0), np.array([1.0]), "wrong:shape"),
        (np.zeros((0, 3)), np.zeros((3, 0)), "wrong:shape"),
        (f32(1), [f32(1)], "wrong:dtype"),
        ([f32(1)], f32(1), "wrong:dtype"),
        ([f32(1)], [f32(1), f32(2)], "wrong:count"),
        (None, f32(1), "wrong:dtype"),
        (f32(1), None, "wrong:dtype"),
        (f32(1), np.array(["1"], dtype=object), "wrong:dtype"),
        (np.array([1]), np.array([True]), "wrong:dtype"),
    ],
)
def test_structure_comes_before_values(got: Value, want: Value, found: str) -> None:
    assert symptom(got, want) == found


def test_the_number_of_outputs_comes_first() -> None:
    difference = differential.compare([f32(1)], [f32(9), f32(9)])
    assert difference and difference.symptom == "wrong:count" and difference.detail == "1 outputs instead of 2"


@pytest.mark.parametrize(
    ("got", "want", "found"),
    [
        (f32(np.nan, 1), f32(np.nan, 1), ""),
        (f32(np.nan, 1), f32(1, np.nan), "wrong:nan"),
        (f32(np.nan), f32(np.inf), "wrong:nan"),
        (f32(np.inf), f32(np.inf), ""),
        (f32(np.inf), f32(-np.inf), "wrong:inf"),
        (f32(np.inf), f32(3e38), "wrong:inf"),
        (np.array([complex(np.nan, 1)]), np.array([complex(1, np.nan)]), ""),
        (np.array([complex(np.nan, 1)]), np.array([1 + 1j]), "wrong:nan"),
    ],
)
def test_nan_and_infinity_are_compared_by_position(got: Value, want: Value, found: str) -> None:
    assert symptom(got, want) == found


@pytest.mark.parametrize(
    ("got", "want", "agree"),
    [
        (f32(1.0), f32(1.0019), True),
        (f32(1.0), f32(1.0025), False),
        (f32(0.0), f32(0.0009), True),
        (f32(0.0), f32(0.0011), False),
        (f32(10000.0), f32(10009.0), True),
        (f32(10000.0), f32(10012.0), False),
        (f32(-0.0), f32(0.0), True),
        (np.array([1e300]), np.array([-1e300]), False),
        (np.array([1 + 1j]), np.array([1 + 1.0001j]), True),
        (np.array([1 + 1j]), np.array([1 - 1j]), False),
        (np.float16([1.0]), np.float16([1.005]), True),
        (np.float16([1.0]), np.float16([1.05]), False),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.0078125], ml_dtypes.bfloat16), True),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.5], ml_dtypes.bfloat16), False),
        (np.array([1.0], ml_dtypes.float8_e4m3fn), np.array([1.125], ml_dtypes.float8_e4m3fn), True),
        (np.array([1.0], ml_dtypes.float8_e4m3fn), np.array([2.0], ml_dtypes.float8_e4m3fn), False),
        (np.array([0.5], ml_dtypes.float8_e5m2fnuz), np.array([1.0], ml_dtypes.float8_e5m2fnuz), False),
        (np.array([1.0], ml_dtypes.float8_e5m2), np.array([1.25], ml_dtypes.float8_e5m2), True),
        (np.array([0.0], ml_dtypes.float8_e4m3fn), np.array([2.0**-9], ml_dtypes.float8_e4m3fn), True),
        (np.array([0.0], ml_dtypes.float4_e2m1fn), np.array([0.5], ml_dtypes.float4_e2m1fn), True),
        (np.array([0.0], ml_dtypes.float4_e2m1fn), np.array([2.0], ml_dtypes.float4_e2m1fn), False),
    ],
)
def test_floating_point_has_absolute_and_relative_room_by_dtype(got: Any, want: Any, agree: bool) -> None:
    assert (symptom(got, want) == "") is agree


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.array([1000000, 5]), np.array([1000001, 5])),
        (np.array([True]), np.array([False])),
        (np.array(["a"], dtype=object), np.array(["A"], dtype=object)),
        (np.array([2**63], np.uint64), np.array([2**63 + 1], np.uint64)),
        (np.array([1], ml_dtypes.int4), np.array([2], ml_dtypes.int4)),
        (Raw("bfloat16", (1,), b"ab"), Raw("bfloat16", (1,), b"ac")),
    ],
)
def test_what_is_not_floating_point_is_compared_exactly(got: Value, want: Value) -> None:
    assert symptom(got, want) == "wrong:values"
    assert symptom(got, got) == symptom(want, want) == ""


def test_the_sentence_names_a_place_that_really_differs() -> None:
    """The largest distance may lie at a large value, within its relative room; that is not the place."""
    difference = differential.compare([f32(1e6, 1.0).reshape(2, 1)], [f32(1e6 + 500, 1.5).reshape(2, 1)])
    assert difference is not None
    assert "1 of 2 elements differ" in difference.detail
    assert "at [1, 0]: 1 instead of 1.5" in difference.detail
    assert difference.distance == 0.5


def test_a_difference_inside_a_sequence_is_found() -> None:
    difference = differential.compare([f32(1), [f32(1), f32(2)]], [f32(1), [f32(1), f32(3)]])
    assert difference and (difference.output, difference.symptom) == (1, "wrong:values")
    assert difference.detail.startswith("in the sequence: ")


def test_differing_outputs_are_told_by_the_references_names() -> None:
    got = [("a", f32(1)), ("b2", f32(2)), ("c", f32(3))]
    want = [("a", f32(1)), ("b", f32(9)), ("c", f32(3))]
    assert differential.differing(got, want) == {"b"}
    assert differential.differing(got[:1], want) == {"a", "b", "c"}


def near(*values: float, dtype: type = np.float32) -> np.ndarray:
    """A thousand ones that begin with `values`."""
    return np.array([*values, *[1] * (1000 - len(values))], dtype=dtype)


@pytest.mark.parametrize(
    ("got", "want", "found"),
    [
        (near(9), near(1), ""),  # one in a thousand
        (near(9, 9), near(1, 1), "wrong:values"),
        (near(np.nan, 9), near(1, 1), "wrong:nan"),
        (near(np.inf, 9), near(1, 1), "wrong:inf"),
        (near(np.nan, np.inf), near(np.nan, np.inf), ""),
        (f32(1.0009), f32(1), ""),
        (f32(1.002), f32(1), "wrong:values"),
        (f32(2e-6), f32(1e-6), "wrong:values"),  # no absolute term
        (f32(1e-6), f32(0), "wrong:values"),
        (f32(3e38), f32(np.inf), "wrong:inf"),
        (np.array([10001]), np.array([10000]), ""),
        (np.array([11]), np.array([10]), "wrong:values"),
        (np.array([True]), np.array([False]), "wrong:values"),
        (np.zeros((0, 3)), np.zeros((0, 3)), ""),
        (np.zeros((0, 3)), np.zeros((3, 0)), "wrong:shape"),
        ([f32(1)], [f32(1.002)], "wrong:values"),
    ],
)
def test_the_ratio_of_elements_with_a_small_relative_error(got: Value, want: Value, found: str) -> None:
    difference = differential.compare([got], [want], "ratio")
    assert (difference.symptom if difference else "") == found
    assert bool(differential.differing([("y", got)], [("y", want)], "ratio")) == bool(found)
