"""Sweeps, on a replay that is told what cases do; tests/bot/test_sweep.py runs them on real builds."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.case import Revision
from tests.triage.suite.support import Scripted, entry
from triage.revisions.environments import Untestable
from triage.suite import picture
from triage.suite.journal import Journal
from triage.suite.sweep import Swept, flips_back, steps, sweep

ENTRIES = [entry(operator) for operator in ("Relu", "Abs", "Neg")]
REVISIONS = [Revision(version) for version in ("1.0", "1.1", "1.2", "1.3")]
SCRIPT = {
    "1.0": {"Abs3": "W"},
    "1.1": {"Abs3": "W", "Neg3": "C"},
    "1.3": {"Relu3": "S"},
}


def make(revision: Revision) -> Revision:
    if revision.version == "1.2":
        raise Untestable("1.2", "it cannot be imported")
    return replace(revision, python=revision.version)


def run(folder: Path, replay: Scripted) -> Swept:
    with Journal({"command": "sweep"}, folder=folder) as journal:
        return sweep(ENTRIES, REVISIONS, replay, make, journal)


def test_a_row_has_a_letter_for_each_revision_and_untestable_ones_are_no_failures(tmp_path: Path) -> None:
    replay = Scripted(ENTRIES, SCRIPT)
    swept = run(tmp_path, replay)
    assert swept.rows() == {"Relu3": "PP-?", "Abs3": "WW-P", "Neg3": "PC-P"}
    assert swept.untestable == {"1.2": "it cannot be imported"}
    assert replay.closed == ["1.0", "1.1", "1.3"]  # no worker of an old build stays


def test_a_sweep_that_was_stopped_goes_on_in_the_middle_of_a_revision(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    class Stopping(Scripted):
        def run(self, cases, revision):  # type: ignore[no-untyped-def]
            for turn, answer in enumerate(super().run(cases, revision)):
                if revision.version == "1.1" and turn == 2:
                    raise Stopped
                yield answer

    with pytest.raises(Stopped):
        run(tmp_path, Stopping(ENTRIES, SCRIPT))
    replay = Scripted(ENTRIES, SCRIPT)
    assert run(tmp_path, replay).rows()["Neg3"] == "PC-P"
    assert {name for python, name in replay.ran if python == "1.1"} == {"Neg3"}
    assert not any(python == "1.0" for python, _ in replay.ran)


@pytest.mark.parametrize(
    ("row", "places", "back"),
    [
        ("PPP", [], False),
        ("PPWW", [2], False),
        ("WWP", [2], False),
        ("EWP", [1, 2], False),
        ("PEEP", [1, 3], True),
        ("P-?W", [3], False),
        ("P-?P", [], False),
        ("PFP", [], False),
        ("WPEP", [1, 2, 3], True),
        ("", [], False),
    ],
)
def test_changes_and_flip_flops_of_a_row(row: str, places: list[int], back: bool) -> None:
    assert (steps(row), flips_back(row)) == (places, back)


def test_the_picture_shows_every_letter_and_marks_flip_flops() -> None:
    letters = {"1.0": {"a<b": "P", "c": "W"}, "1.1": {"a<b": "E", "c": "W"}, "1.2": {"a<b": "P", "c": "P"}}
    drawn = picture.svg(Swept(("1.0", "1.1", "1.2"), ("c", "a<b"), letters), "tinyc")
    texts = [element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("}text")]
    assert texts.count("flip-flop") == 1
    assert texts.index("a<b") < texts.index("flip-flop") < texts.index("c")  # the flip-flop stands first
    assert {"P", "E", "W", "1.0", "1.1", "1.2", "pass", "wrong result", "exception or unsupported"} <= set(texts)
    assert "native crash" not in texts  # what is not there needs no legend


def test_a_picture_of_nothing_is_still_a_picture() -> None:
    assert ElementTree.fromstring(picture.svg(Swept((), ()), "nothing")).tag.endswith("svg")
