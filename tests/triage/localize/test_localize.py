"""Where a failure lies: planted faults whose place is known, and real ones of the installed compilers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Origin, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.localize import Location, Part, localize, operator, stages, switches
from triage.localize.trial import Answer, Trial
from triage.signing import Signer

PASSES = str(Path(__file__).with_name("planted_passes.py"))
PLANTED = str(Path(__file__).parents[1] / "planted.py")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def chain(*operators: str) -> Case:
    names = ["x", *(f"v{at}" for at in range(1, len(operators))), "y"]
    nodes = [helper.make_node(op_type, [names[at]], [names[at + 1]]) for at, op_type in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos[:1], infos[1:]), opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    )
    return Case("onnx", model.SerializeToString(), {"x": np.linspace(0.1, 0.7, 4, dtype=np.float32)}, Origin("test"))


def failing(judge: Judge, case: Case, target: Target) -> Failure:
    failure = judge.examine(case, target).failure
    assert failure is not None
    return failure


def located(judge: Judge, case: Case, target: Target) -> Location:
    failure = failing(judge, case, target)
    return localize(judge, failure, Signer(judge.runner).sign(failure))


# ---------------------------------------------------------------- passes


@pytest.mark.parametrize(("op_type", "guilty"), [("Sinh", "FuseBroken"), ("Tan", "FoldBroken")])
def test_the_pass_without_which_it_passes_is_found_among_passes_it_cannot_do_without(
    judge: Judge, op_type: str, guilty: str
) -> None:
    found = located(judge, chain(op_type), catalogue.target(PASSES))
    assert found.pass_ == guilty
    assert any(guilty in sentence and "twice" in sentence for sentence in found.evidence)


def test_of_a_pass_that_is_wrong_behind_another_both_are_told(judge: Judge) -> None:
    found = located(judge, chain("Erf"), catalogue.target(PASSES))
    assert found.pass_ == "Simplify3 + Tidy"
    assert (
        "with Simplify3 left out it passes, with it it fails (each seen twice); it passes with Tidy left out as well, "
        "so it takes them together" in found.evidence
    )


def test_no_pass_is_named_when_none_is_to_blame(judge: Judge) -> None:
    found = located(judge, chain("Cosh"), catalogue.target(PASSES))
    assert found.pass_ == "" and not any("with it it fails" in sentence for sentence in found.evidence)


def test_two_passes_that_each_suffice_to_break_it_are_not_blamed_alone(judge: Judge) -> None:
    """With either left out the other still breaks it: no single pass makes the difference."""
    trial = Trial(judge, failing(judge, chain("Sinh"), catalogue.target(PASSES)))

    def broken_by_two(case: Case | None = None, target: Target | None = None, *, fresh: bool = False) -> Answer:
        disabled = dict(target.options)["disable"].split(",") if target else []
        return Answer.PASSES if {"Tidy", "Emit"} <= set(disabled) else Answer.SAME

    trial.ask = broken_by_two  # type: ignore[method-assign]
    assert switches.search(trial, ["Legalize", "Tidy", "Emit", "Fold"]) == ""


def test_a_search_ends_with_its_time(judge: Judge) -> None:
    trial = Trial(judge, failing(judge, chain("Sinh"), catalogue.target(PASSES)), deadline=0.0)
    assert switches.search(trial, ["FuseBroken"]) == "" and trial.runs == 0


def test_a_flip_must_be_seen_each_time(judge: Judge) -> None:
    trial = Trial(judge, failing(judge, chain("Sinh"), catalogue.target(PASSES)))
    answers = iter([Answer.PASSES, Answer.SAME])
    trial.ask = lambda *_, **__: next(answers)  # type: ignore[method-assign]
    assert not trial.flips(trial.target(disable="FuseBroken"))


def test_of_inductors_passes_those_that_tell_more_are_asked_about_first() -> None:
    names = ["decomposition aten.elu", "joint_graph_passes noop", "lowerings exp", "fusion"]
    behind = switches._ordered("inductor", names, Location(stage=Part.BEHIND))
    assert behind == ["fusion", "lowerings exp", "joint_graph_passes noop"]
    assert switches._ordered("inductor", names, Location(stage=Part.FRONTEND)) == ["decomposition aten.elu"]


def test_what_fails_in_eager_with_more_words_is_not_laid_on_inductor(judge: Judge) -> None:
    """inductor's code raises "u0 <= 4"; backend="eager" says of the same "Runtime assertion failed for ... on node"."""
    pytest.importorskip("torch")
    tensors = [
        {"dtype": "float32", "shape": [2, 1, 2], "values": [1.0] * 4},
        {"dtype": "bool", "shape": [2, 2], "values": [True] * 4},
    ]
    both = [{"tensor": 0}, {"tensor": 1}]
    call = {"library": "torch", "api": "torch.masked_select", "args": both, "tensors": tensors}
    case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
    found = located(judge, case, catalogue.target("inductor"))
    assert found.stage is Part.FRONTEND
    assert 'backend="eager" fails as well: Dynamo\'s capture of the graph is at fault' in found.evidence


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("u0 <= 100", Answer.SAME),
        ("Assertion failed for u0 <= 100 on node 'le'", Answer.SAME),
        ("Assertion failed for u0 <= 1000", Answer.OTHER),
        ("<=", Answer.OTHER),
        ("no kernel for this type", Answer.OTHER),
    ],
)
def test_a_message_within_another_of_the_same_case_is_the_same_failure(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, message: str, answer: Answer
) -> None:
    def raising(words: str) -> Failure:
        outcome = replace(failure.outcome, error=Error("RuntimeError", words))
        return replace(failure, oracle="crash", symptom="exception:RuntimeError", outcome=outcome)

    failure = failing(judge, chain("Sinh"), catalogue.target(PASSES))
    trial = Trial(judge, raising("u0 <= 100"))
    verdict = replace(judge.examine(failure.case, failure.target), failure=raising(message))
    monkeypatch.setattr(Judge, "examine", lambda *_, **__: verdict)
    assert trial.ask() is answer
    other = chain("Sinh", "Sinh")  # another case has numbers of its own
    verdict = replace(verdict, failure=replace(raising(message), case=other))
    assert trial.ask(other) is (answer if message == "u0 <= 100" else Answer.OTHER)


