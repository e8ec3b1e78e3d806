"""The metrics on graphs small enough to count by hand."""

import onnx
import pytest
from onnx import TensorProto, helper

from fuzz.coverage.metrics import Coverage
from fuzz.coverage.reading import UnreadableModel, folder, nodes

CORPUS = {"Relu": (1,), "Add": (2,), "Concat": (1, 2, 3)}


def model(*made, inputs=("x",), output=None):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in inputs]
    last = helper.make_empty_tensor_value_info(output or made[-1].output[0])
    return helper.make_model(
        helper.make_graph(list(made), "g", infos, [last]), opset_imports=[helper.make_opsetid("", 21)]
    )


def metrics(*models, corpus=CORPUS):
    coverage = Coverage(corpus)
    for each in models:
        coverage.add(nodes(each))
    return coverage.metrics()


# x -> Relu(a) -> Add(b: a, a) -> Concat(c: b, a)
CHAIN = model(
    helper.make_node("Relu", ["x"], ["a"]),
    helper.make_node("Add", ["a", "a"], ["b"]),
    helper.make_node("Concat", ["b", "a"], ["c"], axis=0),
)


def test_graph_level_metrics_of_a_chain_with_a_shortcut():
    found = metrics(CHAIN)
    assert (found["NOO"], found["NOT"]) == (3, 3)
    assert found["NOP"] == found["NOP_types"] == 3  # Relu-Add, Relu-Concat, Add-Concat
    assert found["NTR"] == found["NTR_types"] == 1  # Relu-Add-Concat


def test_operator_level_metrics_of_a_chain_with_a_shortcut():
    found = metrics(CHAIN)
    assert found["OTC"] == 1
    assert found["IDC"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert found["SEC"] == pytest.approx(3 / 9)
    assert found["DEC"] == pytest.approx(1 / 27)
    assert found["SAC"] == 1


def test_out_degrees_count_readers_and_are_clamped_to_one_at_least():
    other = model(helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["b"]))
    found = metrics(CHAIN, other, corpus={"Relu": (1,)})
    assert found["ODC"] == 3  # three readers of a; one; none
    assert found["ODC_clamped"] == 2


def test_equal_nodes_count_once_where_types_are_counted():
    twice = model(
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Relu", ["c"], ["d"]),
    )
    found = metrics(twice)
    assert (found["NOP"], found["NOP_types"]) == (3, 1)
    assert (found["NTR"], found["NTR_types"]) == (2, 1)
    assert (found["NSA"], found["NSA_untyped"]) == (1, 1)


def test_settings_differ_by_shape_and_by_attribute():
    axes = [helper.make_node("Concat", ["x"], [f"c{axis}"], axis=axis) for axis in (0, 1, 1)]
    relu = helper.make_node("Relu", ["x"], ["r"])
    found = metrics(model(*axes, relu))
    assert found["NSA"] == 3
    assert found["SAC"] == pytest.approx((2 + 1 + 0) / 3)


def test_the_order_of_attributes_makes_no_difference():
    def pool(*names):
        values = {"kernel_shape": [1], "strides": [1]}
        node = helper.make_node("MaxPool", ["x"], ["y"])
        node.attribute.extend(helper.make_attribute(name, values[name]) for name in names)
        return node

    found = metrics(
        model(pool("kernel_shape", "strides")), model(pool("strides", "kernel_shape")), corpus={"MaxPool": (1,)}
    )
    assert found["SAC"] == 1


def test_operators_outside_the_corpus_count_for_the_graph_alone():
    found = metrics(CHAIN, corpus={"Relu": (1,)})
    assert (found["NOO"], found["SEC"], found["OTC"]) == (3, 0, 1)


def test_no_model_covers_nothing():
    assert set(metrics().values()) == {0}


def test_frequencies_name_what_never_occurs():
    coverage = Coverage(CORPUS | {"Tan": (1,)})
    coverage.add(nodes(CHAIN))
    assert coverage.frequency() == {"Add": 1, "Concat": 1, "Relu": 1, "Tan": 0}


def test_a_folder_is_read_in_the_order_of_names_and_a_damaged_file_is_named(tmp_path):
    onnx.save(CHAIN, tmp_path / "b.onnx")
    assert [len(found) for found in folder(tmp_path)] == [3]
    (tmp_path / "a.onnx").write_bytes(b"\xff not a model")
    with pytest.raises(UnreadableModel, match=r"a\.onnx: is not an ONNX model"):
        list(folder(tmp_path))
