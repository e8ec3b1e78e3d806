"""Bugs of the reference evaluator: found through compilers that agree against it, drafted for its own project."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, generators
from fuzz.campaign import Policy
from fuzz.case import Case, Origin, Status
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import hunt, pipeline
from triage.court.evidence import Ruling
from triage.court.hearing import Court
from triage.jury import NO_JURY, Jury
from triage.lifecycle import State
from triage.store import open_store


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=2000), jobs=2) as shared:
        yield shared


@pytest.fixture
def desk(runner: Runner, tmp_path: Path) -> Iterator[pipeline.Desk]:
    with open_store(tmp_path / "hunt.db", create=True) as store:
        yield pipeline.Desk(store, runner, catalogue.target("reference"), tmp_path / "reports")


def pooled(name: str = "pooled") -> Case:
    """Three axes, of which the evaluator's GlobalMaxPool keeps two; among operators that have nothing to do with it."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("GlobalMaxPool", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 1]),
    ]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.float32([[[1, 5, 2], [3, 4, 9]]])
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test", name))


def plain() -> Case:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": np.float32([1, -2, 3])}, Origin("test", "plain"))


def test_the_reference_is_wrong_where_two_others_agree_against_it(runner: Runner) -> None:
    reference = catalogue.target("reference")
    jury = Jury(runner, reference)
    verdict = jury.examine(pooled(), reference)
    assert verdict.failure is not None and verdict.failure.symptom == "wrong:shape"
    assert verdict.failure.target.backend == "reference" and verdict.failure.reference is not None
    assert dict(verdict.failure.reference.outputs)["y"].shape == (1, 2, 1)
    assert jury.examine(plain(), reference).status is Status.OK
    assert jury.examine(plain(), catalogue.target("onnxruntime")).status is Status.OK


def test_without_two_others_that_agree_nothing_is_said_of_the_reference(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triage.jury.JURORS", ("openvino",))
    reference = catalogue.target("reference")
    verdict = Jury(runner, reference).examine(pooled(), reference)
    assert (verdict.status, verdict.reason, verdict.failure) == (Status.SKIPPED, NO_JURY, None)


def test_the_court_hears_the_reference_through_those_who_contradict_it(runner: Runner) -> None:
    court = Court(runner, catalogue.target("reference"))
    found = court.hear(pooled(), catalogue.target("reference"))
    assert found.verdict is Ruling.REFERENCE_BUG and found.project == "onnx (reference evaluator)"
    assert "agree with each other, and not with the ONNX reference evaluator" in found.reason
    assert not [each for each in found.evidence if "the compiler" in each.sentence]
    assert court.hear(plain(), catalogue.target("reference")).verdict is None


@pytest.mark.parametrize(
    "backends", [("openvino",), ("onnxruntime", "openvino")], ids=["one accused", "in doubt at once"]
)
def test_a_bug_of_the_reference_is_drafted_for_its_own_project(
    backends: tuple[str, ...], desk: pipeline.Desk, tmp_path: Path
) -> None:
    targets = [catalogue.target(name) for name in backends]
    campaign = desk.store.begin_campaign({"test": 1})
    hunt.hunt(desk.store, campaign, [pooled()], targets, desk.reference, desk.runner, Policy())
    pipeline.advance_all(desk, desk.store.bugs())
    found = {bug.backend: bug for bug in desk.store.bugs() if bug.state is not State.SLIP}
    assert "openvino" not in found or found["openvino"].state is State.INVALID
    bug = found["reference"]
    assert (bug.state, bug.nodes) == (State.DRAFTED, 1), bug.note
    text = Path(str(bug.report_path)).read_text()
    assert "GlobalMaxPool returns shape" in text and "tests/python/reference_evaluator_test.py" in text
    script = Path(str(bug.report_path)).with_suffix(".py")
    imported = {line.split()[1].partition(".")[0] for line in script.read_text().splitlines() if "import " in line[:8]}
    assert imported <= {"numpy", "onnx"}
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 1 and "AssertionError" in ran.stderr
    test = Path(str(bug.report_path)).with_suffix(".test.py")
    ran = subprocess.run([sys.executable, test], capture_output=True, text=True, timeout=900, check=False)
    assert "FAILED (failures=1)" in ran.stderr


def test_a_result_that_two_compilers_share_by_rounding_accuses_nobody(desk: pipeline.Desk) -> None:
    """Both drop what a sum of 1e8 loses in float32 otherwise than the evaluator does."""
    nodes = [helper.make_node("Add", ["x", "c"], ["a"]), helper.make_node("Sub", ["a", "c"], ["y"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    big = helper.make_tensor("c", TensorProto.FLOAT, [], [1e8])
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [big])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([0.3, 1, 2])}, Origin("test", "rounding"))
    judgement = Court(desk.runner, desk.reference).hear(case, desk.reference)
    assert judgement.verdict is not Ruling.REFERENCE_BUG


def grouped() -> Case:
    """A transposed convolution in two groups of two channels, which the evaluator cannot put together."""
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 1, 1]),
        helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 2, 1, 1]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1]),
    ]
    graph = helper.make_graph(
        [helper.make_node("ConvTranspose", ["x", "w"], ["y"], group=2)], "g", infos[:2], infos[2:]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1)
    w = np.arange(1, 9, dtype=np.float32).reshape(4, 2, 1, 1)
    return Case("onnx", model.SerializeToString(), {"x": x, "w": w}, Origin("test", "grouped"))


