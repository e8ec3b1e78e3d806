"""`graphwarden gate` on real builds of the tiny compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bot import suites
from tests.bot.support import Done, Run
from tests.builds import tinyc
from tests.triage.revisions import support


@pytest.fixture
def place(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    return tmp_path


def names(done: Done, change: str) -> set[str]:
    return {one["name"] for one in done.json[change]}


def test_a_gate_tells_what_is_broken_fixed_and_still_broken(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases", ("Relu", "Neg", "Sub", "Abs"))
    summary = place / "summary.md"
    arguments = ("--compiler", tiny.compiler, "--base", "1.0", "--head", "1.1", "--cases", folder)
    done = gw("gate", *arguments, "--summary", summary, "--json")
    assert done.code == 1
    assert names(done, "new_failures") == {"Neg"}
    assert names(done, "fixed") == {"Sub"}
    assert names(done, "still_failing") == {"Abs"}
    assert (done.json["ran"], done.json["of"], done.json["conclusion"]) == (4, 4, "failure")
    [broken] = done.json["new_failures"]
    assert (broken["status_base"], broken["status_head"]) == ("ok", "signal")
    assert "Neg" in broken["title"]
    text = summary.read_text()
    assert "### New failures (1)" in text and "### Fixed (1)" in text and "`ok` → `signal`" in text
    shown = gw("gate", *arguments)
    assert shown.code == 1 and "1 new failures, 1 fixed, 1 still failing, 0 flaky" in shown.out


def test_a_change_that_only_fixes_is_a_success(gw: Run, place: Path, tiny: suites.Builds) -> None:
    builds = ("--compiler", tiny.compiler, "--base", "1.0", "--head", "1.3")
    done = gw("gate", *builds, "--cases", suites.cases(place / "cases"), "--json")
    assert (done.code, done.json["conclusion"], names(done, "fixed")) == (0, "success", {"Sub"})


@pytest.mark.parametrize(
    ("base", "head", "broken"), [("1.3", "1.2", "1.2"), ("1.2", "1.3", "1.2"), ("1.3", "1.4", "1.4")]
)
def test_a_build_that_cannot_be_tested_concludes_nothing(
    gw: Run, place: Path, tiny: suites.Builds, base: str, head: str, broken: str
) -> None:
    folder = suites.cases(place / "cases")
    done = gw("gate", "--compiler", tiny.compiler, "--base", base, "--head", head, "--cases", folder, "--json")
    assert (done.code, done.json["conclusion"], done.json["ran"], done.json["of"]) == (0, "neutral", 0, 5)
    assert f"{broken} cannot be tested" in done.json["reason"]
    assert not any(done.json[change] for change in ("new_failures", "fixed", "still_failing", "flaky"))


def test_a_change_of_a_converter_is_shown_at_its_lines(gw: Run, place: Path) -> None:
    repository = place / "repository"
    commits = tinyc.repository(repository, [tinyc.sources(), tinyc.sources("sub swaps")])
    compiler = support.overlaid(place, repository, tinyc.wheel(place, "1.0"))
    report = place / "gate.sarif"
    done = gw(
        *("gate", "--compiler", compiler.source, "--base", commits[0], "--head", commits[1]),
        *("--cases", suites.cases(place / "cases"), "--jobs", "1", "--sarif", report, "--json"),
    )
    assert (done.code, names(done, "new_failures")) == (1, {"Sub"})
    [result] = json.loads(report.read_text())["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    lines = (repository / location["artifactLocation"]["uri"]).read_text().splitlines()
    assert lines[location["region"]["startLine"] - 1].strip() == "return y - x"


def test_a_revision_that_is_not_there_is_told_in_one_line(gw: Run, place: Path, tiny: suites.Builds) -> None:
    done = gw(
        "gate", "--compiler", tiny.compiler, "--base", "1.0", "--head", "9.9", "--cases", suites.cases(place / "c")
    )
    assert done.code == 2
    assert "has no revision '9.9'" in done.err and len(done.err.strip().splitlines()) == 1


def test_no_time_concludes_nothing(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases")
    arguments = (
        "--compiler",
        tiny.compiler,
        "--base",
        "1.0",
        "--head",
        "1.3",
        "--cases",
        folder,
        "--budget",
        "0.000001s",
    )
    done = gw("gate", *arguments, "--json")
    assert (done.code, done.json["conclusion"], done.json["ran"]) == (0, "neutral", 0)
    assert done.json["reason"] == "the budget ended before anything was known"
