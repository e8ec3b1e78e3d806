"""A fault planted in a real compiler is found by oracle 3 and reduced to what matters; without it nothing is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from tests.bot.support import ROOT, Run

FAULTY = ROOT / "tests" / "mutants" / "faults.py"


def test_a_planted_fault_is_found_minimised_and_reduced(gw: Run, tmp_path: Path) -> None:
    planted = ("--backend", FAULTY, "--option", "fault=dead")
    series = ("--mutations", 5, "--every", 5, "--seed", 1, "--out", tmp_path / "m")
    done = gw("mutate", "seed:transformer", *series, *planted, "--json")
    assert (done.code, done.json["findings"]) == (1, {"wrong": 1})
    [failure] = done.json["failures"]
    assert failure["mutant"] == 5 and len(failure["mutations"]) <= 2
    found, inputs = map(Path, failure["files"])
    reduced = gw("reduce", found, "--inputs", inputs, *planted, "-o", tmp_path / "min.onnx", "--json")
    assert reduced.code == 0 and reduced.json["nodes_after"] <= 5
    assert {"Neg", "Relu"} <= {node.op_type for node in onnx.load(tmp_path / "min.onnx").graph.node}


def test_without_a_fault_every_mutant_agrees(gw: Run, tmp_path: Path) -> None:
    options = ("--mutations", 60, "--every", 3, "--seed", 5, "--out", tmp_path / "m", "--backend", FAULTY)
    done = gw("mutate", "seed:transformer", *options, "--json")
    assert (done.code, done.json["findings"], done.json["failures"]) == (0, {"agrees": 20}, [])
    assert not (tmp_path / "m" / "failures").exists()


def test_a_minimised_mutant_is_written_with_its_inputs(gw: Run, tmp_path: Path) -> None:
    options = ("--mutations", 4, "--every", 4, "--seed", 1, "--out", tmp_path / "m")
    done = gw("mutate", "seed:lstm", *options, "--backend", FAULTY, "--option", "fault=dead")
    assert done.code == 1 and "oracle 3: 1 wrong" in done.out and "smallest: " in done.out
    written = dict(np.load(tmp_path / "m" / "failures" / "000004.npz"))
    assert written["sequence"].tobytes() == np.load(tmp_path / "m" / "inputs.npz")["sequence"].tobytes()
