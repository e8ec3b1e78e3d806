"""The judge: from outcomes to verdicts, and each verdict with its reason."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from fuzz import catalogue, judge
from fuzz.case import Case, Error, Origin, Outcome, Stage, Status, Target
from fuzz.judge import ChunkJudge, Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.wire import Value

MakeCase = Callable[..., Case]


@pytest.fixture(scope="module")
def court() -> Iterator[Judge]:
    with Runner(Limits(seconds=600, memory_mb=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def ok(*values: float) -> Outcome:
    return Outcome(Status.OK, Stage.RUN, outputs=(("y", np.array(values, dtype=np.float32)),))


def test_a_crash_comes_before_a_comparison() -> None:
    crashed = Outcome(Status.SIGNAL, Stage.RUN, error=Error(signal="SIGSEGV"))
    assert judge.symptom(crashed, Reference(ok(1))) == ("crash:SIGSEGV", "the process died of SIGSEGV")


def test_the_rule_for_values_is_the_targets() -> None:
    near = [1.0] * 1000
    assert judge.rule(catalogue.target("mnn")) == judge.rule(catalogue.target("onnxruntime")) == "chebyshev"
    ratio = judge.rule(catalogue.target("mnn", {"rule": "ratio"}))
    assert judge.symptom(ok(9, *near), Reference(ok(1, *near)), ratio) == ("", "")
    found, detail = judge.symptom(ok(9, 9, *near), Reference(ok(1, 1, *near)), ratio)
    assert found == "wrong:values"
    assert detail == "2 of 1002 elements have a relative error above 0.1 %, at [0]: 9 instead of 1"


@pytest.mark.parametrize(
    ("value", "excuse"),
    [
        (np.array([2**31 - 1]), ""),
        (np.array([1, 2**31]), "mnn holds int64 in int32, which changes values of y"),
        (np.array([0.5, np.nan, np.inf]), ""),
        (np.array([0.1]), "mnn holds float64 in float32, which changes values of y"),
        (np.array([1], np.float16), "mnn has no tensors of float16, as which y is computed"),
        ([np.array([1])], "mnn has no tensors of sequence, as which y is computed"),
        (np.array([0.1], np.float32), ""),
        (np.zeros((0, 2), np.int64), ""),
    ],
    ids=repr,
)
def test_wrong_values_that_a_compiler_cannot_hold_are_excused(value: Value, excuse: str) -> None:
    target = catalogue.target("mnn")
    assert judge._not_carried(target, "wrong:values", {"y": value}) == excuse
    assert judge._not_carried(target, "wrong:shape", {"y": value}) == ""
    assert judge._not_carried(catalogue.target("tvm"), "wrong:values", {"y": value}) == ""


def test_values_without_a_reference_are_not_compared() -> None:
    assert judge.symptom(ok(1), Reference(ok(2), incomparable="random by definition")) == ("", "")


def test_random_values_have_the_dtype_and_number_that_they_must() -> None:
    known = Reference(ok(1, 2), incomparable="random by definition")
    more = replace(ok(7, 8), outputs=(*ok(7, 8).outputs, ("z", np.float32([7]))))
    assert judge.symptom(more, known)[0] == "wrong:count"
    assert judge.symptom(replace(ok(7, 8), outputs=(("y", np.int8([7, 8])),)), known)[0] == "wrong:dtype"


def test_values_of_an_invalid_model_are_not_compared() -> None:
    assert judge.symptom(ok(1), Reference(ok(2), invalid="rejected by onnx.checker")) == ("", "")


def test_a_difference_is_a_symptom_with_a_sentence() -> None:
    found, detail = judge.symptom(ok(1, 2), Reference(ok(1, 3)))
    assert found == "wrong:values" and "Chebyshev distance 1 at [1]: 2 instead of 3" in detail


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("", Status.OK),
        ("wrong_result", Status.WRONG),
        ("plain_exception", Status.EXCEPTION),
        ("null_dereference", Status.SIGNAL),
        ("cannot_feed", Status.SKIPPED),
    ],
)
def test_examining_a_case_runs_reference_and_target(
    court: Judge, faulty: Target, case: MakeCase, fault: str, status: Status
) -> None:
    for fresh in (True, False):
        verdict = court.examine(case(fault), faulty, fresh=fresh)
        assert verdict.status is status
        assert bool(verdict.failure) is (status in (Status.WRONG, Status.EXCEPTION, Status.SIGNAL))


def test_a_failure_carries_both_outcomes(court: Judge, faulty: Target, case: MakeCase) -> None:
    failure = court.examine(case("wrong_result"), faulty).failure
    assert failure is not None and failure.reference is not None
    assert (failure.oracle, failure.symptom) == ("inconsistency", "wrong:values")
    assert failure.outcome.status is Status.WRONG and failure.reference.status is Status.OK


def test_a_verdict_of_unsupported_gives_the_rules_reason(court: Judge) -> None:
    from onnx import TensorProto, helper

    from fuzz.case import Origin

    x = helper.make_tensor_value_info("x", TensorProto.INT16, [3])
    y = helper.make_tensor_value_info("y", TensorProto.INT16, [3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = np.array([-1, 0, 1], dtype=np.int16)
    case = Case("onnx", model.SerializeToString(), {"x": data}, Origin("t"))
    verdict = court.examine(case, catalogue.target("onnxruntime"))
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason == "no kernel for an operator or its types"


def test_a_call_against_the_documentation_may_be_refused_and_one_that_keeps_to_it_may_not(court: Judge) -> None:
    """TVM adds a bfloat16 and a float32 tensor in addmm, and raises."""
    pytest.importorskip("tvm")
    tensors = b'{"dtype": "bfloat16", "values": [1]}, {"dtype": "bfloat16", "values": [[1]]}'
    text = b'{"api": "torch.addmm", "args": [%s, {"dtype": "bfloat16", "values": [[1]]}]}' % tensors
    against, conforming = (
        court.examine(Case("instance", text, {}, Origin("docs", f"torch.addmm {what}")), catalogue.target("tvm"))
        for what in ("dtype of mat1", "conforming")
    )
    assert against.status is Status.SKIPPED and against.failure is None
    assert against.reason == "the call breaks what the documentation says of the dtype of mat1"
    assert conforming.failure is not None and conforming.failure.symptom == "exception:TypeError"


def chunk(court: Judge, faulty: Target, case: Case, others: dict[str, Outcome]) -> ChunkJudge:
    outcomes = {(case.id, faulty.id): ok(98.5, 102, 103)}
    outcomes |= {(case.id, f"{name}@1"): outcome for name, outcome in others.items()}
    return ChunkJudge(court, {case.id: Reference(ok(0, 2, 3))}, outcomes)


@pytest.mark.parametrize(
    ("others", "status"),
    [
        ({}, Status.WRONG),
        ({"a": ok(0, 2, 3)}, Status.WRONG),
        ({"a": ok(98.5, 102, 103)}, Status.SKIPPED),
        ({"a": ok(98.5, 102, 103), "b": ok(0, 2, 3)}, Status.WRONG),
        ({"a": ok(7, 7, 7)}, Status.WRONG),
        ({"a": Outcome(Status.UNSUPPORTED, Stage.RUN)}, Status.WRONG),
    ],
    ids=["alone", "one against", "one with", "one each", "a third opinion", "no opinion"],
)
def test_other_backends_vote_on_a_wrong_result(
    court: Judge, faulty: Target, case: MakeCase, others: dict[str, Outcome], status: Status
) -> None:
    accused = case("wrong_result")
    [verdict] = chunk(court, faulty, accused, others).verdicts(accused, faulty)
    assert verdict.status is status
