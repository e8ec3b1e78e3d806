"""What fails in an older operator set as well does not need a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage.inquiry import Inquiry
from triage.older import in_older

PLANTED = catalogue.target(str(Path(__file__).with_name("planted.py")))
NEWEST = onnx.defs.onnx_opset_version()


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failing(judge: Judge, version: int, op_type: str = "Sinh") -> Failure:
    infos = [[helper.make_tensor_value_info(name, 1, [2])] for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], "g", *infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([1, 2])}, Origin("test"))
    failure = judge.examine(case, PLANTED).failure
    assert failure is not None
    return failure


def test_a_model_that_fails_in_an_older_opset_is_said_to_do_so(judge: Judge) -> None:
    found = in_older(Inquiry(judge, failing(judge, NEWEST), 3))
    assert found is not None and not found.needed
    assert found.sentence == "In opset 22 the same model fails as well."


def test_a_settled_opset_is_not_asked_about(judge: Judge) -> None:
    asked = Inquiry(judge, failing(judge, 22), 3)
    assert in_older(asked) is None


def test_an_older_opset_in_which_it_does_not_fail_proves_nothing(judge: Judge) -> None:
    failure = failing(judge, NEWEST)
    other = replace(failure, symptom="wrong:shape")
    assert in_older(Inquiry(judge, other, 3)) is None
