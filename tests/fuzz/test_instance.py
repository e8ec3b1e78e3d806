"""Operator instances: parsing, drawing and the canonical form (docs/instances.md)."""

from __future__ import annotations

import builtins
import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fuzz import instance as instances
from fuzz.instance import InstanceError, canonical, parse, tensors
from fuzz.instance_values import integer_limits
from fuzz.wire import Raw


def instance(**keys: Any) -> instances.Instance:
    return parse(json.dumps({"api": "torch.relu", **keys}))


def drawn(**tensor: Any) -> np.ndarray:
    (value,) = tensors(instance(tensors=[tensor]))
    assert isinstance(value, np.ndarray)
    return value


def test_missing_arguments_are_empty() -> None:
    found = instance()
    assert (found.args, found.kwargs, found.tensors, found.init) == ((), {}, (), None)


def test_an_inline_tensor_is_moved_behind_the_listed_ones() -> None:
    found = instance(args=[{"dtype": "int8", "shape": [2]}, {"tensor": 0}], tensors=[{"dtype": "bool", "shape": []}])
    assert found.args == ({"tensor": 1}, {"tensor": 0})
    assert [tensor.dtype for tensor in found.tensors] == ["bool", "int8"]


def test_an_inline_tensor_may_stand_inside_a_list() -> None:
    assert instance(args=[[{"dtype": "int8", "values": [1, 2]}]]).args == ([{"tensor": 0}],)


def test_the_aliases_of_pytorch_are_understood() -> None:
    found = instance(args=[{"dtype": "torch.half"}], tensors=[{"dtype": "torch.long", "shape": [1]}])
    assert found.args == ({"dtype": "float16"},)
    assert found.tensors[0].dtype == "int64"


def test_values_may_be_flat_or_nested() -> None:
    flat = drawn(dtype="int32", shape=[2, 2], values=[1, 2, 3, 4])
    np.testing.assert_array_equal(flat, drawn(dtype="int32", shape=[2, 2], values=[[1, 2], [3, 4]]))


def test_the_shape_of_nested_values_may_be_left_out() -> None:
    assert drawn(dtype="int32", values=[[1, 2, 3]]).shape == (1, 3)


def test_a_bare_scalar_is_a_zero_dimensional_tensor() -> None:
    value = drawn(dtype="float32", shape=[], values=2.5)
    assert value.shape == () and value == 2.5


def test_an_empty_tensor_keeps_its_shape() -> None:
    assert drawn(dtype="float32", shape=[0, 3]).shape == (0, 3)
    assert drawn(dtype="int64", shape=[2, 0], values=[[], []]).shape == (2, 0)


def test_infinities_nan_and_complex_values_have_spellings() -> None:
    value = drawn(dtype="complex64", shape=[3], values=[{"complex": [1, -2]}, "inf", {"float": "nan"}])
    assert value[0] == 1 - 2j and np.isinf(value[1]) and np.isnan(value[2])


def test_the_largest_uint64_is_not_rounded() -> None:
    assert int(drawn(dtype="uint64", shape=[1], values=[2**64 - 1])[0]) == 2**64 - 1


def test_the_same_seed_gives_the_same_values() -> None:
    first, second = (drawn(dtype="float32", shape=[5], seed=7) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, drawn(dtype="float32", shape=[5], seed=8))


def test_seeded_floats_are_what_the_documentation_says() -> None:
    expected = np.random.default_rng(3).standard_normal((2, 3)).round(3).astype(np.float32)
    np.testing.assert_array_equal(drawn(dtype="float32", shape=[2, 3], seed=3), expected)
    uniform = np.random.default_rng(3).uniform(0.5, 2.0, (4,)).round(3)
    np.testing.assert_array_equal(drawn(dtype="float64", shape=[4], seed=3, low=0.5, high=2.0), uniform)


def test_seeded_integers_are_what_the_documentation_says() -> None:
    expected = np.random.default_rng(1).integers(-5, 6, (40,)).astype(np.int16)
    np.testing.assert_array_equal(drawn(dtype="int16", shape=[40], seed=1), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "uint4", "uint64", "int2"])