def test_a_valid_model_that_the_reference_alone_cannot_evaluate_is_drafted_for_its_project(
    desk: pipeline.Desk,
) -> None:
    judgement = Court(desk.runner, desk.reference).hear(grouped(), desk.reference)
    assert judgement.verdict is Ruling.REFERENCE_BUG and judgement.project == "onnx (reference evaluator)"
    assert "agree on the result" in judgement.reason
    targets = [catalogue.target("onnxruntime")]
    hunt.hunt(desk.store, desk.store.begin_campaign({}), [grouped()], targets, desk.reference, desk.runner, Policy())
    pipeline.advance_all(desk, desk.store.bugs())
    [bug] = [bug for bug in desk.store.bugs() if bug.state is not State.SLIP]
    assert (bug.backend, bug.state, bug.nodes) == ("reference", State.DRAFTED, 1), bug.note
    path = Path(str(bug.report_path))
    text = path.read_text()
    assert "Two other implementations run the same model and agree on the result." in text
    assert "once the evaluator takes the model" in text
    for script in (path.with_suffix(".py"), path.with_suffix(".test.py")):
        ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900, check=False)
        assert ran.returncode == 1 and "could not broadcast" in ran.stderr


def test_that_the_reference_does_not_know_the_former_form_of_an_operator_is_no_bug(runner: Runner) -> None:
    case = next(case for case in generators.load("onnx_node")(0) if case.origin.test == "test_scan_sum")
    verdict = Jury(runner, catalogue.target("reference")).examine(case, catalogue.target("reference"))
    assert verdict.status is Status.INVALID and verdict.failure is None
    assert Jury(runner, catalogue.target("reference")).agreement(case) is not None


def test_a_model_that_breaks_the_specification_accuses_nobody(desk: pipeline.Desk) -> None:
    case = plain()
    model = onnx.load_model_from_string(case.model)
    model.graph.node[0].op_type = "NoSuchOperator"
    invalid = replace(case, model=model.SerializeToString())
    targets = [catalogue.target("onnxruntime")]
    hunt.hunt(desk.store, desk.store.begin_campaign({}), [invalid], targets, desk.reference, desk.runner, Policy())
    assert not desk.store.bugs()
    assert Court(desk.runner, desk.reference).hear(invalid, desk.reference).verdict is not Ruling.REFERENCE_BUG
