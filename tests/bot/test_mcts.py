"""Graph-based models on the command line: generated, measured, hunted with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bot.support import Run, start
from triage.store import StoreError, open_store
from triage.store_results import Recorded


def test_more_models_begin_with_those_of_fewer(gw: Run, tmp_path: Path) -> None:
    for count in (4, 8):
        gw("generate", "--source", "mcts", "--count", count, "--ops", "2:6", "--out", tmp_path / str(count))
    for path in sorted((tmp_path / "4").glob("*.onnx")):
        assert path.read_bytes() == (tmp_path / "8" / path.name).read_bytes()
    few, many = ((tmp_path / name / "manifest.jsonl").read_text().splitlines() for name in ("4", "8"))
    assert many[:4] == few and all(json.loads(line)["source"] == "mcts" for line in many)


def test_what_has_no_block_is_refused_before_anything_is_written(gw: Run, tmp_path: Path) -> None:
    done = gw("generate", "--source", "mcts", "--operators", "Conv", "--rank", 0, "--out", tmp_path / "m")
    assert done.code == 2 and "no block of the corpus has inputs within rank and length" in done.err
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


def test_a_hunt_goes_on_with_other_models_than_before(tmp_path: Path) -> None:
    """An interrupted campaign is resumed; what was run is not run again, and what was learnt is kept."""
    database, learnt = tmp_path / "h.db", tmp_path / "h.db.mcts.json"
    first = _interrupted(tmp_path, database, 48)
    state = json.loads(learnt.read_text())
    assert state["chooser"]["made"] > 0
    state["chooser"]["made"] += 10**6  # so that the second hunt can be seen to begin with it
    learnt.write_text(json.dumps(state))
    second = _interrupted(tmp_path, database, first + 48)
    assert json.loads(learnt.read_text())["chooser"]["made"] > 10**6 + state["chooser"]["made"] % 10**6
    assert first >= 48 and second >= first + 48
    found = _results(database)
    assert {each.origin.generator for each in found} == {"mcts"}
    tests = {each.case_id: each.origin.test for each in found}
    assert len(set(tests.values())) >= 0.95 * len(tests)  # two models may come out the same
    with open_store(database, create=False) as store:
        assert len(store.campaigns()) == 1


def _interrupted(folder: Path, database: Path, results: int) -> int:
    """How many results there are once a hunt was interrupted that had so many at least."""
    hunt = ("hunt", "--source", "mcts", "--backend", "onnxruntime", "--no-drafts", "--db", database, "--budget", "none")
    process = start(folder, *hunt)
    try:
        while process.poll() is None and len(_results(database)) < results:
            time.sleep(0.2)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
    return len(_results(database))


def _results(database: Path) -> list[Recorded]:
    """What the campaign has recorded so far."""
    if not database.exists() or not database.stat().st_size:
        return []
    try:
        with open_store(database, create=False) as store:
            campaigns = store.campaigns()
            return store.recorded(campaigns[-1].id) if campaigns else []
    except StoreError:  # it is being made
        return []


@pytest.mark.parametrize("source", ["isra", "mcts"])
def test_a_seed_gives_the_same_bytes_in_every_process(tmp_path: Path, source: str) -> None:
    """Python orders sets of words otherwise in each process, unless PYTHONHASHSEED says how."""
    command = [sys.executable, "-m", "bot.cli", "generate", "--source", source, "--count", "25", "--seed", "9", "--out"]
    for hashes in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hashes}
        subprocess.run([*command, str(tmp_path / hashes)], env=environment, check=True, capture_output=True)
    files = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert len(files) == 26 and "manifest.jsonl" in files
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
