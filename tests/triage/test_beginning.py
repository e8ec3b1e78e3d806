"""Where failures of large models begin: ONNX Runtime, told to err at some operators, stands for a compiler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status, Target
from fuzz.runner import Runner
from triage.beginning import Beginning, beginning
from triage.submodel import load, with_model

CHAIN = ("Relu", "Exp", "Tanh", "Neg", "Abs", "Sigmoid", "Floor")


@pytest.fixture(scope="module")
def runner():
    with Runner(jobs=1) as found:
        yield found


def chain() -> Case:
    names = ["x", *"abcdef", "y"]
    made = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(CHAIN)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy"]
    graph = helper.make_graph(made, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": np.array([0.2, 0.5, 2], np.float32)}, Origin("test"))


def failure(symptom: str) -> Failure:
    outcome = Outcome(Status.EXCEPTION, Stage.COMPILE, error=Error("RuntimeError", "no"))
    return Failure(chain(), catalogue.target("onnxruntime", {}), outcome, None, "crash", symptom, "")


def begins(runner: Runner, errs, symptom: str = "exception:RuntimeError") -> Beginning | None:  # type: ignore[no-untyped-def]
    """`errs` is given the model, and says what it raises, or which operator it takes for another one."""

    class Faulty(Runner):
        def run(self, asked: Case, target: Target) -> Outcome:  # type: ignore[override]
            if target.backend != "onnxruntime":
                return runner.run(asked, target)
            model = load(asked)
            said, wrong = errs(model.graph)
            if said:
                return Outcome(Status.EXCEPTION, Stage.COMPILE, error=Error("RuntimeError", said))
            for node in model.graph.node:
                if node.op_type == wrong:
                    node.op_type = "Sin"
            return runner.run(with_model(asked, model), target)

    return beginning(Faulty.__new__(Faulty), failure(symptom), catalogue.target("reference"))


def types(graph: onnx.GraphProto) -> list[str]:
    return [node.op_type for node in graph.node]


@pytest.mark.parametrize("guilty", CHAIN)
def test_an_exception_begins_at_the_operator_without_which_nothing_is_raised(runner: Runner, guilty: str) -> None:
    found = begins(runner, lambda graph: (f"cannot take {guilty}" if guilty in types(graph) else "", ""))
    assert found == Beginning(guilty, "exception:RuntimeError", f"cannot take {guilty}")


def test_what_later_operators_complain_of_begins_where_a_result_is_wrong(runner: Runner) -> None:
    found = begins(runner, lambda graph: ("Abs: inconsistent" if "Abs" in types(graph) else "", "Exp"))
    assert found == Beginning("Exp", "wrong:values")


def test_a_wrong_result_begins_at_the_first_operator_whose_result_is_wrong(runner: Runner) -> None:
    assert begins(runner, lambda graph: ("", "Neg"), "wrong:values") == Beginning("Neg", "wrong:values")


def test_what_fails_only_while_no_output_shows_it_is_found_without_further_outputs(runner: Runner) -> None:
    def fuses(graph: onnx.GraphProto) -> tuple[str, str]:
        return ("bad fusion" if "Neg" in types(graph) and len(graph.output) == 1 else "", "")

    assert begins(runner, fuses) == Beginning("Neg", "exception:RuntimeError", "bad fusion")


def test_a_failure_that_no_beginning_shows_begins_nowhere(runner: Runner) -> None:
    assert begins(runner, lambda graph: ("", "")) is None


def test_results_are_known_by_their_places_whatever_a_compiler_calls_them(runner: Runner) -> None:
    """OpenVINO gives the result of an If the name that it has in the branch: no name of the graph."""

    class Renaming(Runner):
        def run(self, asked: Case, target: Target) -> Outcome:  # type: ignore[override]
            if target.backend != "onnxruntime":
                return runner.run(asked, target)
            model = load(asked)
            for node in model.graph.node:
                if node.op_type == "Neg":
                    node.op_type = "Sin"
            outcome = runner.run(with_model(asked, model), target)
            return replace(outcome, outputs=tuple((f"inner_{name}", value) for name, value in outcome.outputs))

    found = beginning(Renaming.__new__(Renaming), failure("wrong:values"), catalogue.target("reference"))
    assert found == Beginning("Neg", "wrong:values")
