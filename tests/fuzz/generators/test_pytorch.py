"""The PyTorch operator instances as cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuzz import instance_store
from fuzz.case import Case
from fuzz.generators import Skip, _recorded, pytorch
from fuzz.instance_store import Source, Writer, stored

RELU = {"api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (pytorch, _recorded):
        monkeypatch.setattr(module, "data_path", lambda *parts: tmp_path.joinpath(*parts))
    (tmp_path / "instances" / "torch").mkdir(parents=True)
    with Writer(tmp_path / "instances" / "pytorch.jsonl.gz"):
        pass
    return tmp_path / "instances"


def by_hand(folder: Path, name: str, document: Any) -> None:
    (folder / "torch" / f"{name}.json").write_text(json.dumps(document, indent=1))


def recorded(folder: Path, document: Any, *flags: str) -> None:
    with Writer(folder / "pytorch.jsonl.gz") as writer:
        writer.add(stored(document, Source("pytorch-opinfo", "a test"), flags))


def test_an_instance_by_hand_is_a_case_named_after_its_file(folder: Path) -> None:
    by_hand(folder, "relu", {**RELU, "version": "2.13.0"})
    [case] = pytorch.cases(0)
    assert isinstance(case, Case)
    assert (case.kind, case.origin.generator, case.origin.test, dict(case.inputs)) == (
        "instance",
        "pytorch",
        "relu",
        {},
    )
    assert case.id == stored(RELU, Source("")).id


def test_a_recorded_instance_that_someone_wrote_too_comes_once(folder: Path) -> None:
    by_hand(folder, "relu", RELU)
    recorded(folder, RELU)
    [case] = pytorch.cases(0)
    assert isinstance(case, Case) and case.origin.test == "relu"


def test_a_recorded_instance_keeps_the_name_of_its_test(folder: Path) -> None:
    recorded(folder, RELU)
    [case] = pytorch.cases(0)
    assert isinstance(case, Case) and (case.origin.test, case.origin.variant) == ("a test", "plain")


def test_a_result_that_varies_is_skipped_and_an_ill_conditioned_one_is_named(folder: Path) -> None:
    recorded(folder, RELU, "nondeterministic")
    [skip] = pytorch.cases(0)
    assert isinstance(skip, Skip) and "different results" in skip.reason
    recorded(folder, RELU, "ill-conditioned")
    [case] = pytorch.cases(0)
    assert isinstance(case, Case) and case.origin.variant == "ill-conditioned"


@pytest.mark.parametrize(("text", "reason"), [("{", "is not valid JSON"), ('{"api": 3}', "is no instance")])
def test_a_broken_file_is_skipped_with_its_name(folder: Path, text: str, reason: str) -> None:
    (folder / "torch" / "broken.json").write_text(text)
    [skip] = pytorch.cases(0)
    assert isinstance(skip, Skip)
    assert "broken.json" in skip.reason and reason in skip.reason


def test_the_seed_decides_the_order_and_nothing_else() -> None:
    one, again, other = ([case.id for case in pytorch.cases(seed) if isinstance(case, Case)] for seed in (0, 0, 1))
    assert one == again != other
    assert sorted(one) == sorted(other)


def test_the_first_cases_are_of_many_operators() -> None:
    cases = [case for case in pytorch.cases(5) if isinstance(case, Case)]
    assert len({json.loads(case.model)["api"] for case in cases[:400]}) == 400


def test_at_least_ten_thousand_distinct_instances_over_450_operators_are_shipped() -> None:
    shipped = instance_store.load(pytorch.data_path("instances", "pytorch.jsonl.gz"))
    assert len({each.id for each in shipped}) == len(shipped) >= 10_000
    assert len({each.operator for each in shipped}) >= 450
    assert {each.source.kind for each in shipped} == {"pytorch-opinfo", "pytorch-module"}
    dtypes = {tensor["dtype"] for each in shipped for tensor in each.document["tensors"]}
    assert {"float32", "float16", "bfloat16", "int64", "int8", "bool", "complex64"} <= dtypes
