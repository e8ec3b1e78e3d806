"""`graphwarden prioritize`: all ids in the order of a strategy, one clear line for what cannot be ordered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz import prioritize
from tests.bot.support import Run


def saved(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def onnx(line: int, op_type: str, shape: list[int], **kwargs: object) -> dict[str, object]:
    return {"op_type": op_type, "kwargs": kwargs, "input_shape": [shape], "input_dtype": ["FLOAT"], "line": line}


LINES = [
    onnx(10, "Softmax", [2, 3], axis=1),
    onnx(11, "Softmax", [2, 3], axis=1),
    onnx(12, "Softmax", [0, 3], axis=-1),
    onnx(13, "Shape", [2]),
    {"id": "a1", "api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]},
]


@pytest.mark.parametrize("strategy", prioritize.names())
def test_every_id_comes_once(gw: Run, tmp_path: Path, strategy: str) -> None:
    path = saved(tmp_path / "i.jsonl", *LINES)
    done = gw("prioritize", path, "--strategy", strategy, "--seed", 3, "--json")
    assert done.code == 0 and not done.err
    assert sorted(done.json, key=str) == [10, 11, 12, 13, "a1"]
    assert done.json == gw("prioritize", path, "--strategy", strategy, "--seed", 3, "--json").json


def test_without_a_strategy_the_projects_own_puts_repetitions_last(gw: Run, tmp_path: Path) -> None:
    done = gw("prioritize", saved(tmp_path / "i.jsonl", *LINES), "--json")
    assert done.json[-1] in (10, 11) and done.json.index(12) < 4


def test_what_the_compilers_own_tests_have_waits(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "i.jsonl", onnx(1, "Abs", [2]), onnx(2, "Neg", [2]))
    for tested, first in (("Abs", 2), ("Neg", 1)):
        equipped = saved(tmp_path / "e.jsonl", onnx(9, tested, [2]))
        assert gw("prioritize", path, "--equipped", equipped, "--json").json[0] == first


def test_a_compilers_own_tests_may_be_none_or_the_same_twice(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "i.jsonl", onnx(1, "Abs", [2]), onnx(2, "Neg", [2]))
    for tested in ([], [onnx(9, "Abs", [2])] * 2):
        equipped = saved(tmp_path / "e.jsonl", *tested)
        assert sorted(gw("prioritize", path, "--equipped", equipped, "--json").json) == [1, 2]


def test_for_people_there_is_one_id_a_line(gw: Run, tmp_path: Path) -> None:
    done = gw("prioritize", saved(tmp_path / "i.jsonl", *LINES))
    assert sorted(done.out.split()) == ["10", "11", "12", "13", "a1"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "holds no instances"),
        (["{"], ":1: is not JSON"),
        ([{"op_type": "Abs"}], ":1: kwargs must be an object of attributes"),
        ([LINES[0], LINES[0]], ":2: id 10 is that of line 1 already"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(gw: Run, tmp_path: Path, lines: list[object], told: str) -> None:
    done = gw("prioritize", saved(tmp_path / "i.jsonl", *lines), "--json")
    assert done.code == 2 and told in done.err and done.err.count("\n") == 1 and not done.out


def test_a_missing_file_a_folder_and_an_unknown_strategy_are_refused(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "i.jsonl", *LINES)
    assert "no such file" in gw("prioritize", tmp_path / "no.jsonl").err
    assert "is a folder" in gw("prioritize", tmp_path).err
    done = gw("prioritize", path, "--strategy", "best")
    assert done.code == 2 and "unknown strategy 'best'" in done.err and "round-robin" in done.err