def test_a_pass_that_only_checks_is_not_asked_about(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(switches.NOT_ASKED, "planted_passes", ("FuseBroken",))
    assert located(judge, chain("Sinh"), catalogue.target(PASSES)).pass_ == ""


# ---------------------------------------------------------------- operators


@pytest.mark.parametrize("position", range(5))
def test_the_operator_is_found_wherever_it_stands(judge: Judge, position: int) -> None:
    operators = ["Neg", "Abs", "Sqrt", "Exp"]
    operators.insert(position, "Sinh")
    trial = Trial(judge, failing(judge, chain(*operators), catalogue.target(PLANTED)))
    found = operator.locate(trial, Location())
    assert found.operator == "Sinh" and "Sinh alone" in found.evidence[0]


def test_a_single_operator_needs_no_search(judge: Judge) -> None:
    trial = Trial(judge, failing(judge, chain("Sinh"), catalogue.target(PLANTED)))
    assert operator.locate(trial, Location()).operator == "Sinh" and trial.runs == 0


def test_an_operator_that_only_makes_an_earlier_mistake_visible_is_not_blamed(judge: Judge) -> None:
    """The planted Asinh is off by a millionth, which is noise until Log sees it."""
    small = replace(chain("Asinh", "Log"), inputs={"x": np.full(4, 1e-9, np.float32)})
    trial = Trial(judge, failing(judge, small, catalogue.target(PASSES)))
    assert trial.failure.symptom == "wrong:values"
    assert operator.locate(trial, Location()).operator == ""


# ---------------------------------------------------------------- stages


def test_what_fails_while_it_converts_is_the_frontends(judge: Judge) -> None:
    """The planted Unlowered is raised after convert: that proves nothing of the frontend."""
    failure = failing(judge, chain("Ceil"), catalogue.target(PLANTED))
    assert failure.outcome.stage is Stage.RUN
    assert stages.locate(Trial(judge, failure), Location()).stage is Part.UNKNOWN


@pytest.mark.parametrize(("shape", "stage"), [("wrong", Part.FRONTEND), ("unknown", Part.UNKNOWN)])
def test_a_wrong_shape_is_the_frontends_only_if_its_graph_declares_it(judge: Judge, shape: str, stage: Part) -> None:
    failure = failing(judge, chain("Neg"), catalogue.target(PASSES, {"shape": shape}))
    assert failure.symptom == "wrong:shape"
    assert stages.locate(Trial(judge, failure), Location()).stage is stage


@pytest.mark.parametrize(
    ("spelled", "contradicts"),
    [("?", False), ("float32[2,3]", False), ("float32[2,?]", False), ("float32[?,?]", False)]
    + [(wrong, True) for wrong in ("float32[3,2]", "float32[?]", "float32[]", "float64[2,3]", "float32[2,3,1]")],
)
def test_a_declaration_contradicts_only_what_it_rules_out(spelled: str, contradicts: bool) -> None:
    assert stages._contradicts(spelled, "float32", (2, 3)) is contradicts
    assert not stages._contradicts("int64[]", "int64", ())


def test_knowing_more_keeps_what_was_known() -> None:
    behind = Location().learn("a", stage=Part.BEHIND, operator="Abs")
    exact = behind.learn("b", stage=Part.LOWERING, operator="Neg")
    assert (exact.stage, exact.operator, exact.evidence) == (Part.LOWERING, "Abs", ("a", "b"))
    assert exact.learn("c", stage=Part.FRONTEND).stage is Part.LOWERING


def test_a_hang_is_not_looked_into(judge: Judge) -> None:
    """Every question would take the time limit."""
    failure = failing(judge, chain("Sinh"), catalogue.target(PASSES))
    hang = replace(failure, symptom="hang", outcome=replace(failure.outcome, status=Status.TIMEOUT))
    asked: list[object] = []
    watched = replace(judge, runner=asked)  # type: ignore[arg-type]  would fail if it were asked anything
    assert localize(watched, hang, Signer(judge.runner).sign(failure)).stage is Part.UNKNOWN


# ---------------------------------------------------------------- real compilers


def reduction(op_type: str) -> Case:
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [2, 0]), ("y", [2, 1]))
    )
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    graph = helper.make_graph([helper.make_node(op_type, ["x", "axes"], ["y"])], "g", [x], [y], [axes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": np.zeros((2, 0), np.float32)}, Origin("test"))


def test_openvinos_interpreter_clears_the_frontend(judge: Judge) -> None:
    """OpenVINO 2026.4's CPU plugin gives the largest float32 for the minimum of nothing, its interpreter infinity."""
    found = located(judge, reduction("ReduceMin"), catalogue.target("openvino"))
    assert (found.stage, found.operator) == (Part.BEHIND, "ReduceMin")
    assert found.root_cause == "Incorrect Numerical Computation"


def test_tvms_wrong_operator_is_found_among_others(judge: Judge) -> None:
    """TVM 0.27 ignores detect_positive of IsInf."""
    model = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Neg", ["x"], ["a"]),
                helper.make_node("IsInf", ["a"], ["b"], detect_positive=0),
                helper.make_node("Not", ["b"], ["y"]),
            ],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
            [helper.make_tensor_value_info("y", TensorProto.BOOL, [2])],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=9,
    )
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([-np.inf, 1])}, Origin("test"))
    trial = Trial(judge, failing(judge, case, catalogue.target("tvm")))
    assert operator.locate(trial, Location()).operator == "IsInf"


