"""What is shipped of earlier releases' failures: it names cases that a hunt has, and the hunt begins with them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from fuzz import generators, registry
from fuzz.case import Case
from fuzz.data import data_path
from fuzz.ranking import failed_before
from fuzz.ranking.stream import LEARNS, Ordered

BACKENDS = sorted(path.stem for path in data_path("failed").glob("*.json"))


@pytest.fixture(scope="module")
def ids() -> set[str]:
    """The ids of all cases that the shipped files may name."""
    return set(_ids(generators.load("pytorch")(0))) | set(_ids(generators.load("onnx_node")(0)))


def _ids(source: Iterable[object]) -> list[str]:
    return [each.id for each in source if isinstance(each, Case)]


def test_something_is_shipped_of_compilers_that_there_are() -> None:
    assert {"tvm", "openvino"} <= set(BACKENDS) <= set(registry.names())


@pytest.mark.parametrize("backend", BACKENDS)
def test_most_cases_that_a_file_names_are_cases_of_the_shipped_sources(backend: str, ids: set[str]) -> None:
    """A source that changes makes some of them vanish; once many have, the file has to be written anew."""
    named = set(failed_before.shipped(backend).by_case())
    assert len(named & ids) > 0.9 * len(named) > 0


def test_a_hunt_begins_with_one_case_of_each_bug() -> None:
    before = failed_before.together(failed_before.of(["tvm"]), {})
    order = _ids(Ordered(generators.load("onnx_node")(0), LEARNS, 0, before))
    mine = {bug for case_id in order for bug in before.get(case_id, ())}
    first = order[: len(mine)]
    shown = [bug for case_id in first for bug in before.get(case_id, ())]
    assert len(mine) > 20
    assert set(shown) == mine


def test_what_is_known_of_a_case_is_added_to_what_is_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"backend": "x", "version": "1", "bugs": {"b": ["1", "2"]}}))
    monkeypatch.setattr(failed_before, "place", lambda backend: tmp_path / f"{Path(backend).stem}.json")
    failed_before.shipped.cache_clear()
    try:
        assert failed_before.together(failed_before.of(["x", "y"]), {"2": ["own"]}) == {"1": {"b"}, "2": {"b", "own"}}
        assert failed_before.shipped("y") is failed_before.NOTHING, "there is no file"
        assert failed_before.shipped("own/x.py") is failed_before.NOTHING, "that is not the project's backend"
    finally:
        failed_before.shipped.cache_clear()
