"""`graphwarden bench mcts` on a real compiler: the table's columns, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.support import Run

FEW = ("--models", 12, "--seeds", 2, "--backend", "onnxruntime", "--blocks-per-model", "3,5")


def test_chance_and_search_are_compared_at_every_size(gw: Run) -> None:
    done = gw("bench", "mcts", *FEW, "--rows", "1,5", "--json")
    assert done.code == 0
    assert (done.json["models"], done.json["seeds"], len(done.json["targets"])) == (12, [0, 1], 1)
    assert [(row["chooser"], row["blocks"]) for row in done.json["rows"]] == [
        *[("random", 3), ("random", 5)],
        *[("mcts", 3), ("mcts", 5)],
    ]
    for row in done.json["rows"]:
        assert row["invalid"] == 0 and len(row["runs"]) == 2
        assert 0.2 < row["median"]["OLC"] < 0.9
        for run in row["runs"]:
            assert sum(run["statuses"].values()) == 12
            assert len(run["deduplicated"]) <= run["failures"]


def test_the_table_is_for_people(gw: Run) -> None:
    done = gw("bench", "mcts", "--models", 3, "--seeds", 1, "--backend", "onnxruntime", "--rows", 2)
    assert done.code == 0 and "WS, no mutations, mcts" in done.out
    assert all(heading in done.out for heading in ("OLC", "d/t"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--rows", "6"), "--rows '6' is no list of numbers from 1 to 5, e.g. 1,2"),
        (("--rows", ""), "--rows '' is no list"),
        (("--blocks-per-model", "5;6"), "--blocks-per-model '5;6' is no list of numbers from 1 to 100"),
        (("--blocks", "nothing"), "No such file or directory; name a corpus of data/blocks or a file that ends in"),
        (("--backend", "nothing"), "nothing"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_one_line(gw: Run, arguments: tuple[str, ...], told: str) -> None:
    done = gw("bench", "mcts", *arguments)
    assert done.code == 2 and told in done.err.replace("\n", " ")
    assert done.err.count("\n") == 1


def test_a_corpus_of_ones_own_is_used(gw: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("shapes = [[2, 3]]\nout = [0, 1]\n[operators]\nRelu = {in = [1]}\nAdd = {in = [2]}\n")
    done = gw("bench", "mcts", *FEW, "--rows", "5", "--blocks", path, "--json")
    assert done.code == 0 and done.json["rows"][0]["median"]["OTC"] == 1
