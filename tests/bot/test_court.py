"""`graphwarden court` and `graphwarden calibrate` as scripts use them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from fuzz.data import data_path
from tests.bot.support import FAULTY, PLANTED, Run, relu, saved

HONEST = data_path("calibration", "honest.py")
FLOOR = """<ir_version: 8, opset_import: ["": 17]>
g (float[100] x) => (float[100] y) <float c = {0.1}> { a = Div (x, c) y = Floor (a) }"""
SINH = '<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[4] y) { y = Sinh (x) }'


def text(path: Path, model: str) -> Path:
    return saved(path, onnx.parser.parse_model(model))


def test_a_planted_fault_is_a_compiler_bug_with_its_evidence(gw: Run, tmp_path: Path) -> None:
    done = gw("court", text(tmp_path / "m.onnx", SINH), "--backend", PLANTED, "--json")
    assert done.code == 0, done.err
    assert (done.json["verdict"], done.json["project"]) == ("compiler bug", "planted")
    assert {"verdict", "reason", "project", "rule", "confidence", "evidence"} == set(done.json)
    kinds = [each["kind"] for each in done.json["evidence"]]
    assert {"charge", "repeats", "float64", "votes"} <= set(kinds)
    assert all({"kind", "side", "sentence", "figures", "settles"} == set(each) for each in done.json["evidence"])


def test_given_values_that_rounding_decides_are_numeric_noise(gw: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", x=(np.arange(100) * 0.1).astype(np.float32))
    model = text(tmp_path / "m.onnx", FLOOR)
    done = gw("court", model, "--inputs", tmp_path / "v.npz", "--backend", HONEST, "--json")
    assert (done.code, done.json["verdict"]) == (0, "numeric noise")
    told = gw("court", model, "--inputs", tmp_path / "v.npz", "--backend", HONEST)
    assert told.code == 0 and "numeric noise: " in told.out and "float64 (for the compiler): " in told.out


def test_a_case_that_does_not_fail_is_told_and_has_no_verdict(gw: Run, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu())
    done = gw("court", model, "--backend", "onnxruntime", "--json")
    assert (done.code, done.json["verdict"], done.json["evidence"]) == (1, None, [])
    assert "does not fail on onnxruntime" in done.err and done.err.count("\n") == 1
    plain = gw("court", model, "--backend", "onnxruntime")
    assert (plain.code, plain.out) == (1, "")


POOL = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,2,3] x) => (float[1,2,1] y) { y = GlobalMaxPool (x) }"""


def test_the_reference_itself_can_be_tried(gw: Run, tmp_path: Path) -> None:
    model = text(tmp_path / "m.onnx", POOL)
    done = gw("court", model, "--backend", "reference", "--json")
    assert (done.code, done.json["verdict"]) == (0, "reference bug")
    assert done.json["project"] == "onnx (reference evaluator)"
    told = gw("court", model, "--backend", "reference")
    assert "votes (against the reference): ONNX Runtime, OpenVINO and TVM agree with each other" in told.out
    assert "the compiler" not in told.out


def test_a_compiler_that_is_missing_is_the_environment(gw: Run, tmp_path: Path) -> None:
    done = gw("court", saved(tmp_path / "m.onnx", relu()), "--backend", "tensorrt", "--json")
    assert done.code == 0 and done.json["verdict"] in ("environment", None)


UNUSABLE = {
    "no model": (["no.onnx"], "no.onnx: no such file"),
    "a deadline that is none": (["m.onnx", "--deadline", "soon"], "--deadline 'soon' is not a duration"),
    "an unknown option": (["m.onnx", "--option", "colour=red"], "has no option 'colour'"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_arguments(name: str, gw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, says = UNUSABLE[name]
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "m.onnx", relu())
    done = gw("court", *arguments, "--backend", FAULTY, "--json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.count("\n") == 1


def test_labelled_cases_are_replayed(gw: Run, tmp_path: Path) -> None:
    chosen = ("planted scaled MatMul", "trap floor near a tie honest")
    lines = data_path("calibration", "cases.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines if json.loads(line)["id"] in chosen]
    for entry in kept:
        entry["backend"] = str(data_path("calibration", entry["backend"]))
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, kept)))
    done = gw("calibrate", path, "--json")
    assert done.code == 0, done.err
    assert (done.json["cases"], done.json["precision"], done.json["recall"]) == (2, 1.0, 1.0)
    assert [row["observed"] for row in done.json["reliability"]] == [0.0, 1.0]
    assert done.json["thresholds_of"]


def test_a_calibration_file_that_cannot_be_read_is_told(gw: Run, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": 1}\n')
    done = gw("calibrate", path)
    assert (done.code, done.out) == (2, "") and "line 1: lacks 'label'" in done.err
