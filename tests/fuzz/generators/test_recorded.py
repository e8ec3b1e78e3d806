"""Files of instances as sources of cases: those that are shipped, and a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz import generators, instance_store
from fuzz.case import Case
from fuzz.generators import Skip
from fuzz.instance_store import Source, Writer, stored

RELU = {"api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]}
ONNX = {"library": "onnx", "op_type": "Relu", "kwargs": {}, "input_name": [], "input_shape": [], "input_dtype": []}


def written(path: Path, *documents: dict[str, object]) -> str:
    with Writer(path) as writer:
        for document in documents:
            writer.add(stored(document, Source("pytest", "test_mine")))
    return str(path)


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz"])
def test_a_users_own_file_is_a_source(tmp_path: Path, name: str) -> None:
    [case] = generators.load(written(tmp_path / name, RELU))(0)
    assert isinstance(case, Case)
    assert (case.origin.generator, case.origin.test, case.kind) == (name, "test_mine", "instance")


def test_operators_take_turns(tmp_path: Path) -> None:
    shapes = [{"dtype": "float32", "shape": [size]} for size in range(4)]
    calls = [{"api": api, "args": [shape]} for api in ("torch.relu", "torch.sin") for shape in shapes]
    found = [case for case in generators.load(written(tmp_path / "a.jsonl", *calls))(0) if isinstance(case, Case)]
    apis = [instance_store.stored(json.loads(case.model), Source("")).operator for case in found]
    assert all({apis[at], apis[at + 1]} == {"torch.relu", "torch.sin"} for at in range(0, 8, 2))


def test_an_operator_of_onnx_says_where_its_case_is(tmp_path: Path) -> None:
    [skip] = generators.load(written(tmp_path / "a.jsonl", ONNX))(0)
    assert isinstance(skip, Skip) and "--source onnx_node" in skip.reason


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(instance_store.StoreError, match="no such file"):
        list(generators.load(str(tmp_path / "none.jsonl"))(0))


def test_a_name_that_is_neither_source_nor_file_is_told() -> None:
    with pytest.raises(
        generators.UnknownGenerator, match=r"choose one of docs, .*isra, .* or name a file of instances"
    ):
        generators.load("nonsense")


@pytest.mark.parametrize("name", ["docs", "relations", "pytorch"])
def test_the_shipped_instances_of_each_source_are_many_and_of_many_operators(name: str) -> None:
    found = list(instance_store.read(Path("data/instances") / f"{name}.jsonl.gz"))
    assert len(found) > 1000 and len({one.operator for one in found}) > 300
