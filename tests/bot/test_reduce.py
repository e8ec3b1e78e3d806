"""`graphwarden reduce`: from a failing file to the smallest one that fails the same way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.bot.support import FAULTY, PLANTED, Run, relu, saved


def chain(path: Path, *operators: str) -> Path:
    names = [f"v{at}" for at in range(len(operators) + 1)]
    nodes = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in (names[0], names[-1])]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    return saved(path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def test_a_reduced_case_is_small_and_still_fails(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", "Abs", "Neg", "Sinh", "Relu", "Neg")
    small = tmp_path / "small.onnx"
    done = gw("reduce", model, "--backend", PLANTED, "-o", small, "--json")
    assert done.code == 0, done.err
    assert (done.json["nodes_before"], done.json["nodes_after"]) == (5, 1)
    assert done.json["elements_after"] == 1 < done.json["elements_before"]
    assert done.json["files"] == [str(small), str(small.with_suffix(".npz"))]
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Sinh"]
    again = gw("run", small, "--inputs", small.with_suffix(".npz"), "--backend", PLANTED, "--compare", "--json")
    assert (again.json["status"], again.code) == ("wrong", 1)


def test_a_deadline_that_is_over_leaves_the_best_so_far(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", "Abs", "Sinh")
    done = gw("reduce", model, "--backend", PLANTED, "-o", tmp_path / "s.onnx", "--deadline", "0.001s", "--json")
    assert done.code == 0 and (tmp_path / "s.onnx").is_file()


def test_a_case_that_does_not_fail_is_not_reduced(gw: Run, tmp_path: Path) -> None:
    invalid = relu()
    invalid.graph.node[0].op_type = "Rleu"
    for model, why in ((relu(), "ok"), (invalid, "invalid"), (relu("fault:cannot_feed;"), "skipped")):
        done = gw("reduce", saved(tmp_path / "m.onnx", model), "--backend", FAULTY, "-o", tmp_path / "s.onnx", "--json")
        assert (done.code, done.out) == (1, "")
        assert f"does not fail on {FAULTY}: {why}, " in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "s.onnx").exists()


UNUSABLE = {
    "no output": ([], "Missing option"),
    "an output that is a folder": (["-o", "."], "is a folder"),
    "an output in no folder": (["-o", "no/such/s.onnx"], "there is no folder"),
    "a deadline that is none": (["-o", "s.onnx", "--deadline", "soon"], "--deadline 'soon' is not a duration"),
    "values that are not there": (["-o", "s.onnx", "--inputs", "v.npz"], "v.npz: no such file"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_arguments(name: str, gw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, says = UNUSABLE[name]
    monkeypatch.chdir(tmp_path)
    done = gw("reduce", saved(tmp_path / "m.onnx", relu()), "--backend", FAULTY, *arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_given_values_are_kept_as_long_as_they_fail(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "m.onnx", "Sinh")
    np.savez(tmp_path / "v.npz", v0=np.linspace(0, 1, 8, dtype=np.float32))
    done = gw(
        "reduce", model, "--inputs", tmp_path / "v.npz", "--backend", PLANTED, "-o", tmp_path / "s.onnx", "--json"
    )
    assert done.code == 0 and done.json["signature"].startswith("same because ")
