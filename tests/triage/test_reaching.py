"""What of the compilers a hunt reaches is kept by the minute in which it was first reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin, Outcome, Stage, Status, Verdict
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.bot.support import relu
from triage.reaching import Reach
from triage.records import Reachable, Reached
from triage.store import open_store

ONNXRUNTIME = catalogue.target("onnxruntime")
OPENVINO = catalogue.target("openvino")
CASE = Case("onnx", relu().SerializeToString(), {}, Origin("test", "relu"))
PASSED = Outcome(Status.OK, Stage.RUN)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=2000), jobs=1) as shared:
        yield shared


def test_operators_and_functions_that_compilers_were_given_count_once(runner: Runner) -> None:
    reach = Reach(runner)
    given = Verdict(CASE, OPENVINO, Status.OK, "", PASSED)
    found = reach.of([given, replace(given, target=ONNXRUNTIME)])
    assert found[0] == Reached(Reachable.OPERATOR, "Relu")
    assert [each.part for each in found].count(Reachable.OPERATOR) == 1
    assert reach.of([given]) == []


def test_what_no_compiler_was_given_does_not_count(runner: Runner) -> None:
    kept_back = Verdict(CASE, OPENVINO, Status.INVALID, "wrong shapes")
    damaged = Case("onnx", b"no model", {}, Origin("test", "damaged"))
    assert Reach(runner).of([kept_back, Verdict(damaged, OPENVINO, Status.EXCEPTION, "", PASSED)]) == []


def test_what_was_reached_before_stays_in_its_minute(tmp_path: Path) -> None:
    with open_store(tmp_path / "h.db", create=True) as store:
        campaign = store.begin_campaign({"seed": 1}).id
        parts = [Reached(Reachable.OPERATOR, "Relu"), Reached(Reachable.FUNCTION, "tvm:Relu._impl_v1")]
        store.record(campaign, [], reached=parts)
        store.record(campaign, [], reached=[*parts, Reached(Reachable.OPERATOR, "Abs\ud800")])
        told = store.overview(campaign).reached
        assert {part: sum(minutes.values()) for part, minutes in told.items()} == {
            Reachable.OPERATOR: 2,
            Reachable.FUNCTION: 1,
        }
        assert store.overview(campaign + 1).reached == {}