def test_tvms_frontend_declares_the_wrong_shape_itself(judge: Judge) -> None:
    """Index tensors on both sides of a new axis: TVM 0.27 leaves the axis where it is written."""
    document = {
        "library": "torch",
        "api": "torch.Tensor.__getitem__",
        "args": [{"tensor": 0}, {"tuple": [{"tensor": 1}, None, {"tensor": 1}]}],
        "tensors": [
            {"dtype": "float32", "shape": [2, 2]},
            {"dtype": "int64", "shape": [2], "values": [0, 1]},
        ],
    }
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    found = located(judge, case, catalogue.target("tvm"))
    assert found.stage is Part.FRONTEND and any("declares output_0 as" in said for said in found.evidence)
    assert found.root_cause == "Tensor Shape Problem" and found.conversion_function.endswith("_index_tensor")
    assert found.operator == "aten.index.Tensor"


def test_tvms_passes_lose_a_type_that_its_frontend_declares(judge: Judge) -> None:
    """TVM 0.27 legalises the normalisation of a batch in float32, whatever the type of the data."""
    weights = {"dtype": "float32", "shape": [2]}
    document = {
        "library": "torch",
        "api": "torch.nn.functional.instance_norm",
        "args": [{"tensor": 0}, {"tensor": 1}, {"tensor": 2}],
        "tensors": [{"dtype": "bfloat16", "shape": [1, 2, 2]}, weights, weights],
    }
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    found = located(judge, case, catalogue.target("tvm"))
    assert found.stage is Part.BEHIND
    assert any("bfloat16[1,2,2], which is right; after the pass LegalizeOps" in said for said in found.evidence)


def test_an_operator_that_raises_something_else_alone_is_not_said_to_fail_in_the_same_way(judge: Judge) -> None:
    """TVM cannot legalize an RMSNormalization of a known shape, and does not lower one of an unknown shape."""
    model = parser.parse_model("""
        <ir_version: 11, opset_import: ["" : 23]> g (float[2,2] x) => (float[2] y)
        <bool[3] at = {1, 0, 1}, float[2] scale = {1, 2}> { part = Compress (x, at) y = RMSNormalization (part, scale) }
    """)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([[1, 2], [3, 4]])}, Origin("test"))
    trial = Trial(judge, failing(judge, case, catalogue.target("tvm")))
    assert trial.failure.symptom == "exception:tvm.error.InternalError"
    assert operator.locate(trial, Location()) == Location()
