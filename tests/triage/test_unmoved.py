"""A wrong result that no number of the input moves is told to be one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage.conditions import conditions
from triage.inquiry import Inquiry
from triage.unmoved import KIND, unmoved

SAID = "Other numbers in the input give the very same wrong result, where the right one differs."


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failure_of(judge: Judge, case: Case, backend: str) -> Failure:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return failure


def test_what_is_read_beside_the_tensor_does_not_move_with_its_numbers(judge: Judge) -> None:
    """TVM 0.27 reads x[-1] where PyTorch means the last element."""
    pytest.importorskip("tvm")
    tensor = '{"dtype": "float32", "shape": [2], "values": [1, 2]}'
    call = f'{{"library": "torch", "api": "torch.Tensor.select", "args": [{tensor}, 0, -1]}}'
    failure = failure_of(judge, Case("instance", call.encode(), {}, Origin("test")), "tvm")
    assert [one.sentence for one in conditions(judge, failure) if one.kind == KIND] == [SAID]


MODEL = """<ir_version: 10, opset_import: ["" : 17]>
g (float[3] x) => (float[3] y) { y = OP (x) }"""


@pytest.mark.parametrize(("operator", "still"), [("Tanh", True), ("Sin", False), ("Relu", False)])
def test_a_result_that_moves_is_not_told(judge: Judge, operator: str, still: bool) -> None:
    planted = str(Path(__file__).with_name("planted_numbers.py"))
    model = parser.parse_model(MODEL.replace("OP", operator)).SerializeToString()
    case = Case("onnx", model, {"x": np.array([1, 200, 300], np.float32)}, Origin("test"))
    found = unmoved(Inquiry(judge, failure_of(judge, case, planted), 8))
    assert (found is not None and found.sentence == SAID) is still
