"""`graphwarden sweep` on real builds of the tiny compiler."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.bot import suites
from tests.bot.support import Run


def test_a_sweep_tells_a_letter_for_each_release_and_marks_what_comes_back(
    gw: Run, place: Path, tiny: suites.Builds
) -> None:
    picture = place / "sweep.svg"
    folder = suites.cases(place / "cases", ("Relu", "Neg", "Sub"))
    done = gw("sweep", tiny.compiler, "--cases", folder, "--out", picture, "--json")
    assert done.code == 0
    assert done.json["revisions"] == list(suites.FAULTS)
    assert done.json["cases"] == {"Neg": "PC-P-", "Relu": "PP-P-", "Sub": "WP-P-"}
    assert (done.json["flip_flops"], set(done.json["changed"])) == (["Neg"], {"Neg", "Sub"})
    assert list(done.json["untestable"]) == ["1.2", "1.4"] and "1.2 cannot be tested" in done.err
    texts = [element.text for element in ElementTree.parse(picture).iter()]
    assert {"Neg", "Relu", "Sub", "flip-flop", "untestable build"} <= set(texts)


def test_a_range_and_single_revisions_can_be_asked_for(gw: Run, place: Path, tiny: suites.Builds) -> None:
    cases = ("--cases", suites.cases(place / "cases", ("Neg",)), "--json")
    assert gw("sweep", tiny.compiler, "--from", "1.1", "--to", "1.3", *cases).json["cases"] == {"Neg": "C-P"}
    assert gw("sweep", tiny.compiler, "--to", "1.1", *cases).json["cases"] == {"Neg": "PC"}
    single = ("--revision", "1.3", "--revision", "1.0")
    assert gw("sweep", tiny.compiler, *single, *cases).json["revisions"] == ["1.3", "1.0"]
    wrong = gw("sweep", tiny.compiler, "--from", "1.1", "--to", "1.0", *cases)
    assert (wrong.code, len(wrong.err.strip().splitlines())) == (2, 1)


def test_cases_that_change_become_entries_of_the_next_suite(gw: Run, place: Path, tiny: suites.Builds) -> None:
    kept = place / "kept"
    few = ("--to", "1.1", "--cases", suites.cases(place / "cases", ("Neg", "Relu")))
    gw("sweep", tiny.compiler, *few, "--keep", kept, "--json")
    assert [path.name for path in kept.iterdir()] == ["Neg"]
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.1", "--cases", kept, "--json")
    [outcome] = done.json["outcomes"]
    assert (outcome["case"], outcome["letter"], outcome["expected"]) == ("Neg", "C", "C")


def test_a_picture_without_a_folder_is_refused_before_anything_runs(gw: Run, place: Path, tiny: suites.Builds) -> None:
    done = gw("sweep", tiny.compiler, "--out", place / "no" / "x.svg")
    assert (done.code, "there is no folder" in done.err) == (2, True)


def test_what_a_sweep_has_found_outlives_a_picture_that_fails(gw: Run, place: Path, tiny: suites.Builds) -> None:
    few = ("--revision", "1.0", "--cases", suites.cases(place / "cases", ("Neg",)))
    done = gw("sweep", tiny.compiler, *few, "--out", "/dev/full", "--json")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)
    assert done.json["cases"] == {"Neg": "P"}
    [kept] = (tiny.root / "runs").glob("sweep-*")
    assert gw("sweep", tiny.compiler, *few, "--json").json["cases"] == {"Neg": "P"}
    assert not kept.exists()


@pytest.mark.parametrize("option", ["--out", "--keep"])
def test_what_cannot_be_written_is_refused_before_a_sweep_runs(
    gw: Run, place: Path, tiny: suites.Builds, option: str
) -> None:
    (place / "file").write_text("")
    done = gw("sweep", tiny.compiler, option, place / "file" / "x")
    assert (done.code, done.out, len(done.err.strip().splitlines())) == (2, "", 1)
    assert option in done.err
