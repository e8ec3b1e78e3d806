"""`graphwarden generate` and `graphwarden coverage`: the files, the manifest, the metrics, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree

import onnx
import pytest

from fuzz.generators import models
from tests.bot.support import Run


def manifest(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("source", models.names())
def test_models_and_manifest_are_written(gw: Run, tmp_path: Path, source: str) -> None:
    done = gw("generate", "--source", source, "--count", 5, "--ops", "1:4", "--out", tmp_path / "m", "--json")
    assert (done.code, done.err, done.json["models"]) == (0, "", 5)
    lines = manifest(tmp_path / "m")
    assert [line["file"] for line in lines] == [f"{at:06d}.onnx" for at in range(1, 6)]
    for line in lines:
        data = (tmp_path / "m" / str(line["file"])).read_bytes()
        model = onnx.load_from_string(data)
        onnx.checker.check_model(model, full_check=True)
        assert line["sha256"] == hashlib.sha256(data).hexdigest()
        assert line["operators"] == len(model.graph.node)
        assert [each["name"] for each in line["inputs"]] == [each.name for each in model.graph.input]  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", models.names())
def test_the_same_seed_gives_the_same_bytes(gw: Run, tmp_path: Path, source: str) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        gw("generate", "--source", source, "--count", 6, "--ops", "1:5", "--seed", seed, "--out", tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")


def test_more_models_begin_with_those_of_fewer(gw: Run, tmp_path: Path) -> None:
    for count in (3, 6):
        gw("generate", "--source", "isra", "--count", count, "--out", tmp_path / str(count))
    few, many = contents(tmp_path / "3"), contents(tmp_path / "6")
    assert all(many[name] == few[name] for name in few if name.endswith(".onnx"))


def test_operators_opset_and_outputs_are_those_asked_for(gw: Run, tmp_path: Path) -> None:
    options = ("--operators", "Relu,Add", "--opset", 17, "--ops", "4:4", "--all-outputs")
    gw("generate", "--source", "isra", "--count", 4, *options, "--out", tmp_path / "m")
    for path in (tmp_path / "m").glob("*.onnx"):
        model = onnx.load(path)
        assert {node.op_type for node in model.graph.node} <= {"Relu", "Add"}
        assert model.opset_import[0].version == 17
        assert len(model.graph.output) == len(model.graph.node) == 4


def test_coverage_gives_every_metric(gw: Run, tmp_path: Path) -> None:
    gw("generate", "--source", "isra", "--count", 20, "--operators", "Relu,Add,Concat", "--out", tmp_path / "m")
    done = gw("coverage", tmp_path / "m", "--operators", "Relu,Add,Concat", "--json")
    assert (done.code, done.json["models"]) == (0, 20)
    found = done.json["metrics"]
    assert {"OTC", "IDC", "ODC", "SEC", "DEC", "SAC", "NOO", "NOT", "NOP", "NTR", "NSA"} <= set(found)
    assert found["OTC"] == 1 and found["SPC"] == found["SAC"]
    assert sum(done.json["frequency"].values()) == pytest.approx(20 * found["NOO"])
    assert "NOO" in gw("coverage", tmp_path / "m").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--source", "nothing"), "no generator of models is called 'nothing': choose one of"),
        (("--source", "isra", "--ops", "5"), "--ops '5' is not of the form LB:UB"),
        (("--source", "isra", "--ops", "6:5"), "--ops '6:5' is not of the form LB:UB with 1 <= LB <= UB"),
        (("--source", "isra", "--ops", "0:5"), "--ops '0:5'"),
        (("--source", "isra", "--ops", "1:100001"), "--ops 1:100001: isra makes models of at most 100000"),
        (("--source", "mcts", "--ops", "1:1001"), "--ops 1:1001: mcts makes models of at most 1000"),
        (("--source", "isra", "--operators", "Adder"), "--operators: no operator 'Adder' in the table at opset 26"),
        (("--source", "isra", "--operators", "relu"), "; do you mean Relu?"),
        (("--source", "isra", "--operators", ","), "--operators ',' names no operator; leave it out"),
        (("--source", "isra", "--operators", ""), "--operators '' names no operator; leave it out"),
        (("--source", "isra", "--opset", "0"), "no opset 0: choose one from 1 to"),
        (("--source", "isra", "--picking-rate", "1.5"), "--picking-rate"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_one_line(
    gw: Run, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    done = gw("generate", *options, "--out", tmp_path / "m")
    assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "m" / "manifest.jsonl").exists()


@pytest.mark.parametrize("source", ["isra", "declarative", "randoop", "mcts"])
def test_limits_that_leave_no_operator_anything_are_told_instead_of_tried_for_ever(
    gw: Run, tmp_path: Path, source: str
) -> None:
    narrow = ("--rank", 0, "--operators", "Conv", "--count", 2, "--ops", "1:2")
    done = gw("generate", "--source", source, *narrow, "--out", tmp_path / "m")
    assert done.code == 2 and "allow more of" in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "m").exists()
    assert gw("generate", "--source", "isra", "--rank", 0, "--count", 2, "--out", tmp_path / "n").code == 0


def test_names_of_operators_may_have_spaces_around_them(gw: Run, tmp_path: Path) -> None:
    gw("generate", "--source", "isra", "--count", 3, "--operators", "Relu, Add ", "--out", tmp_path / "m")
    found = gw("coverage", tmp_path / "m", "--operators", " Relu,Add", "--json").json
    assert set(found["frequency"]) == {"Relu", "Add"} and found["metrics"]["OTC"] == 1


def test_a_folder_with_other_models_is_left_alone(gw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"")
    done = gw("generate", "--source", "isra", "--out", tmp_path)
    assert done.code == 2 and "holds mine.onnx, which is not of this run" in done.err
    gw("generate", "--source", "isra", "--count", 3, "--out", tmp_path / "m")
    done = gw("generate", "--source", "isra", "--count", 2, "--out", tmp_path / "m")
    assert done.code == 2 and "holds 000003.onnx" in done.err


def test_a_folder_that_cannot_be_made_is_told(gw: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = gw("generate", "--source", "isra", "--out", tmp_path / "file" / "m")
    assert done.code == 2 and "name a folder that can be written" in done.err


@pytest.mark.parametrize("content", [None, b"", b"no model"])
def test_a_folder_without_usable_models_is_told(gw: Run, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "x.onnx").write_bytes(content)
    done = gw("coverage", tmp_path, "--json")
    assert done.code == 2 and not done.out and len(done.err.splitlines()) == 1


def test_the_frequency_of_operators_is_drawn(gw: Run, tmp_path: Path) -> None:
    gw("generate", "--source", "isra", "--count", 5, "--operators", "Relu,Add", "--out", tmp_path / "m")
    assert gw("coverage", tmp_path / "m", "--operators", "Relu,Add,Tan", "--plot", tmp_path / "f.svg").code == 0
    drawn = ElementTree.parse(tmp_path / "f.svg")
    shown = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Relu", "Add", "Tan"} <= shown
    refused = gw("coverage", tmp_path / "m", "--plot", tmp_path / "f.png")
    assert refused.code == 2 and "name a file that ends in .svg" in refused.err
    refused = gw("coverage", tmp_path / "m", "--plot", tmp_path / "none" / "f.svg")
    assert refused.code == 2 and "there is no folder" in refused.err and not refused.out


def test_files_that_cannot_be_read_are_named(gw: Run, tmp_path: Path) -> None:
    (tmp_path / "x.onnx").symlink_to(tmp_path / "nowhere")
    done = gw("coverage", tmp_path, "--json")
    assert done.code == 2 and "x.onnx: cannot be read (No such file or directory); take it away" in done.err


def test_coverage_of_an_unknown_operator_or_no_folder_is_refused(gw: Run, tmp_path: Path) -> None:
    assert "no operator 'Adder'" in gw("coverage", tmp_path, "--operators", "Adder").err
    for nothing in (",", ""):
        assert "names no operator" in gw("coverage", tmp_path, "--operators", nothing).err
    for opset in (0, 99):
        assert f"no opset {opset}: choose one from 1 to" in gw("coverage", tmp_path, "--opset", opset).err
    assert "is no folder" in gw("coverage", tmp_path / "none").err


def graph_with(**tensor: object) -> onnx.GraphProto:
    """A Reshape whose target shape is such a tensor."""
    x, y = (onnx.helper.make_tensor_value_info(name, 1, [1, 2]) for name in "xy")
    target = onnx.TensorProto(name="s", data_type=7, dims=[2], **tensor)  # type: ignore[arg-type]
    return onnx.helper.make_graph([onnx.helper.make_node("Reshape", ["x", "s"], ["y"])], "g", [x], [y], [target])


@pytest.mark.parametrize(
    ("graph", "opsets", "words"),
    [
        (graph_with(raw_data=bytes(16)), [], "No opset import"),
        (graph_with(raw_data=b"12"), [("", 26)], "buffer size"),
        (
            graph_with(data_location=1, external_data=[onnx.StringStringEntryProto(key="location", value="w.bin")]),
            [("", 26)],
            "w.bin",
        ),
    ],
)
def test_a_model_that_cannot_be_understood_is_named_in_one_line(
    gw: Run, tmp_path: Path, graph: onnx.GraphProto, opsets: list[tuple[str, int]], words: str
) -> None:
    model = onnx.helper.make_model(graph, ir_version=13)
    del model.opset_import[:]
    model.opset_import.extend([onnx.helper.make_opsetid(*each) for each in opsets])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    done = gw("coverage", tmp_path, "--json")
    assert done.code == 2 and "m.onnx: cannot be understood" in done.err and words in done.err
    assert len(done.err.splitlines()) == 1
