"""The evaluation in float64 and under noise: exact where arithmetic is, wide where it decides nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import fuzz.backends
from fuzz import catalogue, registry
from fuzz.case import Case, Origin, Outcome, Status
from fuzz.limits import Limits
from fuzz.runner import Runner

WIDENED = str(Path(fuzz.backends.__file__).with_name("_widened.py"))
Arrays = dict[str, np.ndarray]
ONE = np.array(1, np.float32)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def run(runner: Runner, nodes: Sequence[tuple[Any, ...]], inputs: Arrays, constants: Arrays | None = None) -> Outcome:
    made = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    known = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    out = [helper.make_empty_tensor_value_info("z")]
    graph = helper.make_graph(made, "g", infos, out, known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return runner.run(Case("onnx", model.SerializeToString(), inputs, Origin("test")), catalogue.target(WIDENED))


def noise(runner: Runner, nodes: Sequence[tuple[Any, ...]], inputs: Arrays, constants: Arrays | None = None) -> Any:
    found = run(runner, nodes, inputs, constants)
    assert found.status is Status.OK, found.error
    return dict(found.outputs)["noise/0"]


def test_the_evaluation_is_no_compiler_that_a_user_sees() -> None:
    assert not [name for name in registry.names() if name.startswith("_")]


def test_a_plain_sum_has_the_noise_of_its_rounding(runner: Runner) -> None:
    x, y = np.float32([0.1, 1.0]), np.float32([0.3, 2.0])
    found = noise(runner, [("Add", ["x", "y"], ["z"])], {"x": x, "y": y})
    assert 0 < found[0] < 1e-6
    assert found[1] == 0  # 1 + 2 is exact in every arithmetic


def test_cancellation_makes_noise_of_the_size_of_what_was_lost(runner: Runner) -> None:
    nodes = [("Add", ["x", "c"], ["a"]), ("Sub", ["a", "c"], ["z"])]
    assert noise(runner, nodes, {"x": np.float32([0.1])}, {"c": np.float32(1e8)})[0] > 1


def test_a_tie_that_rounding_makes_is_open_and_one_that_it_does_not_touch_is_not(runner: Runner) -> None:
    ties = [("Div", ["x", "c"], ["a"]), ("Floor", ["a"], ["z"])]
    tenths = np.float32([0.3, 0.25])
    assert (noise(runner, ties, {"x": tenths}, {"c": np.float32(0.1)}) > 0.5).tolist() == [True, False]
    assert noise(runner, [("Floor", ["x"], ["z"])], {"x": np.float32([2.0, 3.0])}).tolist() == [0, 0]


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_equal_values_may_come_in_any_order(runner: Runner, operator: str) -> None:
    x = np.float32([[1, 1, 1], [1, 2, 3]])
    found = noise(runner, [(operator, ["x"], ["z"], {"axis": 1})], {"x": x})
    assert np.isinf(found[0, 0]) and found[1, 0] == 0


def test_a_whole_number_that_rounding_moves_may_be_its_neighbour_and_no_other(runner: Runner) -> None:
    nodes = [("Div", ["x", "c"], ["a"]), ("Cast", ["a"], ["z"], {"to": TensorProto.INT64})]
    found = noise(runner, nodes, {"x": np.float32([0.3, 0.25])}, {"c": np.float32(0.1)})
    assert found.tolist() == [1, 0]


HALVES = np.float32([0.5, 1.5, -2.5, 0.7])


@pytest.mark.parametrize(
    ("scale", "open_"),
    [
        (np.float32(1), [False] * 4),
        (np.float32(0.25), [False] * 4),
        (np.float32(0.3), [True, True, True, False]),  # 0.3 is no number of float32: halves by luck
        (np.float32([1, 0.3, 0.3, 1]), [False, True, True, False]),
    ],
    ids=["one", "a quarter", "0.3", "by axis"],
)
def test_halves_are_rounded_to_even_where_the_scale_is_a_power_of_two(
    runner: Runner, scale: np.ndarray, open_: list[bool]
) -> None:
    x = (HALVES.astype("f8") * scale).astype("f")
    nodes = [("QuantizeLinear", ["x", "s", "p"], ["z"], {"axis": 0})]
    constants = {"s": scale, "p": np.zeros(scale.shape, np.int8)}
    found = noise(runner, nodes, {"x": x}, constants)
    assert (found > 0).tolist() == open_


def test_rounding_decides_how_many_elements_a_range_has(runner: Runner) -> None:
    def resized(limit: float) -> list[int]:
        inputs = {"b": np.float32(0), "l": np.float32(limit), "d": np.float32(0.1)}
        found = dict(run(runner, [("Range", ["b", "l", "d"], ["z"])], inputs).outputs)
        return list(json.loads(found["said"].item())["resized"])

    assert resized(0.3) == [0] and resized(0.35) == []


def test_a_range_of_whole_steps_has_as_many_elements_as_steps(runner: Runner) -> None:
    inputs = {"b": np.float32(0), "l": np.float32(10), "d": np.float32(1)}
    found = dict(run(runner, [("Range", ["b", "l", "d"], ["z"])], inputs).outputs)
    assert json.loads(found["said"].item())["resized"] == [] and not found["noise/0"].any()


def test_boxes_of_equal_score_may_come_in_any_order_and_others_not(runner: Runner) -> None:
    boxes = np.float32([[[0, at, 1, at + 1] for at in (0, 2, 4)]])

    def open_(scores: list[float]) -> bool:
        inputs = {"b": boxes, "s": np.float32([[scores]])}
        limits = {"k": np.array([3]), "t": np.float32([0.5]), "m": np.float32([0])}
        found = noise(runner, [("NonMaxSuppression", ["b", "s", *limits], ["z"])], inputs, limits)
        return bool(found.any())

    assert open_([0.5, 0.5, 0.2]) and not open_([0.6, 0.5, 0.2])


def test_an_overlap_of_exactly_the_threshold_is_decided(runner: Runner) -> None:
    """ "boxes with IOU exactly equal to the threshold are kept" """
    inputs = {"b": np.float32([[[0, 0, 1, 2], [0, 0, 1, 1]]]), "s": np.float32([[[0.6, 0.5]]])}
    limits = {"k": np.array([3]), "t": np.float32([0.5]), "m": np.float32([0])}
    found = dict(run(runner, [("NonMaxSuppression", ["b", "s", *limits], ["z"])], inputs, limits).outputs)
    assert json.loads(found["said"].item())["resized"] == [] and not found["noise/0"].any()


@pytest.mark.parametrize("operator", ["Relu", "Ceil", "Round", "Max", "Neg"])
def test_of_two_zeros_an_operator_may_give_either(runner: Runner, operator: str) -> None:
    given = ["x", "y"] if operator == "Max" else ["x"]
    inputs = {"x": np.float32([-0.0, 2.0]), **({"y": np.float32([0.0, 1.0])} if operator == "Max" else {})}
    found = noise(runner, [(operator, given, ["a"]), ("Reciprocal", ["a"], ["z"])], inputs)
    assert np.isinf(found[0]) and found[1] < 1e-3
    still = noise(runner, [("Identity", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])], {"x": np.float32([-0.0, 2.0])})
    assert still[0] == 0  # a copy of a zero keeps its sign


def test_the_determinant_of_an_ill_conditioned_matrix_is_noise(runner: Runner) -> None:
    hilbert = np.float32([[1 / (row + column + 1) for column in range(7)] for row in range(7)])
    found = dict(run(runner, [("Det", ["x"], ["z"])], {"x": hilbert}).outputs)
    assert found["noise/0"] > abs(found["wide/0"])
    plain = dict(run(runner, [("Det", ["x"], ["z"])], {"x": np.float32([[3, 1], [1, 2]])}).outputs)
    assert plain["noise/0"] < 1e-4


def test_a_shape_that_rounding_decides_and_later_nodes_cannot_take_is_no_failure_of_the_evaluation(
    runner: Runner,
) -> None:
    inputs = {"b": np.float32(0), "l": np.float32(0.3), "d": np.float32(0.1)}
    alone = dict(run(runner, [("Range", [*inputs], ["z"])], inputs).outputs)["wide/0"]
    nodes = [("Range", [*inputs], ["a"]), ("Add", ["a", "c"], ["z"])]
    found = run(runner, nodes, inputs, {"c": np.zeros(alone.shape, np.float32)})
    assert found.status is Status.OK, found.error
    assert json.loads(dict(found.outputs)["said"].item())["resized"] == [0]


def test_what_an_operator_picks_from_has_its_own_noise(runner: Runner) -> None:
    nodes = [("Add", ["x", "c"], ["a"]), ("Sub", ["a", "c"], ["b"]), ("ArgMax", ["b"], ["z"])]
    found = dict(run(runner, nodes, {"x": np.float32([0.3, 0.1])}, {"c": np.float32(1e8)}).outputs)
    assert (found["places/z"] > 1).all()
    still = dict(run(runner, [("ArgMax", ["x"], ["z"])], {"x": np.float32([0.3, 0.1])}).outputs)
    assert not still["places/z"].any()


def test_a_branch_that_rounding_chooses_makes_its_result_open(runner: Runner) -> None:
    branches = {
        name: helper.make_graph(
            [helper.make_node(op, ["x"], ["r"])], "b", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, [1])]
        )
        for name, op in (("then_branch", "Exp"), ("else_branch", "Neg"))
    }
    nodes = [
        ("Mul", ["x", "c"], ["a"]),
        ("Less", ["a", "t"], ["l"]),
        ("Squeeze", ["l"], ["s"]),
        ("If", ["s"], ["z"], branches),
    ]
    tight = {"c": np.float32(3), "t": np.float32(0.1) * np.float32(3)}
    assert noise(runner, nodes, {"x": np.float32([0.1])}, tight)[0] > 0.5
    assert noise(runner, nodes, {"x": np.float32([0.1])}, {**tight, "t": np.float32(7)})[0] < 1e-4


def test_overflow_at_the_border_is_open_and_far_from_it_is_not(runner: Runner) -> None:
    found = noise(runner, [("Exp", ["x"], ["z"])], {"x": np.float32([88.722, 80.0, 95.0])})
    assert np.isinf(found[0]) and found[1] < 1e31
    assert found[2] == 0  # infinite, whatever the rounding


def test_a_sum_of_nothing_is_exactly_zero(runner: Runner) -> None:
    nodes = [("ReduceSum", ["x"], ["a"], {"keepdims": 0}), ("Log", ["a"], ["z"])]
    assert noise(runner, nodes, {"x": np.zeros(0, np.float32)}) == 0  # minus infinity, whatever the rounding


def test_subnormal_numbers_may_be_zero(runner: Runner) -> None:
    scale = {"c": np.float32(1e38)}
    assert noise(runner, [("Mul", ["x", "c"], ["z"])], {"x": np.float32([1e-39, 1.0])}, scale)[0] > 0.05


def test_a_model_of_half_precision_has_the_noise_of_half_precision(runner: Runner) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 64)), rng.standard_normal((64, 2))
    product = [("MatMul", ["x", "y"], ["z"])]
    coarse = noise(runner, product, {"x": x.astype("f2"), "y": y.astype("f2")})
    fine = noise(runner, product, {"x": x.astype("f4"), "y": y.astype("f4")})
    assert (coarse > 1000 * fine).all()


def test_a_cast_to_a_narrower_type_keeps_its_meaning(runner: Runner) -> None:
    nodes = [
        ("Cast", ["x"], ["h"], {"to": TensorProto.FLOAT16}),
        ("Cast", ["h"], ["z"], {"to": TensorProto.FLOAT}),
    ]
    x = np.float32([0.1, 1 / 3])
    found = dict(run(runner, nodes, {"x": x}).outputs)
    assert np.array_equal(found["wide/0"], x.astype("f2").astype("f8")) and not found["noise/0"].any()


def test_a_shape_that_rounding_decides_is_told(runner: Runner) -> None:
    nodes = [("Div", ["x", "c"], ["a"]), ("Floor", ["a"], ["b"]), ("Sub", ["b", "t"], ["d"]), ("NonZero", ["d"], ["z"])]
    x = (np.arange(40) * 0.1).astype("f")
    constants = {"c": np.float32(0.1), "t": np.float32(12)}
    found = dict(run(runner, nodes, {"x": x}, constants).outputs)
    assert json.loads(found["said"].item())["resized"] == [0]


def test_the_first_node_that_makes_a_nan_is_told(runner: Runner) -> None:
    nodes = [("Neg", ["x"], ["a"]), ("Sqrt", ["a"], ["b"], {"name": "root"}), ("Exp", ["b"], ["z"])]
    said = json.loads(dict(run(runner, nodes, {"x": np.float32([1.0])}).outputs)["said"].item())
    assert said["first"] == {"NaN": "Sqrt root"}


def test_what_is_no_number_has_no_noise(runner: Runner) -> None:
    found = run(runner, [("SequenceConstruct", ["x"], ["z"])], {"x": np.float32([1.0])})
    assert found.status is Status.OK and dict(found.outputs)["noise/0"] is None


def test_an_instance_is_evaluated_by_its_library_in_float64(runner: Runner) -> None:
    text = (
        b'{"library":"torch","api":"torch.addmm","args":[{"tensor":0},{"tensor":1},{"tensor":2}],"kwargs":{},'
        b'"tensors":[{"dtype":"float32","shape":[2,2],"seed":1},{"dtype":"float32","shape":[2,50],"seed":2},'
        b'{"dtype":"float32","shape":[50,2],"seed":3}]}'
    )
    case = Case("instance", text, {}, Origin("test"))
    found = dict(runner.run(case, catalogue.target(WIDENED)).outputs)
    exact = dict(runner.run(case, catalogue.target("reference")).outputs)
    [native] = exact.values()
    assert found["wide/0"].dtype == np.float64
    error = np.abs(found["wide/0"] - native)
    assert (error <= found["noise/0"]).all() and (found["noise/0"] < 1e-3).all()


def test_an_instance_without_floating_point_has_no_float64_form(runner: Runner) -> None:
    text = (
        b'{"library":"torch","api":"torch.neg","args":[{"tensor":0}],"kwargs":{},'
        b'"tensors":[{"dtype":"int32","shape":[2],"values":[1,2]}]}'
    )
    found = runner.run(Case("instance", text, {}, Origin("test")), catalogue.target(WIDENED))
    assert found.status is Status.EXCEPTION


THIRDS = np.float32([[0.1, 0.7, 0.3], [2.0, 0.0, 0.0]])
SUM: list[tuple[Any, ...]] = [
    ("Softmax", ["x"], ["s"], {"axis": 1}),
    ("ReduceSum", ["s", "n"], ["t"], {"keepdims": 0}),
]


@pytest.mark.parametrize("operator", ["Equal", "GreaterOrEqual", "Less"])
def test_a_comparison_of_what_rounding_makes_equal_is_open(runner: Runner, operator: str) -> None:
    """A sum of Softmax is 1 but for its rounding: no comparison with 1 is decided."""
    found = noise(runner, [*SUM, (operator, ["t", "one"], ["z"])], {"x": THIRDS}, {"n": np.array([1]), "one": ONE})
    assert np.isinf(found).all()


def test_a_step_within_reach_of_rounding_is_open_and_no_other_amount(runner: Runner) -> None:
    nodes = [*SUM, ("Floor", ["t"], ["z"])]
    found = noise(runner, nodes, {"x": THIRDS}, {"n": np.array([1])})
    assert (found >= 1).all() and (found <= 3).all()


STEPS = (("Floor", {}), ("Ceil", {}), ("Cast", {"to": TensorProto.INT32}))
F16 = np.float16


@pytest.mark.parametrize(("step", "how"), STEPS)
def test_a_quotient_by_a_power_of_two_is_exact_and_a_step_behind_it_decided(
    step: str, how: dict[str, int], runner: Runner
) -> None:
    nodes = [("Div", ["x", "y"], ["d"]), (step, ["d"], ["z"], how)]
    x, y = np.float32([6, -6, 3, 0, 5]), np.float32([2, 0.5, 1, 7, -4])
    assert not noise(runner, nodes, {"x": x, "y": y}).any()


@pytest.mark.parametrize(
    ("x", "y"),
    [(9, 3), (49, 49), (2.0**-126, 4), (8, 2.0**127), (1, 2.0**-149)],
    ids=[
        "another divisor",
        "itself",
        "less than normal",
        "a reciprocal less than normal",
        "a divisor less than normal",
    ],
)
def test_a_quotient_that_some_arithmetic_rounds_is_not_exact(x: float, y: float, runner: Runner) -> None:
    assert noise(runner, [("Div", ["x", "y"], ["z"])], {"x": np.float32([x]), "y": np.float32([y])})[0] > 0


@pytest.mark.parametrize("operator", ["ReduceMean", "ReduceSum"])
def test_a_mean_or_sum_of_so_many_small_whole_numbers_as_a_power_of_two_is_exact(operator: str, runner: Runner) -> None:
    nodes = [(operator, ["x", "n"], ["d"], {"keepdims": 0}), ("Floor", ["d"], ["z"])]
    x = np.float32([[2, 4, 2, 4], [1, 2, 3, -2]])
    assert not noise(runner, nodes, {"x": x}, {"n": np.array([1])}).any()


@pytest.mark.parametrize(
    "x",
    [np.float32([2, 4, 3]), np.float32([0.1, 0.1, 0.1, 0.1]), np.float32([2**24, 1, 1, 2]), F16([2047, 1])],
    ids=["of three", "of fractions", "too large", "too large for 16 bits"],
)
def test_other_means_are_rounded(x: np.ndarray, runner: Runner) -> None:
    assert noise(runner, [("ReduceMean", ["x"], ["z"], {"keepdims": 0})], {"x": x}) > 0


def test_a_root_may_be_computed_by_its_reciprocal(runner: Runner) -> None:
    assert noise(runner, [("Sqrt", ["x"], ["d"]), ("Floor", ["d"], ["z"])], {"x": np.float32([9])}) >= 1


def test_a_comparison_of_exact_numbers_is_decided(runner: Runner) -> None:
    x = np.float32([1.0, 2.0, 0.1])
    for operator in ("Equal", "Less", "GreaterOrEqual"):
        assert not noise(runner, [(operator, ["x", "x"], ["z"])], {"x": x}).any()
    apart = [("Exp", ["x"], ["e"]), ("Less", ["e", "x"], ["z"])]  # moved by rounding, but far from equal
    assert not noise(runner, apart, {"x": x}).any()


def test_a_loop_whose_end_rounding_decides_ends(runner: Runner) -> None:
    """The condition of every turn hangs on a computed value that comes near the limit."""
    infos = [
        helper.make_tensor_value_info(name, code, [])
        for name, code in (("i", TensorProto.INT64), ("go", TensorProto.BOOL), ("v", TensorProto.FLOAT))
    ]
    body = helper.make_graph(
        [
            helper.make_node("Div", ["v", "three"], ["w"]),
            helper.make_node("Greater", ["w", "least"], ["on"]),
        ],
        "body",
        infos,
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, []),
        ],
    )
    constants = {"three": np.float32(3), "least": np.float32(1 / 3), "go": np.array(True)}
    found = run(runner, [("Loop", ["", "go", "x"], ["z"], {"body": body})], {"x": np.float32(9)}, constants)
    assert found.status is Status.OK, found.error


def test_how_alike_the_elements_move_under_noise_is_told(runner: Runner) -> None:
    """What one rounded number divides moves as one; separate products do not."""
    x = np.linspace(1, 9, 24, dtype=np.float32)
    single = run(runner, [("Div", ["x", "x"], ["z"])], {"x": x + np.float32(0.1)})
    assert json.loads(dict(single.outputs)["said"].item())["coherence"]["0"][0] < 0.6
    shared = run(runner, [("ReduceLogSumExp", ["x"], ["s"]), ("Mul", ["x", "s"], ["z"])], {"x": x})
    assert json.loads(dict(shared.outputs)["said"].item())["coherence"]["0"][0] > 0.6


def test_what_is_computed_twice_from_the_same_numbers_counts_once(runner: Runner) -> None:
    """Eight equal rows, each divided by its own sum: rounded alike, they prove no more than one of them."""
    x = np.tile(np.linspace(1, 3, 16, dtype=np.float32), (8, 1))
    nodes = [("ReduceLogSumExp", ["x", "n"], ["s"]), ("Sub", ["x", "s"], ["d"]), ("Exp", ["d"], ["z"])]
    one = run(runner, nodes, {"x": x[:1]}, {"n": np.array([1])})
    many = run(runner, nodes, {"x": x}, {"n": np.array([1])})
    told = [json.loads(dict(each.outputs)["said"].item())["coherence"]["0"][0] for each in (one, many)]
    assert min(told) > 0.6


@pytest.mark.parametrize("target", [TensorProto.BOOL, TensorProto.INT32])
def test_a_cast_of_what_may_be_zero_is_open(runner: Runner, target: int) -> None:
    nodes = [*SUM, ("Sub", ["t", "one"], ["d"]), ("Cast", ["d"], ["z"], {"to": target})]
    found = noise(runner, nodes, {"x": THIRDS}, {"n": np.array([1]), "one": ONE})
    assert (np.isinf(found) if target == TensorProto.BOOL else found == 0).all()  # both sides of 0 are cast to 0
    exact = noise(runner, [("Cast", ["x"], ["z"], {"to": target})], {"x": np.float32([0, 1, -2])})
    assert not exact.any()


def test_whole_powers_of_negative_numbers_have_the_noise_of_rounding(runner: Runner) -> None:
    x = np.float32([-2.1, -0.3])
    assert (noise(runner, [("Pow", ["x", "c"], ["z"])], {"x": x}, {"c": np.float32(3)}) < 1e-3).all()
    assert (noise(runner, [("Gelu", ["x"], ["z"], {"approximate": "tanh"})], {"x": x}) < 1e-3).all()


@pytest.mark.parametrize("operator", ["Acos", "Asin", "Atanh"])
def test_a_move_out_of_a_functions_domain_is_no_noise(runner: Runner, operator: str) -> None:
    found = noise(runner, [(operator, ["x"], ["z"])], {"x": np.float32([1.0, -1.0, 0.5])})
    assert np.isfinite(found[2]) and (operator == "Atanh" or np.isfinite(found).all())
    computed = [("Div", ["x", "c"], ["a"]), ("Acos", ["a"], ["z"])]
    assert np.isinf(noise(runner, computed, {"x": np.float32([0.3])}, {"c": np.float32(0.3)})).all()


def test_what_is_nothing_beside_one_may_be_lost_inside_a_function(runner: Runner) -> None:
    far = {"x": np.float32([-50, -1])}
    found = noise(runner, [("Sigmoid", ["x"], ["a"]), ("Log", ["a"], ["z"])], far)
    assert np.isinf(found[0]) and found[1] < 1e-3
    near = {"x": np.float32([-1e-6, -0.5])}
    for operator in ("Elu", "Sinh"):
        found = noise(runner, [(operator, ["x"], ["a"]), ("Div", ["a", "x"], ["z"])], near)
        assert found[0] > 0.01 and found[1] < 1e-3
    assert noise(runner, [("Elu", ["x"], ["z"])], {"x": np.float32([0, 2])})[0] < 1e-40  # nothing is lost of nothing


def test_a_quotient_is_open_where_rounding_may_make_its_divisor_zero(runner: Runner) -> None:
    nodes = [("Softplus", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])]
    found = noise(runner, nodes, {"x": np.float32([-25, -1])})
    assert np.isinf(found[0]) and found[1] < 1e-3
    assert not noise(runner, [("Div", ["x", "c"], ["z"])], {"x": np.float32([1, 2])}, {"c": np.float32(0)}).any()


def test_the_nearest_of_two_pixels_may_be_either_at_a_tie_and_nowhere_else(runner: Runner) -> None:
    image = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    grid = np.float32([[[[-0.5, 0.1], [0.1, 0.1]]]])
    found = noise(runner, [("GridSample", ["x", "g"], ["z"], {"mode": "nearest"})], {"x": image, "g": grid}).ravel()
    assert found[0] > 0.5 > found[1]


def test_what_is_added_up_while_scattering_is_a_sum_and_what_is_only_scattered_is_exact(runner: Runner) -> None:
    inputs = {"x": np.float32([0, 0]), "i": np.int64([0, 0, 0]), "u": np.float32([3e7, 0.3, -3e7])}
    found = noise(runner, [("ScatterElements", ["x", "i", "u"], ["z"], {"reduction": "add"})], inputs)
    assert found[0] > 0.3 and found[1] == 0
    assert not noise(runner, [("ScatterElements", ["x", "i", "u"], ["z"])], inputs).any()


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "ReduceL2", "ReduceLogSumExp"])
def test_long_sums_inside_an_operator_of_half_precision_may_stop_growing(runner: Runner, operator: str) -> None:
    def relative(dtype: str) -> float:
        x = np.random.default_rng(3).uniform(0, 1, (1, 4000)).astype(dtype)
        found = dict(run(runner, [(operator, ["x"], ["z"])], {"x": x}).outputs)
        wide, still = (found[name].ravel()[0] for name in ("wide/0", "noise/0"))
        return float(still / abs(wide))

    assert relative("float16") > 0.05 > 1e-3 > relative("float32")


def test_the_end_of_a_window_may_be_zero_or_next_to_it_when_it_is_cast_like_a_boolean(runner: Runner) -> None:
    """A symmetric Hann window ends with a zero, which the cosine of a rounded angle misses."""
    nodes = [("HannWindow", ["n"], ["w"], {"periodic": 0}), ("CastLike", ["w", "like"], ["z"])]
    found = noise(runner, nodes, {"x": np.float32([0])}, {"n": np.array(4), "like": np.array(True)})
    assert np.isinf(found[3]) and not found[1:3].any()


def test_zeros_of_several_operators_may_have_any_sign_together(runner: Runner) -> None:
    """Flipping each in turn gave the last one its own sign back."""
    nodes = [
        ("Sub", ["x", "x"], ["a"]),
        ("Neg", ["a"], ["b"]),
        ("Max", ["b", "a"], ["c"]),
        ("Reciprocal", ["c"], ["z"]),
    ]
    assert np.isinf(noise(runner, nodes, {"x": np.float32([1.0, -3.0])})).all()


@pytest.mark.parametrize(
    ("value", "epsilon", "open_"),
    [(7.7, 1e-12, True), (1.2345e6, 1e-5, True), (7.7, 1e-5, False), (0.0, 1e-12, False)],
)
def test_the_rounding_of_a_mean_counts_as_far_as_the_deviation_lets_it(
    runner: Runner, value: float, epsilon: float, open_: bool
) -> None:
    """Equal numbers less their mean are zero or a rounding error, which a small epsilon makes anything of."""
    x = np.full((2, 1, 7, 9), value, np.float32)
    given = {"s": np.ones(1, np.float32), "b": np.zeros(1, np.float32)}
    nodes = [("InstanceNormalization", ["x", "s", "b"], ["z"], {"epsilon": epsilon})]
    assert bool(noise(runner, nodes, {"x": x}, given).max() > 0.9) is open_
    more = {**given, "m": np.zeros(1, np.float32), "v": np.ones(1, np.float32)}
    batch = [
        ("BatchNormalization", ["x", "s", "b", "m", "v"], ["z", "rm", "rv"], {"epsilon": epsilon, "training_mode": 1})
    ]
    assert bool(noise(runner, batch, {"x": x}, more).max() > 0.9) is open_
    still = [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z"], {"epsilon": epsilon})]
    assert noise(runner, still, {"x": x}, more).max() < 0.01 * max(value, 1)


def test_squares_leave_the_range_channel_by_channel_and_not_all_together(runner: Runner) -> None:
    """Ordinary numbers of float16 in a picture of 64 channels: their squares together are beyond 65504."""
    x = np.random.default_rng(0).standard_normal((1, 64, 32, 32)).astype(np.float16)
    x[0, 5, 0, 0] = 300
    given = {"s": np.ones(64, np.float16), "b": np.zeros(64, np.float16)}
    found = noise(runner, [("InstanceNormalization", ["x", "s", "b"], ["z"])], {"x": x}, given)
    assert [channel for channel in range(64) if not np.isfinite(found[0, channel]).all()] == [5]
    found = noise(runner, [("LRN", ["x"], ["z"], {"size": 3})], {"x": x})
    assert np.argwhere(~np.isfinite(found).all(axis=1)).tolist() == [[0, 0, 0]]


def test_squares_that_are_lost_one_by_one_leave_a_norm_open(runner: Runner) -> None:
    small, large = np.full(100, 0.007, np.float16), np.full(100, 0.07, np.float16)
    nodes = [("ReduceL2", ["x"], ["z"], {"keepdims": 0})]
    assert np.isinf(noise(runner, nodes, {"x": small})).all()
    assert np.isfinite(noise(runner, nodes, {"x": large})).all()


def test_a_batch_of_one_channel_without_an_axis_for_it_is_evaluated(runner: Runner) -> None:
    given = {name: np.float32([value]) for name, value in (("s", 2), ("b", 1), ("m", 0), ("v", 1))}
    x = np.float32([1, 2, 3, 4, 5])
    found = noise(runner, [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z"])], {"x": x}, given)
    assert found.shape == (5,) and np.isfinite(found).all()


@pytest.mark.parametrize("api", ["torch.prod", "torch.cumprod"])
def test_the_factors_of_a_call_may_be_multiplied_in_any_order(runner: Runner, api: str) -> None:
    text = json.dumps(
        {
            "library": "torch",
            "api": api,
            "args": [{"tensor": 0}, *([0] if api == "torch.cumprod" else [])],
            "tensors": [{"dtype": "float32", "shape": [4], "values": [1e30, 1e30, 1e-30, 1e-30]}],
        }
    )
    found = runner.run(Case("instance", text.encode(), {}, Origin("test")), catalogue.target(WIDENED))
    moves = dict(found.outputs)["noise/0"]
    assert np.isinf(moves.ravel()[-1])


#: Calls that round a quotient to a whole number: 5 / 10 and 4 / 2 are exact, 0.5 / 0.1 is just below 5.
QUOTIENTS = {
    "torch.div": {"rounding_mode": "floor"},
    "torch.Tensor.div": {"rounding_mode": "trunc"},
    "torch.floor_divide": {},
}


@pytest.mark.parametrize("api", QUOTIENTS)
def test_a_quotient_that_is_nearly_whole_may_be_rounded_to_either_number(runner: Runner, api: str) -> None:
    tensors = [
        {"dtype": "float32", "shape": [4], "values": [0.5, 1.5, 4, 0.55]},
        {"dtype": "float32", "shape": [4], "values": [0.1, 0.1, 2, 0.1]},
    ]
    call = {"api": api, "args": [{"tensor": 0}, {"tensor": 1}], "kwargs": QUOTIENTS[api], "tensors": tensors}
    found = runner.run(Case("instance", json.dumps(call).encode(), {}, Origin("test")), catalogue.target(WIDENED))
    moves = np.asarray(dict(found.outputs)["noise/0"])
    assert (moves[:2] >= 1).all() and (moves[2:] < 0.1).all(), moves


@pytest.mark.parametrize(("centre", "most"), [(0.0, 1e-4), (1000.0, 10.0)])
def test_distances_of_near_points_lose_what_the_points_have_in_common(
    runner: Runner, centre: float, most: float
) -> None:
    rows = centre + np.random.default_rng(3).uniform(0, 0.01 if centre else 1, (30, 4)).round(4)
    tensor = {"dtype": "float32", "shape": [30, 4], "values": rows.ravel().tolist()}
    call = {"api": "torch.cdist", "args": [{"tensor": 0}, {"tensor": 0}], "tensors": [tensor]}
    found = runner.run(Case("instance", json.dumps(call).encode(), {}, Origin("test")), catalogue.target(WIDENED))
    apart = np.asarray(dict(found.outputs)["noise/0"])[~np.eye(30, dtype=bool)]
    assert (apart > 0).all() and (apart < most).all() and (not centre or (apart > 0.1).all()), apart


#: Normalisations of PyTorch over the last 64 numbers of [3, 64], by their other arguments.
NORMALISATIONS: dict[str, tuple[list[Any], list[int]]] = {
    "torch.nn.functional.layer_norm": ([[64]], [3, 64]),
    "torch.nn.functional.group_norm": ([1], [3, 1, 64]),
    "torch.nn.functional.instance_norm": ([], [1, 3, 64]),
}


@pytest.mark.parametrize("api", NORMALISATIONS)
@pytest.mark.parametrize(
    ("centre", "width", "least", "most"), [(123.4, 1e-5, 0.02, 1), (1e4, 1, 0.02, np.inf), (0, 1, 0, 2e-3)]
)
def test_what_a_normalisation_divides_by_next_to_nothing_is_noise(
    runner: Runner, api: str, centre: float, width: float, least: float, most: float
) -> None:
    args, shape = NORMALISATIONS[api]
    rows = (centre + width * np.random.default_rng(3).standard_normal(192)).astype(np.float32)
    tensor = {"dtype": "float32", "shape": shape, "values": rows.tolist()}
    call = {"api": api, "args": [{"tensor": 0}, *args], "tensors": [tensor]}
    found = runner.run(Case("instance", json.dumps(call).encode(), {}, Origin("test")), catalogue.target(WIDENED))
    moves = float(np.max(np.asarray(dict(found.outputs)["noise/0"])))
    assert least < moves < most
