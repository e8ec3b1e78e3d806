"""`graphwarden bench oracles` on real compilers: the table, the document, and what is refused."""

from __future__ import annotations

import pytest

from tests.bot.support import ROOT, Run

FAULTY = ROOT / "tests" / "mutants" / "faults.py"
FEW = ("--model", "lstm", "--mutants", 4, "--seed", 1)


def test_every_compiler_is_held_against_the_others_the_reference_and_itself(gw: Run) -> None:
    done = gw("bench", "oracles", *FEW, "--backend", "onnxruntime", "--backend", "openvino", "--json")
    assert done.code == 0
    assert (done.json["seeds"], done.json["mutants"], len(done.json["compilers"])) == (["lstm"], 4, 2)
    for row in done.json["compilers"].values():
        assert row["mutants"] == 4
        assert sorted(each["oracle"] for each in row["against"].values()) == [1, 2]
        assert row["itself"]["false_alarms"] == 0 and row["failures"] == []


def test_a_planted_fault_is_in_the_table_for_people(gw: Run) -> None:
    done = gw("bench", "oracles", *FEW, "--backend", FAULTY, "--option", "fault=ranges")
    assert done.code == 0 and "(oracle 2)" in done.out and "(oracle 3)" in done.out
    assert "oracle 3 reports" in done.out and "wrong:" in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--model", "nothing"), "--model 'nothing': name one of lstm"),
        (("--backend", "nothing"), "nothing"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_one_line(gw: Run, arguments: tuple[str, ...], told: str) -> None:
    done = gw("bench", "oracles", *arguments)
    assert done.code == 2 and told in done.err.replace("\n", " ")
    assert done.err.count("\n") == 1