def test_seeded_integers_stay_within_their_dtype(dtype: str) -> None:
    values = drawn(dtype=dtype, shape=[200], low=-(10**6), high=10**6).astype(np.int64)
    low, high = integer_limits(dtype) or (0, 0)
    assert low <= values.min() < values.max() <= high


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4"])
def test_small_dtypes_come_as_ml_dtypes(dtype: str) -> None:
    assert drawn(dtype=dtype, shape=[2, 2]).dtype == np.dtype(getattr(ml_dtypes, dtype))


def test_bfloat16_without_ml_dtypes_is_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = instance(tensors=[{"dtype": "bfloat16", "shape": [50, 20], "seed": 4}])
    (expected,) = tensors(found)
    hide(monkeypatch, "ml_dtypes")
    (raw,) = tensors(found)
    assert isinstance(raw, Raw) and isinstance(expected, np.ndarray)
    assert raw == Raw("bfloat16", (50, 20), expected.tobytes())


def test_float8_without_ml_dtypes_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "ml_dtypes")
    with pytest.raises(InstanceError, match="float8_e5m2 values need the package ml_dtypes"):
        drawn(dtype="float8_e5m2", shape=[1])


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)


UGLY = [
    ("[1", "not JSON"),
    ("[]", "must be a JSON object, got list"),
    ('{"api": 3}', "api must be a dotted name"),
    ('{"api": "torch.relu; import os"}', "api must be a dotted name"),
    ('{"api": "torch.relu", "code": "x"}', "unknown key 'code'"),
    ('{"api": "x", "library": "jax"}', "library 'jax' is not known"),
    ('{"api": "x", "args": [{"dict": [1]}]}', r"args\[0\]: dict must have its arguments in an object"),
    ('{"api": "x", "args": [{"object": {"kwargs": {}}}]}', "the object's api must be a dotted name"),
    ('{"api": "x", "args": [{"object": {"api": "x", "module": "os"}}]}', "unknown key 'module'"),
    ('{"api": "x", "args": {"a": 1}}', "args must be a list"),
    ('{"api": "x", "args": [{"tensor": 0}]}', r"args\[0\]: there is no tensor 0"),
    (
        '{"api": "x", "args": [{"tensor": true}], "tensors": [{"dtype": "bool", "shape": []}]}',
        "there is no tensor True",
    ),
    ('{"api": "x", "args": [{"eval": "1"}]}', "unknown object {'eval'"),
    ('{"api": "x", "args": [{"a": 1, "b": 2}]}', "an object must have one key"),
    ('{"api": "x", "args": [{"float": "1"}]}', "must be one of inf"),
    ('{"api": "x", "args": [{"slice": [1, 2]}]}', r"must be \[start, stop, step\]"),
    ('{"api": "x", "args": [{"device": "cuda"}]}', "device must be 'cpu'"),
    ('{"api": "x", "args": [' + "[" * 40 + "]" * 40 + "]}", "nested deeper than"),
    ("[" * 100_000, "not JSON|must be a JSON object"),
    ('{"api": "x", "tensors": [{"dtype": "float33", "shape": [1]}]}', "dtype 'float33' is not known"),
    ('{"api": "x", "tensors": [{"dtype": "float32", "shape": [-1]}]}', "sizes of 0 or more"),
    ('{"api": "x", "tensors": [{"dtype": "float32"}]}', "shape must be a list"),
    ('{"api": "x", "tensors": [{"dtype": "float32", "shape": [100000, 100000]}]}', r"more than 2\*\*28 elements"),
    ('{"api": "x", "tensors": [{"dtype": "float32", "shape": [3], "values": [1, 2]}]}', "2 values for shape"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [2, 2], "values": [[1, 2, 3], [4]]}]}', "not nested like"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [1], "values": [200]}]}', "200 does not fit int8"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [1], "values": [1.5]}]}', "1.5 does not fit int8"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [1], "values": ["nan"]}]}', "nan does not fit int8"),
    ('{"api": "x", "tensors": [{"dtype": "bool", "shape": [1], "values": [2]}]}', "2 is not a bool"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [1], "low": 9, "high": 9}]}', "no int8 lies in"),
    ('{"api": "x", "tensors": [{"dtype": "int8", "shape": [1], "seed": -1}]}', "seed must be an integer"),
]


