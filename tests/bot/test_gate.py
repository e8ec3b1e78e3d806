"""`graphwarden gate` on real builds of the tiny compiler."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.bot import suites
from tests.bot.support import Done, Run
from tests.builds import tinyc
from tests.triage.revisions import support


def names(done: Done, change: str) -> set[str]:
    return {one["name"] for one in done.json[change]}


def journals(tiny: suites.Builds) -> set[Path]:
    return set((tiny.root / "runs").glob("gate-*"))


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


@pytest.fixture
def behind(place: Path) -> dict[str, str]:
    """A repository where main mends Sub after `pull` has branched off it: the commits by name, and a compiler."""
    repository = place / "repository"
    first, mended = tinyc.repository(repository, [tinyc.sources("sub swaps"), tinyc.sources()])
    support.overlaid(place, repository, tinyc.wheel(place, "1.0"), 'branch = "main"')

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True)

    git("branch", "pull", first)
    git("worktree", "add", "--quiet", str(place / "tree"), "pull")
    pull = place / "tree" / "tinyc" / "frontend.py"
    pull.write_text(pull.read_text().replace("return -x", "return -1 * x"))
    author = ("-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false")
    git("-C", str(place / "tree"), *author, "commit", "--quiet", "--all", "--message", "another spelling")
    git("checkout", "--quiet", "--orphan", "stranger")
    git(*author, "commit", "--quiet", "--message", "no parent")
    return {"compiler": str(place / "tinyc.toml"), "first": first, "mended": mended}


def test_a_branch_is_not_blamed_for_what_its_base_has_mended_since(
    gw: Run, place: Path, behind: dict[str, str]
) -> None:
    cases = suites.cases(place / "cases", ("Neg", "Sub"))
    arguments = ("--compiler", behind["compiler"], "--base", "main", "--head", "pull", "--cases", cases)
    summary = place / "summary.md"
    assert gw("revisions", "approve", behind["compiler"], "pull").code == 0
    done = gw("gate", *arguments, "--summary", summary, "--json")
    assert (done.code, done.json["conclusion"]) == (0, "success")
    assert (done.json["base"], done.json["compared_with"]) == (behind["mended"], behind["first"])
    assert names(done, "still_failing") == {"Sub"} and not names(done, "new_failures")
    assert f"compared with `{behind['first']}`" in summary.read_text()
    assert f"compared with {behind['first']}" in gw("gate", *arguments).out


def test_a_head_from_a_fork_concludes_nothing_before_a_maintainers_word(
    gw: Run, place: Path, behind: dict[str, str]
) -> None:
    cases = suites.cases(place / "cases", ("Neg",))
    arguments = (
        "gate",
        "--compiler",
        behind["compiler"],
        "--base",
        "main",
        "--head",
        "pull",
        "--cases",
        cases,
        "--json",
    )
    done = gw(*arguments)
    assert (done.code, done.json["conclusion"], done.json["ran"]) == (0, "neutral", 0)
    assert "needs a maintainer's word: `graphwarden revisions approve" in done.json["reason"]
    assert gw("revisions", "approve", behind["compiler"], "pull").code == 0
    assert gw(*arguments).json["conclusion"] == "success"


def test_a_head_that_base_has_already_and_one_that_shares_nothing_conclude_nothing(
    gw: Run, place: Path, behind: dict[str, str]
) -> None:
    cases = suites.cases(place / "cases", ("Sub",))
    for head, told in (("main~1", "has all of head already"), ("stranger", "no common commit")):
        done = gw(
            *("gate", "--compiler", behind["compiler"], "--base", "main", "--head", head),
            *("--cases", cases, "--json"),
        )
        assert (done.code, done.json["conclusion"], done.json["ran"]) == (0, "neutral", 0)
        assert told in done.json["reason"]


def test_releases_are_compared_with_the_one_that_is_named(gw: Run, place: Path, tiny: suites.Builds) -> None:
    builds = ("--compiler", tiny.compiler, "--base", "1.1", "--head", "1.0")
    done = gw("gate", *builds, "--cases", suites.cases(place / "cases", ("Sub",)), "--json")
    assert (done.json["base"], done.json["compared_with"]) == ("1.1", "1.1")
    assert names(done, "new_failures") == {"Sub"}


@pytest.mark.parametrize(("base", "told"), [("", "no base was given"), ("9.9", "has no revision '9.9'")])
def test_without_a_base_nothing_is_concluded(gw: Run, place: Path, tiny: suites.Builds, base: str, told: str) -> None:
    cases, report = suites.cases(place / "cases"), place / "gate.sarif"
    done = gw(
        *("gate", "--compiler", tiny.compiler, "--base", base, "--head", "1.0"),
        *("--cases", cases, "--sarif", report, "--json"),
    )
    assert (done.code, done.json["conclusion"], done.json["ran"], done.json["of"]) == (0, "neutral", 0, 5)
    assert told in done.json["reason"]
    assert (done.json["base"], done.json["compared_with"]) == (base, "")
    assert json.loads(report.read_text())["runs"][0]["results"] == []


def test_a_base_that_the_repository_lacks_concludes_nothing(gw: Run, place: Path, behind: dict[str, str]) -> None:
    cases = suites.cases(place / "cases", ("Sub",))
    arguments = ("gate", "--compiler", behind["compiler"], "--cases", cases, "--json")
    done = gw(*arguments, "--base", "0" * 40, "--head", "pull")
    assert (done.code, done.json["conclusion"]) == (0, "neutral")
    done = gw(*arguments, "--base", "main", "--head", "0" * 40)
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)


@pytest.mark.parametrize("option", ["--sarif", "--summary"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(
    gw: Run, place: Path, tiny: suites.Builds, option: str
) -> None:
    folder, before = suites.cases(place / "cases", ("Neg",)), journals(tiny)
    builds = ("--compiler", tiny.compiler, "--base", "1.0", "--head", "1.1", "--cases", folder)
    for path, told in ((place / "no" / "x", "there is no folder"), (place, "is a folder")):
        done = gw("gate", *builds, option, path)
        assert (done.code, done.out, len(done.err.strip().splitlines())) == (2, "", 1)
        assert option in done.err and told in done.err
    assert journals(tiny) == before


def test_what_was_found_outlives_a_file_that_fails_at_the_end(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder, before = suites.cases(place / "cases", ("Neg",)), journals(tiny)
    builds = ("--compiler", tiny.compiler, "--base", "1.0", "--head", "1.1", "--cases", folder)
    full = gw("gate", *builds, "--summary", "/dev/full", "--json")
    assert full.code == 2 and "/dev/full" in full.err and len(full.err.strip().splitlines()) == 1
    assert names(full, "new_failures") == {"Neg"}
    [kept] = journals(tiny) - before
    assert len(kept.read_text().splitlines()) == 2
    again = gw("gate", *builds, "--json")
    assert again.json["new_failures"][0]["id"] == full.json["new_failures"][0]["id"]
    assert not kept.exists()


def test_other_limits_do_not_go_on_with_what_was_found(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder, before = suites.cases(place / "cases", ("Neg",)), journals(tiny)
    builds = ("--compiler", tiny.compiler, "--base", "1.0", "--head", "1.1", "--cases", folder)
    for limits in ((), ("--timeout", "29"), ("--memory", "4095")):
        assert gw("gate", *builds, *limits, "--summary", "/dev/full").code == 2
    kept = journals(tiny) - before
    assert len(kept) == 3
    for path in kept:
        question = json.loads(path.read_text().splitlines()[0])["question"]
        assert set(question["versions"]) == {"graphwarden", "onnx"} and all(question["versions"].values())
        path.unlink()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give --compiler"),
        (("--compiler", "onnxruntime", "--changed", "nosuchfile.py:abc"), "nosuchfile.py:abc"),
        (("--compiler", "onnxruntime", "--changed", "a.py:9-7"), "a.py:9-7"),
    ],
)
def test_arguments_that_say_nothing_are_refused_in_one_line(
    gw: Run, place: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = gw("gate", "--base", "1.30.0", "--head", "1.31.1", *arguments)
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)
    assert told in done.err


def test_a_repository_that_is_not_there_is_told_in_one_line(gw: Run, place: Path) -> None:
    compiler = support.overlaid(place, place / "nowhere", tinyc.wheel(place, "1.0"))
    done = gw("gate", "--compiler", compiler.source, "--base", "main", "--head", "pull")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)
    assert "nowhere" in done.err
