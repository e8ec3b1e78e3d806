"""Models become items: operators, attributes, what inputs really are; nothing that is hard to read stops an order."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from fuzz.case import FAILING, Case, Origin, Status, canonical_json
from fuzz.generators import Skip
from fuzz.ranking import cases
from fuzz.ranking.item import Tensor
from fuzz.ranking.stream import Mixed, Ordered


def reduced(axes: list[int], frozen: bool) -> Case:
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 0]), _info("axes", [len(axes)])]
    constant = numpy_helper.from_array(np.array(axes, np.int64), "axes")
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", infos[: 1 if frozen else 2], out, [constant] if frozen else [])
    inputs = {"x": np.zeros((2, 0), np.float32)} | ({} if frozen else {"axes": np.array(axes, np.int64)})
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def _info(name: str, shape: list[int]) -> object:
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)


def test_a_model_shows_its_attributes_inputs_and_the_elements_of_small_ones() -> None:
    for frozen in (False, True):
        call = cases.item(reduced([-1], frozen)).call
        assert call.operator == "ReduceSum" and call.parameters["keepdims"] == 0
        assert call.parameters["data"] == Tensor("float", (2, 0))
        assert call.parameters["axes"] == Tensor("int64", (1,), frozen)
        assert call.contents == {"axes": [-1]}
        assert call.defaults["keepdims"] == 1


def test_bytes_that_are_no_model_are_an_item_too() -> None:
    for kind in ("onnx", "instance"):
        broken = Case(kind, b"\xff\x00", {}, Origin("test"))
        assert cases.item(broken).id == broken.id


def test_an_instance_shows_its_call() -> None:
    document = {"api": "torch.sum", "args": [{"dtype": "int64", "shape": [3]}], "kwargs": {"dim": -1}}
    item = cases.item(Case("instance", canonical_json(document), {}, Origin("test")))
    assert item.operator == "torch.sum"
    assert item.call.parameters == {"0": Tensor("int64", (3,)), "dim": -1}


def relu(at: int, operator: str) -> Case:
    return Case("instance", canonical_json({"api": f"torch.{operator}", "kwargs": {"n": at}}), {}, Origin("test"))


def test_a_stream_gives_every_case_once_and_learns_from_what_they_did() -> None:
    skip = Skip(Origin("test"), "no data")
    source = [relu(at, name) for name in ("relu", "abs") for at in range(30)]
    ordered = Ordered([skip, *source, source[0]], "graphwarden", 0)
    found: list[Case | Skip] = []
    for entry in ordered:
        found.append(entry)
        if isinstance(entry, Case):
            refused = b"relu" in entry.model
            ordered.observe(entry.id, Status.UNSUPPORTED if refused else Status.WRONG, entry.id)
    assert found[-1] == skip and sorted(e.id for e in found[:-1] if isinstance(e, Case)) == sorted(c.id for c in source)
    assert Status.WRONG in FAILING
    early = [b"abs" in entry.model for entry in found[:30] if isinstance(entry, Case)]
    assert sum(early) > 20


def test_what_failed_before_comes_first_and_sources_take_turns() -> None:
    one, two = [relu(at, "relu") for at in range(6)], [relu(at, "abs") for at in range(3)]
    mixed = Mixed([(Ordered(one, "graphwarden", 0, {one[5].id: ["a bug"]}), 2), (Ordered(two, "random", 0), 1)])
    found = [case for case in mixed if isinstance(case, Case)]
    assert found[0] == one[5] and len(found) == 9
    assert [b"abs" in case.model for case in found[:6]] == [False, False, True] * 2
    mixed.observe("unknown", Status.OK)
