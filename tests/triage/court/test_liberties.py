"""Traps and planted bugs that lie next to each other: what a compiler may do, and what it may not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court

LIBERTIES = str(Path(__file__).with_name("liberties.py"))
FAULTY = str(data_path("calibration", "faulty.py"))
NAN = np.nan
#: So little that no other compiler is asked: here the case itself must tell.
SECONDS = 5.0


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Court(runner, catalogue.target("reference"), SECONDS)


def case_of(
    nodes: list[tuple[Any, ...]], inputs: dict[str, Any], shape: list[int], output: int = TensorProto.FLOAT, **more: Any
) -> Case:
    """A model whose last node gives ``z``; `more` are constants, and ``opset``."""
    opset = more.pop("opset", 20)
    made = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    known = [numpy_helper.from_array(np.asarray(value), name) for name, value in more.items()]
    out = [helper.make_tensor_value_info("z", output, shape)]
    model = helper.make_model(
        helper.make_graph(made, "g", infos, out, known), opset_imports=[helper.make_opsetid("", opset)], ir_version=9
    )
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def single(*values: float) -> dict[str, Any]:
    return {"x": np.float32(values)}


def int32(values: Any) -> Any:
    return np.array(values, np.int32)


F = np.float32
_IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
_LONG = np.random.default_rng(5).uniform(0, 1, (1, 3000)).astype(np.float16)
#: By liberty: the case, and what the court must say.
TRAPS: dict[str, tuple[Case, Ruling]] = {
    "sigmoid_by_tanh": (
        case_of([("Sigmoid", ["x"], ["a"]), ("Log", ["a"], ["z"])], single(-50, 1), [2]),
        Ruling.NOISE,
    ),
    "softplus_by_log": (
        case_of([("Softplus", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])], single(-25, 1), [2]),
        Ruling.NOISE,
    ),
    "logarithm_of_a_sum": (case_of([("ReduceLogSumExp", ["x"], ["z"])], single(1000, 999), [1]), Ruling.NOISE),
    "scaled_first": (
        case_of([("LayerNormalization", ["x", "s"], ["z"])], {"x": F([[1e30, -1e30, 3e30, 0]])}, [1, 4], s=F([1] * 4)),
        Ruling.NOISE,
    ),
    "shares_added": (
        case_of([("Mean", ["x", "y"], ["z"])], {"x": F([3e38, 1]), "y": F([3e38, 2])}, [2]),
        Ruling.NOISE,
    ),
    "elu_by_exp": (
        case_of([("Elu", ["x"], ["a"]), ("Div", ["a", "x"], ["z"])], single(-1e-6, -0.5), [2]),
        Ruling.NOISE,
    ),
    "sinh_by_exp": (
        case_of([("Sinh", ["x"], ["a"]), ("Div", ["a", "x"], ["z"])], single(1e-5, 0.5), [2]),
        Ruling.NOISE,
    ),
    "zero_less_x": (case_of([("Neg", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])], single(0, 2), [2]), Ruling.NOISE),
    "mod_by_quotient": (
        case_of([("Mod", ["x", "y"], ["z"], {"fmod": 1})], single(1, 0.9), [2], y=F([0.1, 0.3])),
        Ruling.NOISE,
    ),
    "scaled_norm": (case_of([("ReduceL2", ["x"], ["z"])], single(1e20, 2e20), [1]), Ruling.NOISE),
    "product_by_halves": (
        case_of([("ReduceProd", ["x"], ["z"])], single(1e30, 1e-30, 1e-30, 1e-30, 1e30, 1e30, 1e-30, 1e30), [1]),
        Ruling.NOISE,
    ),
    "running_product_by_halves": (
        case_of([("CumProd", ["x", "n"], ["z"])], single(1e-30, 1e-20, 1e30, 1e30), [4], n=np.int64(0), opset=26),
        Ruling.NOISE,
    ),
    "sliding_squares": (
        case_of([("LRN", ["x"], ["z"], {"size": 1})], {"x": np.full((2, 2, 1, 1), 1e20, np.float32)}, [2, 2, 1, 1]),
        Ruling.NOISE,
    ),
    "normalised_by_a_scaled_norm": (
        case_of([("LpNormalization", ["x"], ["z"])], {"x": F([[1e-25, 2e-25, 0], [3, 4, 0]])}, [2, 3]),
        Ruling.NOISE,
    ),
    "divided_first": (
        case_of(
            [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z"])],
            {"x": F([[3e38, 3], [2, 3]])},
            [2, 2],
            s=F([1e10, 1]),
            b=F([0, 0]),
            m=F([0, 0]),
            v=F([1e30, 1]),
        ),
        Ruling.NOISE,
    ),
    "root_by_a_power": (
        case_of(
            [("Mul", ["x", "x"], ["a"]), ("Sqrt", ["a"], ["b"]), ("Div", ["x", "b"], ["c"]), ("Hardmax", ["c"], ["z"])],
            {"x": F([[2.9392645, 2.893437, 2.690593], [1, 2, 3]])},
            [2, 3],
        ),
        Ruling.NOISE,
    ),
    "window_a_little_smaller": (
        case_of(
            [("BlackmanWindow", ["n"], ["a"], {"periodic": 0}), ("OneHot", ["a", "d", "x"], ["z"])],
            single(1, 2),
            [7, 2],
            n=np.int64(7),
            d=np.int64(2),
        ),
        Ruling.NOISE,
    ),
    "normalised_in_float32": (
        case_of(
            [("LayerNormalization", ["x", "c"], ["a"]), ("Cast", ["a"], ["z"], {"to": TensorProto.DOUBLE})],
            {"x": np.float16([0.7, 0.6])},
            [2],
            TensorProto.DOUBLE,
            c=np.float16([1, 2]),
            opset=25,
        ),
        Ruling.REFERENCE_BUG,
    ),
    "softmax_by_the_words": (
        case_of([("Softmax", ["x"], ["z"])], {"x": F([[np.inf, 1, 2], [1, 2, 3]])}, [2, 3]),
        Ruling.UNDEFINED,
    ),
    "softmax_in_half": (
        case_of(
            [("Softmax", ["x"], ["a"]), ("Mul", ["a", "c"], ["z"])],
            {"x": _LONG},
            [1, 3000],
            TensorProto.FLOAT16,
            c=np.float16(20000),
        ),
        Ruling.NOISE,
    ),
    "nearest_half_up": (
        case_of(
            [("GridSample", ["x", "g"], ["z"], {"mode": "nearest", "padding_mode": "border"})],
            {"x": _IMAGE, "g": F([[[[0, 0.5], [0.1, 0.1]]]])},
            [1, 1, 1, 2],
        ),
        Ruling.NOISE,
    ),
    "folded": (
        case_of(
            [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z"], {"epsilon": 0.0})],
            {"x": F([[1, 3], [2, 3]])},
            [2, 2],
            s=F([1, 1]),
            b=F([0, 0]),
            m=F([1, 1]),
            v=F([0, 1]),
        ),
        Ruling.NOISE,
    ),
    "added_backwards": (
        case_of(
            [("ScatterElements", ["x", "i", "u"], ["z"], {"reduction": "add"})],
            {"x": F([0, 0]), "i": np.zeros(4, np.int64), "u": F([3e7, 1.2, -3e7, 0.7])},
            [2],
        ),
        Ruling.NOISE,
    ),
    "saturated": (
        case_of(
            [("MatMul", ["x", "y"], ["z"])], {"x": int32([[2**30, 3]])}, [1, 1], TensorProto.INT32, y=int32([[4], [1]])
        ),
        Ruling.UNDEFINED,
    ),
    "mean_of_wide_sum": (
        case_of([("ReduceMean", ["x"], ["z"])], {"x": int32([2**31 - 1] * 2)}, [1], TensorProto.INT32),
        Ruling.UNDEFINED,
    ),
    "sign_of_nan_is_zero": (case_of([("Sign", ["x"], ["z"])], single(NAN, 2), [2]), Ruling.UNDEFINED),
    "lower_bound_wins": (
        case_of([("Clip", ["x", "l", "h"], ["z"])], single(1, 9), [2], l=F(6), h=F(3), opset=12),
        Ruling.UNDEFINED,
    ),
    "mirrored_once": (
        case_of([("Pad", ["x", "p"], ["z"], {"mode": "reflect"})], single(1, 2, 4), [9], p=np.array([1, 5])),
        Ruling.UNDEFINED,
    ),
    "eight_digits": (
        case_of([("Cast", ["x"], ["z"], {"to": TensorProto.STRING})], single(3.14, 1), [2], TensorProto.STRING),
        Ruling.UNDEFINED,
    ),
    "half_away_from_zero": (
        case_of([("Cast", ["x"], ["z"], {"to": TensorProto.UINT4})], single(0.7, 2), [2], TensorProto.UINT4, opset=25),
        Ruling.UNDEFINED,
    ),
}
#: Operators that a trap is about, on ordinary numbers, with their last element wrong by three thousandths.
BUGS: dict[str, Case] = {
    "Sigmoid": case_of([("Sigmoid", ["x"], ["z"])], single(-1, 1), [2]),
    "ReduceProd": case_of([("ReduceProd", ["x"], ["z"])], single(1e30, 1e-30, 3, 1e7, 1e-7), [1]),
    "ReduceProd beyond the range": case_of([("ReduceProd", ["x"], ["z"])], single(1e-30, 1e-5, 2, 1e-2), [1]),
    "LpNormalization": case_of([("LpNormalization", ["x"], ["z"])], {"x": F([[1e-25, 2e-25], [3, 4]])}, [2, 2]),
    "Softmax": case_of([("Softmax", ["x"], ["z"])], {"x": F([[np.inf, 1, 2], [1, 2, 3]])}, [2, 3]),
    "Elu": case_of([("Elu", ["x"], ["z"])], single(NAN, -0.5), [2]),
    "ReduceLogSumExp": case_of([("ReduceLogSumExp", ["x"], ["z"])], single(50, 49), [1]),
    "LayerNormalization": case_of(
        [("LayerNormalization", ["x", "s"], ["z"])], {"x": F([[1e9, -1e9, 3e9, 0]])}, [1, 4], s=F([1] * 4)
    ),
    "Pow": case_of([("Pow", ["x", "c"], ["z"])], single(-1.5, -2.25), [2], c=F(3)),
    "Gelu": case_of([("Gelu", ["x"], ["z"], {"approximate": "tanh"})], single(-3, -0.75), [2]),
    "Acos": case_of([("Acos", ["x"], ["z"])], single(1, 0.5), [2]),
    "Reciprocal": case_of([("ReduceSum", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])], single(0.1, 0.3), [1]),
    "GridSample": case_of(
        [("GridSample", ["x", "g"], ["z"])], {"x": _IMAGE, "g": F([[[[0, 0.5], [0.1, 0.1]]]])}, [1, 1, 1, 2]
    ),
    "Sign": case_of([("Sign", ["x"], ["z"])], single(NAN, 2), [2]),
    "Clip": case_of([("Clip", ["x", "l", "h"], ["z"])], single(1, 9), [2], l=F(3), h=F(6), opset=12),
    "Pad": case_of(
        [("Pad", ["x", "p"], ["z"], {"mode": "reflect"})], single(1, 2, 4), [6], p=np.array([1, 2]), opset=17
    ),
}


def heard(court: Court, case: Case, backend: str, **options: str) -> Judgement:
    return court.hear(case, catalogue.target(backend, options))


@pytest.mark.parametrize("how", TRAPS)
def test_what_a_compiler_may_do_is_no_bug(court: Court, how: str) -> None:
    case, ruling = TRAPS[how]
    found = heard(court, case, LIBERTIES, how=how)
    assert found.verdict is ruling, found.reason


@pytest.mark.parametrize("operator", BUGS)
def test_what_no_liberty_explains_is_a_bug(court: Court, operator: str) -> None:
    found = heard(court, BUGS[operator], FAULTY, fault="one_element")
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
