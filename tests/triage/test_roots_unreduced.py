"""Where a reduced case does not stand before the court, the case it began with is not reported whole either, if one of
its operators is wrong alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import hunt, pipeline
from triage.lifecycle import State
from triage.store import open_store


def case(nodes: list[onnx.NodeProto], x: np.ndarray, shape: list[int], constants: dict[str, np.ndarray]) -> Case:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [given], [made], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test", nodes[0].op_type))


def peepholes() -> Case:
    """OpenVINO does not look at the input P of LSTM."""
    rng = np.random.default_rng(0)
    sizes = {"w": (1, 4, 2), "r": (1, 4, 1), "p": (1, 3)}
    constants = {name: rng.uniform(0.5, 1, size).astype(np.float32) for name, size in sizes.items()}
    nodes = [
        helper.make_node("LSTM", ["x", "w", "r", "", "", "", "", "p"], ["a"], hidden_size=1),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    return case(nodes, rng.uniform(0.5, 1, (3, 1, 2)).astype(np.float32), [3, 1, 1, 1], constants)


def test_the_operator_that_is_wrong_alone_is_the_bug_when_reduction_lost_it(tmp_path: Path) -> None:
    passing = case([helper.make_node("Relu", ["x"], ["y"])], np.float32([1, -2]), [2], {})
    with (
        Runner(Limits(seconds=600, memory_mb=2000), jobs=1) as runner,
        open_store(tmp_path / "hunt.db", create=True) as store,
    ):
        desk = pipeline.Desk(store, runner, catalogue.target("reference"), tmp_path / "reports")
        targets = [catalogue.target("openvino")]
        hunt.hunt(store, store.begin_campaign({"test": 1}), [peepholes()], targets, desk.reference, runner, Policy())
        [bug] = store.bugs()
        store.advance(bug.id, State.NEW, State.CONFIRMED)
        store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=passing, nodes=1)
        store.advance(bug.id, State.REDUCED, State.LOCATED)
        pipeline.hear(desk, store.bug(bug.id))
        [given, root] = store.bugs()
    assert (given.state, given.note) == (State.DUPLICATE, f"comes of LSTM, which is wrong alone: see bug {root.id}")
    assert (root.state, root.operators) == (State.NEW, ("LSTM",))
