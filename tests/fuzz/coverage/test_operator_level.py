"""Operator-level coverage: the worked example of the paper (Tables I and II), and what counts for what."""

import math

import pytest
from onnx import TensorProto, helper

from fuzz.coverage.operator_level import Degrees, OperatorLevel, UnusableWeights
from fuzz.coverage.reading import nodes

#: Table I.
CORPUS = {
    "Conv": Degrees.of({1}, {0, 1, 2}),
    "Relu": Degrees.of({1}, {0, 1, 2}),
    "Add": Degrees.of({2}, {0, 1, 2}),
}
#: Table II, in per cent.
TABLE_II = {
    "Conv": (100, 100, 66.7, 33.3, 20, 64),
    "Relu": (100, 100, 33.3, 33.3, 10, 55.3),
    "Add": (100, 100, 66.7, 33.3, 30, 66),
    "I": (100, 100, 55.6, 33.3, 20, 61.8),
}


def model(*made, inputs, constants=()):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(
        list(made), "g", infos, [helper.make_empty_tensor_value_info(made[-1].output[0])], list(constants)
    )
    return nodes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))


def weights(name, *shape):
    size = math.prod(shape)
    return helper.make_tensor(name, TensorProto.FLOAT, shape, [0.5] * size)


def three_networks():
    """With the degrees, edges and settings that Table II counts: Relu feeds Conv, Conv and Add feed Add."""
    square = [1, 3, 8, 8]
    relu = helper.make_node("Relu", ["x"], ["r"])
    conv = helper.make_node("Conv", ["r", "w"], ["c"])
    pointwise = weights("w", 3, 3, 1, 1)
    return [
        model(
            relu,
            conv,
            helper.make_node("Add", ["c", "y"], ["a"]),
            inputs={"x": square, "y": square},
            constants=[pointwise],
        ),
        model(
            relu,
            helper.make_node("Conv", ["r", "w"], ["c"], kernel_shape=[1, 1]),
            helper.make_node("Add", ["c", "y"], ["a"]),
            helper.make_node("Add", ["c", "a"], ["b"]),
            inputs={"x": square, "y": [1, 3, 8, 1]},
            constants=[pointwise],
        ),
        model(
            relu,
            conv,
            helper.make_node("Add", ["c", "y"], ["a"]),
            helper.make_node("Add", ["z", "a"], ["b"]),
            inputs={"x": square, "y": [1, 3, 1, 8], "z": square},
            constants=[pointwise],
        ),
    ]


def covered(models, **options):
    found = OperatorLevel(CORPUS, **options)
    for each in models:
        found.add(each)
    return found


def test_the_worked_example_of_the_paper():
    networks = three_networks()
    found = covered(networks, most_settings=10)
    rows = {**found.operators(), "I": found.metrics()}
    for name, expected in TABLE_II.items():
        assert tuple(rows[name]) == ("OTC", "IDC", "ODC", "SEC", "SPC", "OLC")
        assert [100 * value for value in rows[name].values()] == pytest.approx(expected, abs=0.05), name


def test_what_a_model_adds_is_what_the_coverage_grows_by():
    found = OperatorLevel(CORPUS, most_settings=10)
    for each in three_networks():
        before = found.metrics()["OLC"]
        assert found.add(each) == pytest.approx(found.metrics()["OLC"] - before) != 0


def test_a_model_that_covers_nothing_new_adds_nothing():
    networks = three_networks()
    found = covered(networks)
    assert [found.add(each) for each in networks] == [0, 0, 0]


def test_weights_that_are_zero_leave_their_metric_out():
    networks = three_networks()
    found = covered(networks, weights=(1, 1, 0, 0, 0))
    assert found.operator("Relu")["OLC"] == found.metrics()["OLC"] == 1


def test_degrees_outside_the_corpus_and_foreign_operators_count_for_nothing():
    three = [helper.make_node("Add", ["r", "r"], [f"a{at}"]) for at in range(3)]
    found = covered([model(helper.make_node("Relu", ["x"], ["r"]), *three, inputs={"x": [2]})])
    assert found.operator("Relu")["ODC"] == 0  # six readers
    tan = model(helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Tan", ["r"], ["t"]), inputs={"x": [2]})
    assert covered([tan]).operator("Relu")["SEC"] == 0


def test_constants_that_steer_are_part_of_the_setting_and_weights_are_not():
    corpus = {"Reshape": Degrees.of({1}, {0}), "Mul": Degrees.of({1}, {0})}
    found = OperatorLevel(corpus, most_settings=4)
    for target in ([2, 3], [3, 2], [3, 2]):
        shape = helper.make_tensor("s", TensorProto.INT64, [2], target)
        found.add(model(helper.make_node("Reshape", ["x", "s"], ["y"]), inputs={"x": [6]}, constants=[shape]))
    for value in (0.5, 0.75):
        weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [value])
        found.add(model(helper.make_node("Mul", ["x", "w"], ["y"]), inputs={"x": [6]}, constants=[weight]))
    assert found.operator("Reshape")["SPC"] == 2 / 4
    assert found.operator("Mul")["SPC"] == 1 / 4
    assert found.operator("Reshape")["IDC"] == 1  # the target shape is no data flow


def test_whether_an_input_is_a_weight_or_data_is_no_setting():
    """Formula (5): distinct vectors of tensor shapes and parameters."""
    found = OperatorLevel({"Relu": Degrees.of({1}, {0})}, most_settings=4)
    found.add(model(helper.make_node("Relu", ["x"], ["y"]), inputs={"x": [6]}))
    found.add(model(helper.make_node("Relu", ["w"], ["y"]), inputs={}, constants=[weights("w", 6)]))
    assert found.operator("Relu")["SPC"] == 1 / 4


def test_the_same_number_for_another_input_is_another_setting():
    found = OperatorLevel({"Clip": Degrees.of({2}, {0})}, most_settings=4)
    bound = helper.make_tensor("b", TensorProto.INT64, [], [3])
    for inputs in (["x", "b", "y"], ["x", "y", "b"]):
        found.add(model(helper.make_node("Clip", inputs, ["z"]), inputs={"x": [6], "y": []}, constants=[bound]))
    assert found.operator("Clip")["SPC"] == 2 / 4


def test_no_more_settings_count_than_are_expected():
    found = OperatorLevel(CORPUS, most_settings=2)
    for size in range(1, 6):
        found.add(model(helper.make_node("Relu", ["x"], ["r"]), inputs={"x": [size]}))
    assert found.operator("Relu")["SPC"] == 1


def test_what_is_lacking_is_told():
    networks = three_networks()
    found = covered(networks)
    assert found.lacks_edge("Relu", "Add") and not found.lacks_edge("Relu", "Conv")
    assert not found.lacks_edge("Relu", "Tan")
    assert found.lacks_out("Conv", 0) and not found.lacks_out("Conv", 1) and not found.lacks_out("Conv", 3)
    assert not found.lacks_in("Add", 2)


@pytest.mark.parametrize("bad", [(1, 1), (1, 1, 1, 1, -1), (0, 0, 0, 0, 0), (1, 1, 1, 1, float("nan"))])
def test_unusable_weights_are_told(bad):
    with pytest.raises(UnusableWeights, match="weights must be 5 numbers from 0 on, not all 0"):
        OperatorLevel(CORPUS, weights=bad)
    with pytest.raises(UnusableWeights, match="1 or more; given 0"):
        OperatorLevel(CORPUS, most_settings=0)
