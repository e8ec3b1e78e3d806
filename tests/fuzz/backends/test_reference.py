"""The reference: parsing, checking, shape inference and evaluation, each known by its stage."""

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, parser

from fuzz import catalogue, validity
from fuzz.case import Case, Origin, Stage, Status
from fuzz.limits import Limits
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def two_nodes(output_shape: list[int] | None = None) -> ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, output_shape or [2])
    nodes = [helper.make_node("Neg", ["x"], ["between"]), helper.make_node("Relu", ["between"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def case_of(model: ModelProto) -> Case:
    return Case("onnx", model.SerializeToString(), {"x": np.float32([-1, 2])}, Origin("t"))


def test_a_valid_model_is_evaluated(evaluator: Runner) -> None:
    outcome = evaluator.run(case_of(two_nodes()), catalogue.target("reference"))
    assert outcome.status is Status.OK
    assert [(name, np.asarray(value).tolist()) for name, value in outcome.outputs] == [("y", [1.0, 0.0])]


def test_intermediates_are_kept_when_asked_for(evaluator: Runner) -> None:
    outcome = evaluator.run(case_of(two_nodes()), catalogue.target("reference", {"intermediates": "on"}))
    assert np.asarray(dict(outcome.outputs)["between"]).tolist() == [1.0, -2.0]


def test_eager_torch_is_the_reference_of_an_instance(evaluator: Runner) -> None:
    case, expected = catalogue._tiny_instance("instance")
    outcome = evaluator.run(case, catalogue.target("reference"))
    assert outcome.status is Status.OK, outcome
    assert np.asarray(outcome.outputs[0][1]).tolist() == expected.tolist()


def missing_input() -> ModelProto:
    model = two_nodes()
    model.graph.node[1].input[0] = "nowhere"
    return model


def wrong_shape() -> ModelProto:
    return two_nodes(output_shape=[3])


@pytest.mark.parametrize(
    ("model", "stage", "judge"),
    [
        (b"\x00 garbage", Stage.LOAD, "parsing"),
        (b"", Stage.CONVERT, "onnx.checker"),
        (missing_input().SerializeToString(), Stage.CONVERT, "onnx.checker"),
        (wrong_shape().SerializeToString(), Stage.CONVERT, "onnx.checker"),
    ],
    ids=["garbage", "empty", "missing input", "wrong shape"],
)
def test_what_is_wrong_with_a_model_is_known_by_stage(
    evaluator: Runner, model: bytes, stage: Stage, judge: str
) -> None:
    case = Case("onnx", model, {"x": np.float32([-1, 2])}, Origin("t"))
    target = catalogue.target("reference")
    assert evaluator.run(case, target).stage is stage
    [found] = validity.judge(evaluator, [case], target)
    assert found.invalid.startswith(f"rejected by {judge}: ")


def test_inputs_that_do_not_fit_the_model_make_the_case_invalid(evaluator: Runner) -> None:
    case = Case("onnx", two_nodes().SerializeToString(), {}, Origin("t"))
    [found] = validity.judge(evaluator, [case], catalogue.target("reference"))
    assert found.invalid.startswith("rejected by the reference: ")


def test_a_random_operator_is_valid_and_incomparable(evaluator: Runner) -> None:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph([helper.make_node("RandomNormal", [], ["y"], shape=[4])], "g", [], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {}, Origin("t"))
    [found] = validity.judge(evaluator, [case], catalogue.target("reference"))
    assert (found.invalid, found.incomparable.partition(":")[0]) == ("", "RandomNormal")


LOOP = """<ir_version: 10, opset_import: ["": 21]>
g (int64 n, float[1,2] start) => (float[1,2] last, float[3,1,2] rows, int64[3] steps) {
    last, rows, steps = Loop(n, "", start) <body = b (int64 i, bool go, float[1,2] v)
        => (bool go, float[1,2] w, float[1,2] row, int64 step) { w = Add(v, v) row = Neg(v) step = Identity(i) }> }"""


def test_what_a_loop_collects_is_stacked_along_a_new_axis(evaluator: Runner) -> None:
    given: dict[str, np.ndarray] = {"n": np.array(3), "start": np.array([[1, -2]], np.float32)}
    case = Case("onnx", parser.parse_model(LOOP).SerializeToString(), dict(given), Origin("t"))
    outcome = evaluator.run(case, catalogue.target("reference"))
    found = {name: np.asarray(value) for name, value in outcome.outputs}
    assert found["last"].tolist() == [[8, -16]]
    assert found["rows"].tolist() == [[[-1, 2]], [[-2, 4]], [[-4, 8]]]
    assert found["steps"].shape == (3,) and found["steps"].tolist() == [0, 1, 2]
    other = evaluator.run(case, catalogue.target("onnxruntime"))
    assert {name: np.asarray(value).shape for name, value in other.outputs} == {n: v.shape for n, v in found.items()}


def test_a_loop_within_a_loop_collects_for_itself(evaluator: Runner) -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (int64 n, float[1] x) => (float[2,2,1] y) {
        y = Loop(n, "") <body = b (int64 i, bool go) => (bool go, float[2,1] rows) {
            rows = Loop(n, "") <body = c (int64 j, bool more) => (bool more, float[1] row) { row = Neg(x) }> }> }"""
    given = {"n": np.array(2), "x": np.array([5], np.float32)}
    case = Case("onnx", parser.parse_model(text).SerializeToString(), dict(given), Origin("t"))
    outcome = evaluator.run(case, catalogue.target("reference"))
    assert [np.asarray(value).tolist() for _, value in outcome.outputs] == [[[[-5.0], [-5.0]], [[-5.0], [-5.0]]]]


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, [0.0, 3.0, 4.0]), (3.5, [0.0, 0.0, 4.0])])
def test_a_function_hands_its_attribute_on_to_an_operator(
    evaluator: Runner, alpha: float, expected: list[float]
) -> None:
    text = f"""<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[3] x) => (float[3] y) {{ y = own.cut <alpha = {alpha}>(x) }}
    <domain: "own", opset_import: ["": 21]> cut <alpha>(a) => (b) {{
        b = ThresholdedRelu <alpha: float = @alpha>(a) }}"""
    given = {"x": np.array([1, 3, 4], np.float32)}
    case = Case("onnx", parser.parse_model(text).SerializeToString(), dict(given), Origin("t"))
    outcome = evaluator.run(case, catalogue.target("reference"))
    assert [np.asarray(value).tolist() for _, value in outcome.outputs] == [expected]


def test_fractional_indices_of_one_hot_are_cut_off_before_use(evaluator: Runner) -> None:
    """In case 'indices' is of non-integer type, the values will be casted to int64 before use."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>'
        "g (float[4] x, int64 d, float[2] v) => (float[4,3] y) { y = OneHot (x, d, v) }"
    )
    inputs = {"x": np.float32([0.9, -0.9, 2.5, -1.5]), "d": np.array(3), "v": np.float32([0, 1])}
    outcome = evaluator.run(Case("onnx", model.SerializeToString(), inputs, Origin("t")), catalogue.target("reference"))
    assert [np.asarray(value).tolist() for _, value in outcome.outputs] == [np.eye(3)[[0, 0, 2, 2]].tolist()]


@pytest.mark.parametrize("opset", [10, 13, 18, 19, 21])
def test_quantised_numbers_are_scaled_back_in_every_version(evaluator: Runner, opset: int) -> None:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
        "g (int8[4] x, float s, int8 z) => (float[4] y) { y = DequantizeLinear (x, s, z) }"
    )
    inputs = {"x": np.int8([1, -3, 5, 127]), "s": np.float32(0.5), "z": np.int8(3)}
    outcome = evaluator.run(Case("onnx", model.SerializeToString(), inputs, Origin("t")), catalogue.target("reference"))
    assert outcome.status is Status.OK, outcome
    assert np.asarray(outcome.values[0]).tolist() == [-1, -3, 1, 62]


