"""`graphwarden instances` and `prioritize` refuse the same broken lines, in one line without Python's words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz import instance_store
from fuzz.ranking import reading
from tests.bot.support import Run

X = {"dtype": "float32", "shape": [2]}
FIRST = {"api": "torch.abs", "args": [{"dtype": "float32", "shape": [3]}]}
ABS = {
    "library": "onnx",
    "op_type": "Abs",
    "kwargs": {},
    "input_name": ["x"],
    "input_shape": [[2]],
    "input_dtype": ["FLOAT"],
}


def saved(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_instances_are_counted_by_operator_and_library(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "i.jsonl", FIRST, {"api": "torch.nn.ReLU", "init": {}, "args": [X]}, ABS)
    done = gw("instances", path, "--json")
    assert done.code == 0 and done.json["instances"] == 3
    assert done.json["operators"] == {"Abs": 1, "torch.abs": 1, "torch.nn.ReLU": 1}
    assert done.json["libraries"] == {"torch": 2, "onnx": 1}


BROKEN: list[tuple[Any, str]] = [
    ('{"api": "torch.add", "args": [{"dtype": "float32", "shape": [2]}, NaN]}', 'NaN is no JSON value; write {"float"'),
    ('{"api": "torch.add", "args": [-Infinity]}', '-Infinity is no JSON value; write {"float": "-inf"}'),
    ({"api": "torch.nosuch", "args": [X]}, "api torch.nosuch is no operator of torch"),
    ({"library": "keras", "api": "keras.layers.Nosuch", "init": {}}, "keras.layers.Nosuch is no operator of keras"),
    ({"library": "jax", "api": "jax.abs"}, "library 'jax' is not known"),
    ({"api": 3}, "api must be a dotted name"),
    ({"api": "torch.abs", "args": [{"tensor": 5}]}, "args[0]: there is no tensor 5"),
    ({"api": "torch.abs", "args": {"a": 1}}, "args must be a list"),
    ({"api": "torch.abs", "args": [{"dtype": "float33", "shape": [2]}]}, "dtype 'float33' is not known"),
    ({"api": "torch.abs", "args": [{"dtype": "float32", "shape": [-2]}]}, "shape must be a list of sizes"),
    ({"api": "torch.abs", "argz": []}, "unknown key 'argz'"),
    ({"api": "torch.abs", "kwargs": [1]}, "kwargs must be an object"),
    ({"api": "torch.nn.ReLU", "init": [1]}, "init must be a JSON object"),
    ({**ABS, "op_type": ""}, "op_type must be an operator's name"),
    ({**ABS, "kwargs": [1]}, "kwargs must be an object of attributes"),
    ({**ABS, "input_shape": [2]}, "input_shape[0] must be a list of sizes"),
    ({**ABS, "input_shape": [["a"]]}, "input_shape[0] must be a list of sizes"),
    ({**ABS, "input_dtype": [3]}, "input_dtype[0] must be an element type"),
    ({**ABS, "input_dtype": []}, "0 entries in input_dtype but 1 in input_shape"),
    ('{"api": "torch.abs", "args": [{"dtype":', "is not JSON: expecting value at column"),
    ("[1]", "is not a JSON object"),
    ("[" * 100_000, "is nested too deeply"),
]


def read_for_counting(path: Path) -> None:
    try:
        instance_store.load(path)
    except instance_store.StoreError as error:
        raise ValueError(str(error)) from error


def read_for_ordering(path: Path) -> None:
    try:
        reading.items(path)
    except reading.UnreadableItem as error:
        raise ValueError(str(error)) from error


@pytest.mark.parametrize("read", [read_for_counting, read_for_ordering])
@pytest.mark.parametrize(("line", "told"), BROKEN, ids=[told for _, told in BROKEN])
def test_a_broken_line_is_told_with_its_place_and_how_to_mend_it(
    tmp_path: Path, read: Callable[[Path], None], line: object, told: str
) -> None:
    with pytest.raises(ValueError) as refused:
        read(saved(tmp_path / "i.jsonl", FIRST, line))
    said = str(refused.value)
    assert "i.jsonl:2: " in said and told in said and "\n" not in said and "Error" not in said


@pytest.mark.parametrize("command", ["instances", "prioritize"])
def test_bytes_that_are_no_text_are_told(gw: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "i.jsonl").write_bytes(json.dumps(FIRST).encode() + b"\n\xff\xfe{}\n")
    done = gw(command, tmp_path / "i.jsonl")
    assert done.code == 2 and "i.jsonl:2: is not UTF-8 text" in done.err and done.err.count("\n") == 1 and not done.out


def test_an_instance_of_onnx_that_does_not_say_so_is_no_instance_but_can_be_ordered(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "i.jsonl", {key: value for key, value in ABS.items() if key != "library"})
    done = gw("instances", path)
    assert done.code == 2 and 'needs "library": "onnx"' in done.err
    assert gw("prioritize", path, "--json").json == [1]
