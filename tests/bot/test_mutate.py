"""`graphwarden mutate`: the files, the same bytes, any model as a seed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Origin, Status
from fuzz.runner import Runner
from tests.bot.support import ROOT, Run, ended, start


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "mutations.jsonl").read_text().splitlines()]


@pytest.fixture(scope="session")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mutants of a transformer, every fourth of ten."""
    folder = tmp_path_factory.mktemp("mutants") / "m"
    options = ("--mutations", 10, "--every", 4, "--seed", 3)
    done = ended(start(folder.parent, "mutate", "seed:transformer", *options, "--out", folder, "--json"))
    assert (done.code, done.err) == (0, "")
    assert (done.json["mutations"], done.json["models"]) == (10, 3)
    return folder


def model(path: Path, op: str = "Tanh", opset: int = 17, dtype: int = TensorProto.FLOAT) -> Path:
    x, y = (helper.make_tensor_value_info(name, dtype, ["n", 4]) for name in "xy")
    nodes = [helper.make_node(op, ["x"], ["a"]), helper.make_node("Abs", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def test_every_kth_mutant_is_written_with_the_seed_the_list_and_the_inputs(mutants: Path) -> None:
    names = ["000000.onnx", "000004.onnx", "000008.onnx", "000010.onnx", "inputs.npz", "mutations.jsonl"]
    assert sorted(contents(mutants)) == names
    assert [line["index"] for line in lines(mutants)] == list(range(1, 11))
    sizes = [len(onnx.load(mutants / name).graph.node) for name in names[:4]]
    assert sizes == sorted(sizes) and sizes[0] == 37


@pytest.mark.parametrize("backend", ["reference", "onnxruntime"])
def test_mutants_compute_on_a_compiler_what_the_seed_computes_there(mutants: Path, backend: str) -> None:
    inputs = dict(np.load(mutants / "inputs.npz"))
    with Runner(jobs=1) as runner:
        found = []
        for path in sorted(mutants.glob("*.onnx")):
            onnx.checker.check_model(onnx.load(path), full_check=True)
            case = Case("onnx", path.read_bytes(), inputs, Origin("test"))
            outcome = runner.run(case, catalogue.target(backend))
            assert outcome.status is Status.OK
            found.append(np.asarray(outcome.outputs[0][1]))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-5)


def test_the_same_seed_gives_the_same_bytes_and_the_list_gives_them_again(
    gw: Run, tmp_path: Path, mutants: Path
) -> None:
    gw("mutate", "seed:transformer", "--mutations", 10, "--every", 4, "--seed", 3, "--out", tmp_path / "same")
    assert contents(tmp_path / "same") == contents(mutants)
    replay = ("--replay", mutants / "mutations.jsonl", "--inputs", mutants / "inputs.npz", "--every", 4)
    assert gw("mutate", "seed:transformer", *replay, "--out", tmp_path / "again").code == 0
    assert contents(tmp_path / "again") == contents(mutants)
    gw("mutate", "seed:transformer", "--mutations", 10, "--every", 4, "--seed", 4, "--out", tmp_path / "other")
    assert contents(tmp_path / "other")["000010.onnx"] != contents(mutants)["000010.onnx"]


def test_the_list_tells_no_times_and_no_paths(mutants: Path) -> None:
    keys = {"constants", "garbage", "guard", "index", "kind", "needs", "nodes", "readers", "result", "target", "zero"}
    assert all(set(line) == keys for line in lines(mutants))
    assert str(mutants) not in (mutants / "mutations.jsonl").read_text()


def test_any_model_is_a_seed_and_given_inputs_are_the_profiled_ones(gw: Run, tmp_path: Path) -> None:
    seed = model(tmp_path / "seed.onnx")
    np.savez(tmp_path / "x.npz", x=np.full((2, 4), 0.5, np.float32))
    options = ("--mutations", 5, "--kind", "pioc", "--inputs", tmp_path / "x.npz", "--out", tmp_path / "m")
    done = gw("mutate", seed, *options)
    assert (done.code, done.err) == (0, "") and "5 mutations, 5 mutants" in done.out
    assert np.load(tmp_path / "m" / "inputs.npz")["x"].tolist() == [[0.5] * 4] * 2
    assert {line["kind"] for line in lines(tmp_path / "m")} == {"pioc"}
    assert gw("mutate", seed, "--mutations", 2, "--choose", "distance", "--out", tmp_path / "drawn").code == 0


def test_a_model_that_cannot_be_mutated_is_told_why(gw: Run, tmp_path: Path) -> None:
    cases = [
        (
            model(tmp_path / "old.onnx", opset=9),
            "old.onnx: it imports opset 9; convert it to 11 or newer with onnx.ver",
        ),
        (model(tmp_path / "random.onnx", "RandomNormalLike"), "random.onnx: RandomNormalLike is random"),
        (model(tmp_path / "ints.onnx", "Neg", dtype=TensorProto.INT32), "no finite floating-point tensor"),
        (model(tmp_path / "bad.onnx", "NoSuchOperator"), "bad.onnx: the reference cannot run it on these inputs:"),
        (tmp_path / "missing.onnx", "missing.onnx: no such file"),
        ("seed:alexnet", "seed:alexnet: no seed model is called 'alexnet': choose one of lstm,"),
    ]
    for seed, words in cases:
        done = gw("mutate", seed, "--out", tmp_path / "m")
        assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1, seed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kind", "uoc,magic"), "--kind 'uoc,magic': name one or more of uoc, pioc"),
        (("--kind", ""), "--kind '': name one or more of uoc, pioc"),
        (("--choose", "best"), "--choose 'best': name one of random, distance"),
        (("--mutations", "0"), "--mutations"),
        (("--replay", "none.jsonl"), "--replay none.jsonl: No such file"),
        (("--inputs", "none.npz"), "none.npz: no such file"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_one_line(
    gw: Run, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    done = gw("mutate", "seed:lstm", *options, "--out", tmp_path / "m")
    assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "m" / "mutations.jsonl").exists()


def test_a_damaged_list_and_the_list_of_another_model_are_told(gw: Run, tmp_path: Path, mutants: Path) -> None:
    (tmp_path / "cut.jsonl").write_text((mutants / "mutations.jsonl").read_text()[:-50])
    for name, words in ((tmp_path / "cut.jsonl", "line 10 is no mutation"), (mutants / "mutations.jsonl", "is it the")):
        done = gw("mutate", "seed:lstm", "--replay", name, "--out", tmp_path / "m")
        assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1


def test_a_folder_with_other_models_is_left_alone(gw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"")
    done = gw("mutate", "seed:lstm", "--out", tmp_path)
    assert done.code == 2 and "holds mine.onnx, which is not of this run" in done.err


def test_sequences_and_devices_hold_seed_and_mutants_against_themselves(gw: Run, tmp_path: Path) -> None:
    options = ("--mutations", 4, "--every", 4, "--seed", 1, "--out", tmp_path / "m", "--sequences", 2, "--devices")
    done = gw("mutate", "seed:lstm", *options, "--backend", "onnxruntime", "--json")
    assert done.code == 0, done.out
    assert done.json["levels"] == {"findings": {"agrees": 4}, "failures": []}


def test_a_faulty_pass_is_named_in_the_signature(gw: Run, tmp_path: Path) -> None:
    faulty = ("--backend", ROOT / "tests" / "mutants" / "faults.py", "--option", "fault=ranges")
    options = ("--mutations", 6, "--every", 6, "--seed", 1, "--out", tmp_path / "m", "--sequences", 4)
    done = gw("mutate", "seed:lstm", *options, *faulty, "--json")
    assert done.code == 1
    [failure] = done.json["levels"]["failures"]
    assert failure["guilty"] == ["RangeAnalysis"] and failure["signature"].endswith("after RangeAnalysis")


def test_sequences_need_a_compiler_that_has_them(gw: Run, tmp_path: Path) -> None:
    done = gw("mutate", "seed:lstm", "--out", tmp_path / "m", "--sequences", 2)
    assert done.code == 2 and "name it with --backend" in done.err
    done = gw("mutate", "seed:lstm", "--out", tmp_path / "m", "--sequences", 2, "--backend", "reference")
    assert done.code == 2 and "no optimisation sequences of reference are known" in done.err


def test_a_command_on_a_device_that_is_not_here_says_so_and_does_nothing(gw: Run, tmp_path: Path) -> None:
    elsewhere = ("--backend", "onnxruntime", "--option", "device=MIGraphX")
    hunt = ("hunt", "--source", "onnx_node", "--no-drafts", "--db", tmp_path / "h.db")
    for command in (("mutate", "seed:lstm", "--out", tmp_path / "m"), hunt):
        done = gw(*command, *elsewhere)
        assert done.code == 3 and "--option device=MIGraphX: ONNX Runtime has no working MIGraphX" in done.err
