"""What the tests that failed first say of a reduced case."""

from __future__ import annotations

from onnx import TensorProto, helper

from fuzz.case import Case, Origin
from triage import seen


def attention(name: str, op_type: str = "Attention", **attributes: int) -> Case:
    infos = [helper.make_tensor_value_info(one, TensorProto.FLOAT, [1, 2, 4]) for one in ("q", "k", "v")]
    node = helper.make_node(op_type, ["q", "k", "v"], ["y"], **attributes)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 4])
    graph = helper.make_graph([node], "g", infos, [out])
    return Case("onnx", helper.make_model(graph).SerializeToString(), {}, Origin("test", name))


THREE = attention("3d", q_num_heads=2, kv_num_heads=2)


def test_an_attribute_that_another_failing_test_does_without_is_no_condition() -> None:
    """Three-dimensional Attention is invalid without its numbers of heads; the four-dimensional one has none."""
    four = attention("4d")
    assert seen.does_without(THREE, "q_num_heads", [THREE, four])
    assert not seen.does_without(THREE, "q_num_heads", [THREE])
    assert not seen.does_without(THREE, "q_num_heads", [attention("other", "Relu")]), "another operator says nothing"


def test_of_many_failing_tests_those_with_other_attributes_are_asked_first() -> None:
    many = [attention(str(at), q_num_heads=2, kv_num_heads=at + 1) for at in range(9)]
    bare, causal = attention("4d"), attention("causal", is_causal=1)
    assert seen.unlike([*many, bare, causal], 4) == [many[0], bare, causal, many[1]]
