"""Table 1: mutants counted under three oracles, on a compiler that is right and on one with a planted fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import catalogue
from fuzz.mutants.deviations import Oracle, Table
from fuzz.oracles.metamorphic import DELTA
from fuzz.runner import Runner
from tests.fuzz.mutants.subjects import built_in

FAULTS = str(Path(__file__).parents[2] / "mutants" / "faults.py")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as running:
        yield running


def test_deviations_are_counted_beside_those_of_the_third_oracle() -> None:
    oracle = Oracle()
    for mine, third in ((1.0, 1.0), (3.9, 1.0), (4.0, 1.0), (0.5, 1.0), (1.0, 0.0), (0.0, 0.0)):
        oracle.count(mine, third)
    assert (oracle.greater, oracle.equal, oracle.smaller, oracle.far) == (3, 2, 1, 2)


def test_a_right_compiler_gives_no_alarm_and_a_wrong_one_reports(runner: Runner) -> None:
    right, wrong = catalogue.target("onnxruntime"), catalogue.target(FAULTS, {"fault": "ranges"})
    table = Table(runner, [right, wrong], catalogue.target("reference"), DELTA)
    assert list(table.series(built_in("lstm"), 5, 1)) == [1, 2, 3, 4, 5]
    row = table.rows[right.id]
    assert (row.mutants, dict(row.findings), row.alarms, row.failures) == (5, {"agrees": 5}, 0, [])
    assert set(row.others) == {"reference", wrong.id}
    for oracle in row.others.values():
        assert oracle.greater + oracle.equal + oracle.smaller == 5
    reported = table.rows[wrong.id]
    assert reported.findings["wrong"] == reported.alarms == len(reported.failures) > 0
    assert row.others[wrong.id].alarms == reported.findings["wrong"]  # two compilers, one of them wrong
    assert row.others[wrong.id].honest == 0
    assert reported.failures[0].startswith("lstm/")


def test_mutants_of_a_seed_that_does_not_run_are_left_out(runner: Runner) -> None:
    crashing = catalogue.target(str(Path(FAULTS).parents[1] / "faulty" / "crashes_at_once.py"))
    table = Table(runner, [crashing], catalogue.target("reference"), DELTA)
    assert len(list(table.series(built_in("lstm"), 2, 1))) == 2
    row = table.rows[crashing.id]
    assert (sum(row.excluded.values()), dict(row.findings), row.others) == (2, {"unjudged": 2}, {})