@pytest.mark.parametrize("axis", [0, 1])
def test_elements_are_gathered_along_long_axes(evaluator: Runner, axis: int) -> None:
    """Numpy's `choose`, which the evaluator of onnx goes by, knows no more than 64 places."""
    data = np.arange(100 * 100, dtype=np.float32).reshape(100, 100)
    shape = (2, 100) if axis == 0 else (100, 2)
    indices = np.full(shape, [[99], [-1]] if axis == 0 else [[99, -2]], np.int64)
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]>\n'
        f"g (float[100,100] x, int64[{shape[0]},{shape[1]}] i) => (float[{shape[0]},{shape[1]}] y)"
        f" {{ y = GatherElements<axis={axis}> (x, i) }}"
    )
    case = Case("onnx", model.SerializeToString(), {"x": data, "i": indices}, Origin("t"))
    outcome = evaluator.run(case, catalogue.target("reference"))
    assert outcome.status is Status.OK, outcome
    assert np.array_equal(outcome.values[0], np.take_along_axis(data, indices, axis))


def loop_of(trips: str, condition: str) -> ModelProto:
    text = f"""<ir_version: 10, opset_import: ["": 21]>
    g (int64 n, bool go, float[2] x) => (float[2] last, int64[k,2,3] rows) {{
        last, rows = Loop({trips}, {condition}, x) <body = b (int64 i, bool c, float[2] v)
            => (bool c, float[2] w, int64[2,3] row) {{
                w = Add(v, v) row = Constant<value = int64[2,3] {{1,2,3,4,5,6}}>() }}> }}"""
    return parser.parse_model(text)


