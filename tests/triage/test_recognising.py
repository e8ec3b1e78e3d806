"""Which failures of large models are taken for the same while a campaign runs, by real compilers' results."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status
from fuzz.runner import Runner
from triage.recognising import Recognised, Recogniser
from triage.records import NewFailure
from triage.submodel import load, with_model


def case(*nodes: tuple[str, str, str]) -> Case:
    made = [helper.make_node(name, [source], [target]) for name, source, target in nodes]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    last = helper.make_tensor_value_info(nodes[-1][2], TensorProto.FLOAT, [3])
    model = helper.make_model(
        helper.make_graph(made, "g", [info], [last]), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    return Case("onnx", model.SerializeToString(), {"x": np.array([-1, 0.5, 2], np.float32)}, Origin("test"))


def failure(found: Case, symptom: str, error: Error | None = None, fingerprint: str = "f") -> NewFailure:
    target = catalogue.target("onnxruntime", {})
    outcome = Outcome(Status.EXCEPTION if error else Status.WRONG, Stage.RUN, error=error)
    message = error.message if error else ""
    return NewFailure(Failure(found, target, outcome, None, "crash", symptom, ""), fingerprint, message=message)


@pytest.fixture(scope="module")
def runner():
    with Runner(jobs=1) as found:
        yield found


def test_one_operator_keeps_its_fingerprint(runner: Runner) -> None:
    recogniser = Recogniser(runner, catalogue.target("reference"))
    assert recogniser.recognise(failure(case(("Relu", "x", "y")), "wrong:values", fingerprint="abc")).key == "abc"


def test_exceptions_are_one_by_message_and_not_by_what_else_is_in_the_model(runner: Runner) -> None:
    recogniser = Recogniser(runner, catalogue.target("reference"))
    small, large = case(("Relu", "x", "a"), ("Exp", "a", "y")), case(("Tanh", "x", "a"), ("Neg", "a", "y"))
    one, other = Error("RuntimeError", "no such thing"), Error("RuntimeError", "another thing")
    keys = [
        recogniser.recognise(failure(found, "exception:RuntimeError", error, fingerprint)).key
        for found, error, fingerprint in ((small, one, "a"), (large, one, "b"), (large, other, "c"))
    ]
    assert keys[0] == keys[1] != keys[2]


def test_a_failure_is_known_if_one_of_its_complaints_is(runner: Runner) -> None:
    """What cannot be converted makes a frontend complain of everything behind it."""
    model = case(("Relu", "x", "a"), ("Exp", "a", "y"))

    def key(recogniser: Recogniser, message: str) -> str:
        return recogniser.recognise(failure(model, "exception:RuntimeError", Error("RuntimeError", message))).key

    split, conv = "Check 'length % parts == N' failed at split.hpp: uneven", "Check 'rank' failed at conv.cpp: unknown"
    recogniser = Recogniser(runner, catalogue.target("reference"))
    first = key(recogniser, f"{conv} {split}")
    assert key(recogniser, split) == key(recogniser, conv) == first
    assert key(recogniser, "Exception from pad.cpp: no such element type") != first
    again = Recogniser(runner, catalogue.target("reference"), {f"onnxruntime exception:RuntimeError {split}"})
    assert key(again, f"{conv} {split}").endswith(split)


def test_a_wrong_result_is_known_by_the_first_operator_that_differs(runner: Runner) -> None:
    """ONNX Runtime, given another operator than the reference, stands for a compiler that is wrong there."""
    right = case(("Relu", "x", "a"), ("Exp", "a", "b"), ("Tanh", "b", "y"))

    class Faulty(Runner):
        def run(self, asked: Case, target):  # type: ignore[no-untyped-def, override]
            if target.backend == "onnxruntime":
                model = load(asked)
                model.graph.node[1].op_type = "Sin"
                asked = with_model(asked, model)
            return runner.run(asked, target)

    recogniser = Recogniser(Faulty.__new__(Faulty), catalogue.target("reference"))
    assert recogniser.recognise(failure(right, "wrong:values")) == Recognised("onnxruntime wrong:values Exp", ("Exp",))
    sound = Recogniser(runner, catalogue.target("reference")).recognise(failure(right, "wrong:values"))
    assert sound.key == "onnxruntime wrong:values "
