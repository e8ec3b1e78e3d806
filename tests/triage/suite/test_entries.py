"""Entries and what is expected of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.triage.suite import support
from triage.suite import entries
from triage.suite.entries import BadEntry, Expected, Source

KNOWN = Expected('LSTM "quoted" \\ \n two lines', "seen in a sweep", {"openvino": {"2024.0.0": "P", "2025.1.0": "W"}})


def test_expectations_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(entries.written(KNOWN), encoding="utf-8")
    assert entries.read_expected(path) == KNOWN


def test_the_nearest_release_that_is_not_newer_tells_what_to_expect() -> None:
    assert KNOWN.at("openvino", "2024.0.0") == "P"
    assert KNOWN.at("openvino", "2024.1.0") == ""
    assert KNOWN.nearest("openvino", "2024.6.0") == "P"
    assert KNOWN.nearest("openvino", "2026.0.0") == "W"
    assert KNOWN.nearest("openvino", "2023.1.0") == ""
    assert KNOWN.nearest("openvino", "6a2b6d4") == ""  # a commit is no release
    assert KNOWN.nearest("tvm", "2024.6.0") == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title = ", "is no TOML"),
        ('titel = "x"', "unknown key 'titel'"),
        ('[releases.tvm]\n"0.25.0" = "X"', "must give a letter of PWECT"),
        ("releases = 3", "must give a letter of PWECT"),
    ],
)
def test_an_expectation_file_that_cannot_be_used_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadEntry, match=told) as refusal:
        entries.read_expected(path)
    assert "\n" not in str(refusal.value) and str(path) in str(refusal.value)


def test_a_missing_expectation_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadEntry, match="No such file"):
        entries.read_expected(tmp_path / "expected.toml")


def test_each_case_is_in_a_suite_once_and_the_better_known_entry_stays() -> None:
    given = [support.entry("Relu"), support.entry("Abs"), support.entry("Relu", source=Source.COMMITTED)]
    kept = [(entry.name, entry.source) for entry in entries.distinct(given)]
    assert kept == [("Relu3", Source.COMMITTED), ("Abs3", Source.SLICE)]


def test_different_cases_of_one_name_are_told_apart() -> None:
    first, second = support.entry("Relu", 3), support.entry("Relu", 4)
    named = entries.named([first, replace(second, name="Relu3")])
    assert [entry.name for entry in named] == ["Relu3", f"Relu3 {second.id}"]