@pytest.mark.parametrize(("trips", "condition", "n", "go"), [("n", '""', 0, True), ('""', "go", 0, False)])
def test_a_loop_that_never_runs_collects_nothing_and_gives_what_it_was_given(
    evaluator: Runner, trips: str, condition: str, n: int, go: bool
) -> None:
    given = {"n": np.array(n), "go": np.array(go), "x": np.float32([1, -2])}
    case = Case("onnx", loop_of(trips, condition).SerializeToString(), dict(given), Origin("t"))
    for name in ("reference", "onnxruntime"):
        found = [np.asarray(value) for _, value in evaluator.run(case, catalogue.target(name)).outputs]
        assert found[0].tolist() == [1, -2], name
        assert (found[1].shape, found[1].dtype) == ((0, 2, 3), np.int64), name


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("axis", ["", ", axis: int = 1"])
def test_unique_elements_in_the_order_of_their_first_occurrence(evaluator: Runner, axis: str, outputs: int) -> None:
    names = ["y", "first", "place", "count"][:outputs]
    types = ["float[n]" if not axis else "float[2,n]", "int64[n]", "int64[m]", "int64[n]"][:outputs]
    declared = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
    text = f"""<ir_version: 10, opset_import: ["": 21]>
    g (float[2,3] x) => ({declared}) {{ {", ".join(names)} = Unique<sorted: int = 0{axis}>(x) }}"""
    given = {"x": np.float32([[3, 1, 3], [2, 1, 2]])}
    case = Case("onnx", parser.parse_model(text).SerializeToString(), dict(given), Origin("t"))
    expected = (
        [[[3, 1], [2, 1]], [0, 1], [0, 1, 0], [2, 1]] if axis else [[3, 1, 2], [0, 1, 3], [0, 1, 0, 2, 1, 2], [2, 2, 2]]
    )
    for name in ("reference", "onnxruntime"):
        found = [np.asarray(value).tolist() for _, value in evaluator.run(case, catalogue.target(name)).outputs]
        assert found == expected[:outputs], name


def test_a_result_that_is_left_out_is_no_input_that_is_left_out_later(evaluator: Runner) -> None:
    """ONNX writes both as the empty name; the evaluator took the one for the other."""
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 22]>'
        "g (float[2,1,2] x, float[1,2,2] w, bool c) => (float[1,1,2] last, float[2,1,2] cut, float[2,1,2] chosen) {"
        '  "", last = RNN <hidden_size = 2> (x, w, w)'
        '  cut = Clip (x, "", "")'
        "  chosen = If (c) <"
        "    then_branch = t () => (float[2,1,2] a) {"
        '      "", state = RNN <hidden_size = 2> (x, w, w)'
        '      a = Clip (x, "", "")'
        "    },"
        "    else_branch = e () => (float[2,1,2] b) { b = Neg (x) }"
        "  >"
        "}"
    )
    x = np.float32([[[5, -7]], [[1, 2]]])
    given = {"x": x, "w": np.ones((1, 2, 2), np.float32), "c": np.array(True)}
    outcome = evaluator.run(Case("onnx", model.SerializeToString(), given, Origin("t")), catalogue.target("reference"))
    assert [np.asarray(value).tolist() for _, value in outcome.outputs][1:] == [x.tolist(), x.tolist()]
