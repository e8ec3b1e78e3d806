"""What reducing has left beside the guilty operator goes before a bug is located."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.lifecycle import State
from triage.operators import node_count
from triage.signing import Signer
from triage.steps import locating
from triage.steps.desk import Desk
from triage.store import open_store


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Runner(Limits(seconds=600), jobs=1) as runner, open_store(tmp_path / "hunt.db", create=True) as store:
        reference = catalogue.target("reference")
        yield Desk(store, runner, reference, tmp_path / "reports", time.monotonic() + 3600)


def doubles(*operators: str) -> Case:
    names = ["x", *(f"v{at}" for at in range(1, len(operators))), "y"]
    nodes = [helper.make_node(op_type, [names[at]], [names[at + 1]]) for at, op_type in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [2]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": np.array([1.0, -2.0])}, Origin("test"))


def test_the_guilty_operator_alone_takes_the_place_of_a_reduction_that_had_no_time(desk: Desk) -> None:
    """TVM 0.27 cannot convert Selu of doubles, whatever stands beside it."""
    failure = desk.judge.examine(doubles("Neg", "Selu", "Abs"), catalogue.target("tvm")).failure
    assert failure is not None
    desk.store.record(0, (), [Signer(desk.runner).describe(failure)])
    [bug] = desk.store.bugs()
    desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=failure.case, nodes=3)
    locating.locate(desk, desk.store.bug(bug.id))
    found = desk.store.bug(bug.id)
    assert (found.state, found.operators, found.nodes) == (State.LOCATED, ("Selu",), 1)
    assert found.reduced_case_id is not None and node_count(desk.store.case(found.reduced_case_id)) == 1


def test_what_is_wrong_beside_a_wrong_type_is_a_bug_of_its_own(desk: Desk) -> None:
    """TVM returns what it was given in the place of the batch's mean, in whatever type, and float32 beside that."""
    tensors = [b'{"dtype": "float16", "shape": [3, 1], "values": [1, 2, 3]}']
    tensors += [b'{"dtype": "float16", "shape": [1], "values": [1]}'] * 4
    text = b'{"api": "torch.native_batch_norm", "args": [%s, true, 0.0, 0.0]}' % b", ".join(tensors)
    failure = desk.judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:dtype"
    desk.store.record(0, (), [Signer(desk.runner).describe(failure)])
    [bug] = desk.store.bugs()
    desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=failure.case, nodes=1)
    [number] = locating.locate(desk, desk.store.bug(bug.id))
    other = desk.store.bug(number)
    assert (other.state, other.symptom) == (State.NEW, "wrong:values")
    assert desk.store.bug(bug.id).state is State.LOCATED
