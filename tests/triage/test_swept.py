"""A function of one number is asked about hundreds at once, and a draft tells for which of them it is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin, Outcome, Stage, Status
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import swept
from triage.conditions import conditions
from triage.inquiry import Condition, Inquiry


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(op_type: str, given: np.ndarray, kind: int = TensorProto.FLOAT, **attributes: int) -> Case:
    infos = [
        helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(given.dtype), given.shape),
        helper.make_tensor_value_info("y", kind, given.shape),
    ]
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"], **attributes)], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": given}, Origin("test", op_type))


def told(judge: Judge, case: Case, compiler: str) -> Condition | None:
    failure = judge.examine(case, catalogue.target(compiler)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return swept.swept(Inquiry(judge, failure, 4))


def test_a_cast_that_reads_some_kinds_of_numbers_wrongly_is_told_by_all_of_them(judge: Judge) -> None:
    """TVM 0.27 reads the exponents of zero, subnormal numbers and infinity as any others; a zero passes for right."""
    pytest.importorskip("tvm")
    given = np.array([1.0, np.nan]).astype(ml_dtypes.float8_e5m2)
    found = told(judge, case_of("Cast", given, to=TensorProto.FLOAT), "tvm")
    assert found is not None and found.needed and found.text == "zero, subnormal, infinite and NaN input"
    assert found.sentence == (
        "Of all 256 numbers of float8e5m2 in `x` 16 are wrong: those that are zero, subnormal, infinite and NaN."
    )


def test_an_approximation_that_is_off_from_a_number_on_is_told_by_that_number(judge: Judge) -> None:
    """OpenVINO 2026.4 computes erfinv beyond 0.9966, where a second polynomial begins, with the wrong one."""
    pytest.importorskip("openvino")
    tensor = {"dtype": "float32", "shape": [2], "values": [0.5, 0.999]}
    text = {"api": "torch.special.erfinv", "args": [{"tensor": 0}], "library": "torch", "tensors": [tensor]}
    found = told(judge, Case("instance", json.dumps(text).encode(), {}, Origin("test")), "openvino")
    assert found is not None and found.needed
    words, _, rest = found.text.partition("input above ")
    limit, _, size = rest.partition(" ")
    assert (words, size) == ("", "in size") and 0.9965 < float(limit) < 0.9967


def test_large_numbers_are_told_by_the_number_from_which_on_they_are(judge: Judge) -> None:
    """OpenVINO 2026.4 does not saturate: what is beyond the tie of 448 and 480 becomes NaN, whatever is asked for."""
    pytest.importorskip("openvino")
    case = case_of("Cast", np.array([1, 1000], np.float32), TensorProto.FLOAT8E4M3FN, to=TensorProto.FLOAT8E4M3FN)
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    values = [one.text for one in conditions(judge, failure) if one.kind == "value"]
    assert values == ["input above 464.13 in size"]


@pytest.mark.parametrize(("op_type", "alone"), [("Exp", True), ("Softmax", False), ("LpNormalization", False)])
def test_what_hangs_on_other_numbers_too_is_no_function_of_one(judge: Judge, op_type: str, alone: bool) -> None:
    case = case_of(op_type, np.linspace(-1, 1, 8, dtype=np.float32))
    outcome = Outcome(Status.WRONG, Stage.RUN)
    reference = judge.runner.run(case, judge.reference)
    failure = Failure(case, catalogue.target("onnxruntime"), outcome, reference, "inconsistency", "wrong:values", "")
    inquiry = Inquiry(judge, failure, 4)
    assert swept._is_of_each_alone(inquiry, "x", np.linspace(-2, 2, 41, dtype=np.float32)) is alone


def test_numbers_in_between_are_told_by_no_limit(judge: Judge) -> None:
    case = case_of("Exp", np.float32([1]))
    failure = Failure(
        case, catalogue.target("onnxruntime"), Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:nan", ""
    )
    inquiry = Inquiry(judge, failure, 0)  # nothing may be asked: the limit stays as wide as it is
    numbers = np.arange(-4, 5, dtype=np.int64)
    assert swept._by_limit(inquiry, "x", "input", numbers, (numbers > -2) & (numbers < 2)) is not None, "in size"
    assert swept._by_limit(inquiry, "x", "input", numbers, numbers % 2 == 0) is None
    below = swept._by_limit(inquiry, "x", "input", numbers, numbers < 0)
    assert below is not None and below.text == "input below 0"
