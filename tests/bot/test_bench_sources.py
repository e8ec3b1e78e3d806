"""`graphwarden bench sources`: what each source found, alone and with others, over several databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin, Outcome, Stage, Status
from tests.bot.support import Run
from triage.lifecycle import State
from triage.records import NewFailure, Result
from triage.store import open_store

TARGET = catalogue.target("openvino")


def recorded(path: Path, source: str, bugs: dict[str, tuple[str, str]], passing: int = 2) -> Path:
    """A campaign from one source: a failing case for each bug (fingerprint -> conversion function, operator)."""
    with open_store(path, create=True) as store:
        campaign = store.begin_campaign({"sources": [source]})
        cases = [Case("instance", f"{source} {at}".encode(), {}, Origin(source, str(at))) for at in range(9)]
        rows, failures = [], []
        for case, (fingerprint, (function, operator)) in zip(cases, bugs.items(), strict=False):
            rows.append(Result(case.id, TARGET.id, case.origin, Status.WRONG, Stage.RUN))
            failure = Failure(case, TARGET, Outcome(Status.WRONG, Stage.RUN), None, "o", "wrong", "d")
            failures.append(NewFailure(failure, fingerprint, function, (operator,)))
        for case in cases[len(bugs) : len(bugs) + passing]:
            rows.append(Result(case.id, TARGET.id, case.origin, Status.OK, Stage.RUN))
        rows.append(Result("0" * 16, TARGET.id, Origin(source, "none"), Status.SKIPPED))
        store.record(campaign.id, rows, failures)
    return path


@pytest.fixture
def databases(tmp_path: Path) -> tuple[Path, Path]:
    one = {"a": ("conv.cpp", "torch.conv2d"), "b": ("", "torch.add"), "c": ("", "torch.mul")}
    other = {"a": ("conv.cpp", "torch.nn.Conv2d"), "d": ("", "torch.Tensor.add_"), "e": ("pad.cpp", "torch.pad")}
    return recorded(tmp_path / "1.db", "pytorch", one), recorded(tmp_path / "2.db", "relations", other)


def test_bugs_and_places_are_counted_alone_and_together(gw: Run, databases: tuple[Path, Path]) -> None:
    done = gw("bench", "sources", "--db", databases[0], "--db", databases[1], "--json")
    assert done.code == 0
    (target,) = done.json["targets"]
    assert (target["target"], target["bugs"], target["places"]) == (TARGET.id, 5, 4)
    assert target["sources"]["pytorch"] == {
        "tests": 5, "failing": 3, "bugs": 3, "bugs_alone": 2, "places": 3, "places_alone": 1,
    }  # fmt: skip
    both = next(each for each in target["overlaps"] if each["sources"] == ["pytorch", "relations"])
    # Two spellings of one operator have two signatures and one place.
    assert (both["bugs"], both["places"]) == (1, 2)


def test_the_table_is_for_people(gw: Run, databases: tuple[Path, Path]) -> None:
    done = gw("bench", "sources", "--db", databases[0], "--db", databases[1])
    assert "5 bugs in 4 places" in done.out and "pytorch and relations" in done.out


def test_what_did_not_repeat_is_no_bug(gw: Run, databases: tuple[Path, Path]) -> None:
    with open_store(databases[0], create=False) as store:
        (flaky,) = [bug for bug in store.bugs() if bug.fingerprint == "c"]
        store.advance(flaky.id, State.NEW, State.FLAKY)
    done = gw("bench", "sources", "--db", databases[0], "--json")
    (target,) = done.json["targets"]
    assert target["bugs"] == 2 and target["sources"]["pytorch"]["failing"] == 2


def test_a_database_without_results_is_refused_in_one_line(gw: Run, tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.db", create=True):
        pass
    for name in ("empty.db", "none.db"):
        done = gw("bench", "sources", "--db", tmp_path / name)
        assert done.code == 2 and name in done.err and done.err.count("\n") == 1
