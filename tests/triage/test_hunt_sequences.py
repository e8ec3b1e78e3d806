"""Hunts with sequences of passes: what fails is kept after its guilty passes alone, and they tell bugs apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, sequences
from fuzz.campaign import Policy
from fuzz.case import Case, Origin, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import pipeline
from triage.hunt import hunt
from triage.lifecycle import State
from triage.localize import order
from triage.signing import Signer
from triage.steps.desk import Desk
from triage.store import open_store

PLANTED = catalogue.target(str(Path(__file__).with_name("planted_sequences.py")))
REFERENCE = catalogue.target("reference")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, REFERENCE)


def case(op_type: str) -> Case:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": np.linspace(0.1, 0.7, 4, dtype=np.float32)}, Origin("test"))


def after(*steps: str) -> Target:
    return sequences.only(PLANTED, steps)


def test_bugs_are_told_apart_by_the_passes_that_they_need(judge: Judge, tmp_path: Path) -> None:
    targets = [
        PLANTED,
        after("Fold", "BreakLate", "Tidy", "Fuse"),
        after("Tidy", "Fuse", "BreakEarly"),
        after("BreakLate", "Fuse"),
        after("Fuse", "BreakEarly"),  # harmless alone
    ]
    with open_store(tmp_path / "hunt.db", create=True) as store:
        campaign = store.begin_campaign({"test": 1})
        learnt: list[str] = []
        hunt(
            store, campaign, [case("Sinh"), case("Tan")], targets, REFERENCE, judge.runner, Policy(),
            learn=lambda name, status, key, suspects: learnt.append(key),
        )  # fmt: skip
        late, early = sorted(store.bugs(), key=lambda bug: len(sequences.of(bug.target)))
        assert [sequences.of(bug.target) for bug in (late, early)] == [("BreakLate",), ("Tidy", "BreakEarly")]
        assert late.conversion_function == early.conversion_function and late.symptom == early.symptom
        assert [bug.count for bug in (late, early)] == [1, 1], "one case after the same passes is one failure"
        assert late.why.endswith("after BreakLate") and early.why.endswith("after Tidy and BreakEarly")
        assert store.counts(campaign.id).bugs == 2
        assert len([key for key in learnt if key]) == 3 and len(learnt) == 10


def test_the_draft_names_the_guilty_passes_and_its_script_runs_them(judge: Judge, tmp_path: Path) -> None:
    with open_store(tmp_path / "hunt.db", create=True) as store:
        campaign = store.begin_campaign({"test": 1})
        targets = [PLANTED, after("Fold", "Tidy", "Fuse", "BreakEarly")]
        hunt(store, campaign, [case("Sinh")], targets, REFERENCE, judge.runner, Policy())
        pipeline.advance_all(Desk(store, judge.runner, REFERENCE, tmp_path / "reports"), store.bugs())
        [bug] = store.bugs()
        assert bug.state is State.DRAFTED, bug.note
        assert bug.title.endswith("Sinh after Tidy and BreakEarly returns wrong values (off by up to 1000)")
        text = Path(str(bug.report_path)).read_text()
    assert "'Tidy,BreakEarly'" in text and "without any pass of the sequence it passes" in text
    assert "Fails in" not in text, "the case has no name that a reader could look up"


def test_what_does_not_pass_without_any_pass_keeps_its_sequence(judge: Judge) -> None:
    failure = judge.examine(case("Sinh"), after("Fold", "BreakLate")).failure
    assert failure is not None
    assert sequences.of(order.minimised(judge, failure).target) == ("BreakLate",)
    late = order.minimised(judge, failure, deadline=0.0)  # no time to ask
    assert late.symptom == failure.symptom and "BreakLate" in sequences.of(late.target)


def test_a_sequence_is_part_of_the_signature_and_none_is_not(judge: Judge) -> None:
    def fingerprint(target: Target) -> str:
        failure = judge.examine(case("Sinh"), after("BreakLate")).failure
        assert failure is not None
        return Signer(judge.runner).sign(type(failure)(**{**vars(failure), "target": target})).fingerprint

    assert fingerprint(PLANTED) == fingerprint(after())
    assert len({fingerprint(PLANTED), fingerprint(after("A")), fingerprint(after("A", "B"))}) == 3


@pytest.mark.parametrize("backend", ["openvino", "tvm"])
def test_a_hunt_draws_no_step_that_computes_more_coarsely(backend: str) -> None:
    found = sequences.drawn([catalogue.target(backend)], 60, 0)
    assert len(found) > 5 and all(dict(target.options).get("precision", "f32") == "f32" for target in found)
