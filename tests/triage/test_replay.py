"""Known cases on a revision: one letter each, run again where they fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz.case import Case, Origin, Revision, Status
from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.replay import Replay
from triage.revisions import listing
from triage.revisions.environments import Environments, Untestable


def case(operator: str, inputs: int = 1) -> Case:
    """One node over float vectors."""
    names = ["x", "y"][:inputs]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in names]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, [3])
    graph = helper.make_graph([helper.make_node(operator, names, ["out"])], "one", given, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    values = {name: np.array([1.5, -2.0, 4.0], np.float32) * (place + 1) for place, name in enumerate(names)}
    return Case("onnx", model.SerializeToString(), values, Origin("test", operator))


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner(jobs=2) as runner:
        yield runner


def replay(runner: Runner, folder: Path, *faults: str) -> tuple[Replay, Revision, Environments]:
    """The tiny compiler with these faults, ready to run."""
    tinyc.wheel(folder, "1.0", *faults)
    compiler = support.wheels(folder)
    environments = Environments(runner, folder / "root")
    return Replay(runner, compiler), environments.ensure(compiler, listing.find(compiler, "1.0")), environments


def test_each_case_gets_its_letter_and_only_failures_run_again(runner: Runner, tmp_path: Path) -> None:
    asked, revision, _ = replay(runner, tmp_path, "sub swaps", "neg dies")
    found = list(asked.run([case("Add", 2), case("Sub", 2), case("Neg"), case("Tanh"), case("Relu")], revision))
    assert [answer.letter for answer in found] == ["P", "W", "C", "E", "P"]
    assert [answer.runs for answer in found] == [1, 2, 2, 2, 1]
    assert [answer.failed for answer in found] == [0, 2, 2, 2, 0]
    assert found[1].symptom == "wrong:values"
    assert found[2].symptom.startswith("crash")


def test_a_result_that_varies_between_fresh_runs_is_flaky_never_a_failure(runner: Runner, tmp_path: Path) -> None:
    asked, revision, _ = replay(runner, tmp_path, "neg varies")
    letters = {answer.letter for answer in asked.run([case("Neg")] * 60, revision)}  # two in nine are seen to vary
    assert "F" in letters
    assert letters <= {"F", "P", "W"}


def test_one_fresh_run_is_taken_as_it_is(runner: Runner, tmp_path: Path) -> None:
    asked, revision, _ = replay(runner, tmp_path, "neg varies")
    found = [asked.once(case("Neg"), revision) for _ in range(12)]
    assert {answer.letter for answer in found} == {"P", "W"}
    assert {answer.runs for answer in found} == {1}


def test_a_build_that_is_gone_is_told_as_environment(runner: Runner, tmp_path: Path) -> None:
    asked, revision, environments = replay(runner, tmp_path)
    [environment] = environments.installed(asked.compiler).values()
    environments.remove(environment)
    with pytest.raises(Untestable, match=r"No such file|cannot be started"):
        list(asked.run([case("Add", 2)], revision))


def test_an_invalid_model_is_nothing_to_judge(runner: Runner, tmp_path: Path) -> None:
    asked, revision, _ = replay(runner, tmp_path)
    broken = Case("onnx", b"no model", {}, Origin("test"))
    [answer] = asked.run([broken], revision)
    assert (answer.letter, answer.status) == ("S", Status.INVALID)
