"""Graph-based models on the command line: generated, measured, hunted with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bot.support import Run
from triage.store import open_store


def test_more_models_begin_with_those_of_fewer(gw: Run, tmp_path: Path) -> None:
    for count in (4, 8):
        gw("generate", "--source", "mcts", "--count", count, "--ops", "2:6", "--out", tmp_path / str(count))
    for path in sorted((tmp_path / "4").glob("*.onnx")):
        assert path.read_bytes() == (tmp_path / "8" / path.name).read_bytes()
    few, many = ((tmp_path / name / "manifest.jsonl").read_text().splitlines() for name in ("4", "8"))
    assert many[:4] == few and all(json.loads(line)["source"] == "mcts" for line in many)


def test_what_has_no_block_is_refused_before_anything_is_written(gw: Run, tmp_path: Path) -> None:
    done = gw("generate", "--source", "mcts", "--operators", "If", "--out", tmp_path / "m")
    assert done.code == 2 and "the corpus has no block of If alone" in done.err
    assert not (tmp_path / "m").exists()


def test_coverage_gives_the_operator_level_of_the_set_and_of_every_operator(gw: Run, tmp_path: Path) -> None:
    gw("generate", "--source", "mcts", "--count", 10, "--operators", "Relu,Add,Concat", "--out", tmp_path / "m")
    done = gw("coverage", tmp_path / "m", "--operators", "Relu,Add,Concat", "--json", "--settings", 10)
    found = done.json["graph_based"]
    assert list(found["operators"]) == ["Add", "Concat", "Relu"]
    for name in ("OTC", "IDC", "ODC", "SEC", "SPC", "OLC"):
        mean = sum(each[name] for each in found["operators"].values()) / 3
        assert found["metrics"][name] == pytest.approx(mean)
    weighted = gw("coverage", tmp_path / "m", "--operators", "Relu,Add,Concat", "--json", "--weights", "1,0,0,0,0")
    assert weighted.json["graph_based"]["metrics"]["OLC"] == 1
    assert "OLC (graph-based)" in gw("coverage", tmp_path / "m").out


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--weights", "1,1"), "--weights 1,1: weights must be 5 numbers from 0 on"),
        (("--weights", "a,1,1,1,1"), "is no list of numbers, e.g. 1,1,0,1,1"),
        (("--blocks", "none.toml"), "--blocks none.toml: No such file"),
    ],
)
def test_what_coverage_cannot_use_is_refused_in_one_line(
    gw: Run, tmp_path: Path, option: tuple[str, str], told: str
) -> None:
    done = gw("coverage", tmp_path, *option)
    assert done.code == 2 and told in done.err and len(done.err.splitlines()) == 1


def test_a_hunt_goes_on_with_other_models_than_before(gw: Run, tmp_path: Path) -> None:
    """A campaign that time ends is resumed; models that were run are not run again."""
    hunt = ("hunt", "--source", "mcts", "--backend", "onnxruntime", "--no-drafts", "--db", tmp_path / "h.db", "--json")
    first = gw(*hunt, "--budget", "6s")
    assert first.code == 0 and not first.json["complete"]
    assert first.json["invalid"] < 0.02 * first.json["passed"]  # the evaluator has limits, e.g. of 64 inputs
    again = gw(*hunt, "--budget", "6s")
    assert again.code == 0 and again.json["campaign"] == first.json["campaign"]
    assert again.json["cases"] > first.json["cases"] > 0
    with open_store(tmp_path / "h.db", create=False) as store:
        results = store.recorded(first.json["campaign"])
    assert {each.origin.generator for each in results} == {"mcts"}
    tests = {each.case_id: each.origin.test for each in results}
    assert len(set(tests.values())) >= 0.98 * len(tests)  # two models may come out the same
