"""What the answer of a neighbour means."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status, Verdict
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage.inquiry import Inquiry
from triage.localize.trial import words


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def two_results(first: float, second: float) -> Failure:
    """A model of two operators that have nothing to do with each other, and what a compiler makes of it."""
    nodes = [helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Abs", ["c"], ["d"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "acbd"]
    model = helper.make_model(helper.make_graph(nodes, "g", infos[:2], infos[2:]), ir_version=10)
    one = np.ones(1, np.float32)
    case = Case("onnx", model.SerializeToString(), {"a": one, "c": one}, Origin("t"))
    given = (("b", np.full(1, first, np.float32)), ("d", np.full(1, second, np.float32)))
    right = Outcome(Status.OK, Stage.RUN, outputs=(("b", -one), ("d", one)))
    wrong = Outcome(Status.WRONG, Stage.RUN, outputs=given)
    return Failure(case, catalogue.target("onnxruntime"), wrong, right, "inconsistency", "wrong:values", "")


@pytest.mark.parametrize(("first", "second", "answer"), [(-1, 5, None), (5, 1, False), (5, 5, False)])
def test_a_neighbour_of_which_only_other_results_are_wrong_says_nothing(
    first: float, second: float, answer: bool | None, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure, other = two_results(7, 1), two_results(first, second)
    verdict = Verdict(other.case, other.target, Status.WRONG, "", other.outcome, other)
    monkeypatch.setattr(Judge, "examine", lambda *args, **kwargs: verdict)
    neighbour = dataclasses.replace(failure.case, inputs={**failure.case.inputs, "a": np.zeros(1, np.float32)})
    assert Inquiry(judge, failure, 4).passes(neighbour) is answer


def test_a_death_in_a_warm_worker_is_asked_about_again_alone(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenVINO writes beyond a scalar whose shape it gets wrong, and the next case in that worker dies of it."""
    failure = two_results(7, 1)
    died = Verdict(failure.case, failure.target, Status.SIGNAL, "died", Outcome(Status.SIGNAL, Stage.RUN))
    right = Verdict(failure.case, failure.target, Status.OK, "", failure.reference)
    monkeypatch.setattr(Judge, "examine", lambda *args, fresh: right if fresh else died)
    assert Inquiry(judge, failure, 4).passes(failure.case) is True


def test_an_exception_about_a_type_is_the_same_whatever_the_type() -> None:
    """TVM names T.bool and T.int64; the one has no digit."""

    def told(dtype: str) -> str:
        error = Error("TypeError", f"relax.erf requires float dtype. However, the given input dtype is {dtype}")
        outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=error)
        case = Case("instance", b"{}", {}, Origin("test"))
        return words(Failure(case, catalogue.target("tvm"), outcome, None, "crash", "exception:TypeError", ""))

    assert told("T.bool") == told("T.int64") == told("boolean") != told("unknown")
