"""A hunt records what it finds as it goes, and never does a pair of case and target twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import FAILING, Case, Origin, Status
from fuzz.generators import Skip
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.hunt import Progress, hunt, skip_id
from triage.records import CampaignInfo
from triage.store import Store, open_store

PLANTED = Path(__file__).with_name("planted.py")
TARGET = catalogue.target(str(PLANTED))
REFERENCE = catalogue.target("reference")


def unary(op_type: str, value: float, output: int = TensorProto.FLOAT) -> Case:
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("y", output, [1]),
    ]
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case(
        "onnx", model.SerializeToString(), {"x": np.array([value], np.float32)}, Origin("test", f"{op_type}{value}")
    )


CASES: list[Case | Skip] = [unary(op_type, 1 + at / 10) for at in range(15) for op_type in ("Abs", "Sinh", "Floor")]
CASES.append(unary("Abs", 1.0, TensorProto.INT32))
CASES.append(Skip(Origin("test", "no data"), "the test has no data"))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=1000), jobs=2) as shared:
        yield shared


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def hunted(
    store: Store, campaign: CampaignInfo, runner: Runner, cases: list[Case | Skip], **policy: bool
) -> list[Progress]:
    seen: list[Progress] = []
    assert hunt(store, campaign, cases, [TARGET], REFERENCE, runner, Policy(**policy), seen.append)
    return seen


def test_every_case_is_counted_once_under_what_it_did(store: Store, runner: Runner) -> None:
    campaign = store.begin_campaign({})
    last = hunted(store, campaign, runner, CASES)[-1]
    counts = store.counts(campaign.id)
    expected = {Status.OK: 15, Status.WRONG: 15, Status.EXCEPTION: 15, Status.INVALID: 1, Status.SKIPPED: 1}
    assert dict(counts.statuses) == expected
    assert (last.results, last.failures) == (47, 30)
    assert (counts.cases, counts.failures, counts.bugs, counts.drafts) == (47, 30, 2, 0)


class Killed(BaseException):
    """Ends a hunt where it stands."""


def test_a_hunt_that_ends_in_the_middle_goes_on_with_the_rest(store: Store, runner: Runner) -> None:
    campaign = store.begin_campaign({})

    def give_up(progress: Progress) -> None:
        raise Killed

    with pytest.raises(Killed):
        hunt(store, campaign, CASES, [TARGET], REFERENCE, runner, Policy(), give_up)
    before = store.done(campaign.id)
    assert 0 < len(before) < len(CASES)
    again = store.begin_campaign({})
    assert again.resumed and again.id == campaign.id
    chunks = hunted(store, again, runner, CASES)
    assert chunks[0].results >= len(before)
    assert store.done(campaign.id) > before and len(store.done(campaign.id)) == len(CASES)
    statuses = store.counts(campaign.id).statuses
    assert sum(statuses[status] for status in FAILING if status in statuses) == 30


def test_what_is_done_is_not_run_again(store: Store, runner: Runner) -> None:
    campaign = store.begin_campaign({})
    hunted(store, campaign, runner, CASES)
    outcomes = {bug.id: bug.updated for bug in store.bugs()}
    hunted(store, campaign, runner, CASES)
    assert {bug.id: bug.updated for bug in store.bugs()} == outcomes
    assert sum(store.counts(campaign.id).statuses.values()) == len(CASES)


def test_a_hunt_without_time_does_nothing_and_is_not_finished(store: Store, runner: Runner) -> None:
    campaign = store.begin_campaign({})
    over = Policy(deadline=time.monotonic())
    assert not hunt(store, campaign, CASES, [TARGET], REFERENCE, runner, over)
    assert store.done(campaign.id) == set()


def test_invalid_models_are_shown_to_the_compiler_only_when_asked_for(store: Store, runner: Runner) -> None:
    deadly: list[Case | Skip] = [unary("Sign", 1.0, TensorProto.INT32)]
    plain, asked = store.begin_campaign({"invalid": False}), store.begin_campaign({"invalid": True})
    hunted(store, plain, runner, deadly)
    assert store.bugs() == []
    hunted(store, asked, runner, deadly, invalid=True)
    [bug] = store.bugs()
    assert bug.symptom == "dies-on-invalid:crash:SIGSEGV"
    assert dict(store.counts(asked.id).statuses) == {Status.INVALID: 1}


def test_a_skipped_test_has_an_id_of_its_own() -> None:
    one, two = Origin("g", "t"), Origin("g", "t", "frozen")
    assert skip_id(one) == skip_id(Origin("g", "t", seed=7)) != skip_id(two)
    assert len(skip_id(one)) == 16