@pytest.mark.parametrize(("text", "message"), UGLY)
def test_bad_input_is_answered_by_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(InstanceError, match=message) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_the_canonical_form_is_stable_under_parsing() -> None:
    found = parse(
        json.dumps(
            {
                "api": "torch.nn.Conv2d",
                "init": {"args": [3, {"tuple": [1, None]}], "kwargs": {"x": float("inf")}},
                "args": [{"dtype": "half", "shape": [2], "values": ["nan", 1]}, {"complex": [0, 1]}],
                "tensors": [{"dtype": "int64", "shape": [3], "low": 0, "constant": True}],
            }
        )
    )
    assert canonical(parse(canonical(found))) == canonical(found)
    assert parse(canonical(found)).tensors[0] == found.tensors[0]


def test_the_canonical_form_does_not_depend_on_spelling() -> None:
    one = parse('{"api": "torch.relu", "args": [{"dtype": "long", "shape": [2, 1], "values": [[1], [2]], "seed": 9}]}')
    other = parse(
        '{"tensors": [{"shape": [2, 1], "values": [1, 2.0], "dtype": "int64"}], "comment": "same",'
        ' "kwargs": {}, "args": [{"tensor": 0}], "api": "torch.relu", "library": "torch"}'
    )
    assert canonical(one) == canonical(other)


def test_the_canonical_form_tells_different_instances_apart() -> None:
    seeds = {canonical(instance(tensors=[{"dtype": "int8", "shape": [1], "seed": seed}])) for seed in range(3)}
    assert len(seeds) == 3


def test_many_values_are_written_as_bytes_and_read_back() -> None:
    values = [round(0.01 * at, 2) for at in range(65)]
    found = instance(args=[{"dtype": "float16", "values": values}])
    entry = json.loads(canonical(found))["tensors"][0]
    assert list(entry["data"]) == ["float16"] and "values" not in entry
    again = parse(canonical(found))
    assert canonical(again) == canonical(found)
    np.testing.assert_array_equal(tensors(again)[0], np.array(values, np.float16))


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "bfloat16", "float8_e4m3fn", "complex64", "float64", "int4"]
)
def test_bytes_hold_every_dtype(dtype: str) -> None:
    drawn_once = tensors(instance(tensors=[{"dtype": dtype, "shape": [70], "low": 0, "high": 2}]))[0]
    assert isinstance(drawn_once, np.ndarray)
    wide = drawn_once.astype(np.complex64 if dtype == "complex64" else np.float64).ravel().tolist()
    given = [{"complex": [v.real, v.imag]} if isinstance(v, complex) else v for v in wide]
    kept = parse(canonical(instance(tensors=[{"dtype": dtype, "shape": [70], "values": given}])))
    np.testing.assert_array_equal(tensors(kept)[0], drawn_once)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"data": {"float32": "AAAA"}}, "data of 3 bytes is not a whole number of float32"),
        ({"data": {"float32": "AAAAAA=="}, "values": [0]}, "both 'values' and 'data'"),
        ({"data": {"float32": "%%"}}, "data is not base64"),
        ({"data": {"object": ""}}, "data cannot be in 'object'"),
        ({"data": "AAAA"}, "data must be"),
        ({"data": {"float32": "AACAPwAAgD8="}}, "2 values for shape"),
    ],
)
def test_bytes_that_do_not_fit_are_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        instance(tensors=[{"dtype": "float32", "shape": [1], **entry}])


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(InstanceError, match="surrogate"):
        parse('{"api": "torch.relu", "args": ["\\ud800"]}')


def test_a_line_of_a_file_of_instances_is_an_instance() -> None:
    plain = '{"api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]}'
    line = plain[:-1] + ', "id": "0123456789abcdef", "source": {"kind": "docs", "test": "t"}, "flags": []}'
    assert canonical(parse(line)) == canonical(parse(plain))
