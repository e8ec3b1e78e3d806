"""The random models and planted bugs that the reducer is measured on; and the reducer on a few of them."""

from __future__ import annotations

import onnx
import pytest

from benchmarks import held_out, unseen
from benchmarks.planting import KINDS, plant
from benchmarks.random_models import embedded, random_case
from benchmarks.reducers import fails
from tests.triage.test_neighbour import softmax
from tests.triage.test_reduce import record, valid
from triage.operators import node_count
from triage.reduce import reduce
from triage.submodel import load


@pytest.mark.parametrize(("count", "seed"), [(1, 0), (10, 1), (200, 2)])
def test_a_random_model_is_valid_and_the_same_every_time(count: int, seed: int) -> None:
    case = random_case(count, seed)
    assert valid(case) and count <= node_count(case) <= count + 2
    assert random_case(count, seed).id == case.id


@pytest.mark.parametrize("size", [2, 40])
def test_an_embedded_model_is_still_in_there_and_computes_what_it_did(size: int) -> None:
    alone = softmax()
    case = embedded(alone, size, 3)
    assert valid(case)
    assert any((record(case)["failing/y"] == record(alone)["y"]).ravel().tolist())  # type: ignore[union-attr]
    assert node_count(case) >= size


@pytest.mark.parametrize("kind", [*KINDS, *held_out.KINDS])
def test_every_kind_of_bug_is_found_with_no_more_runs_than_it_may_cost(kind: str) -> None:
    for rare in (True, False):
        planted = (held_out.plant if kind in held_out.KINDS else plant)(kind, 60, 7, rare)
        assert valid(planted.case) and fails(planted.spec, load(planted.case))
        found = reduce(
            planted.case,
            lambda case, spec=planted.spec: fails(spec, load(case)),
            values=record,
            valid=valid,
            confirmed=False,
            neighbours=2,
            simplifying=4,
        )
        assert fails(planted.spec, load(found.case)) and valid(found.case)
        assert found.nodes_after <= planted.ideal
        assert found.runs <= 40
        onnx.checker.check_model(load(found.case), full_check=True)
        if found.min_good is not None:
            assert not fails(planted.spec, load(found.min_good.case)) and valid(found.min_good.case)


@pytest.mark.parametrize("kind", unseen.KINDS)
def test_a_model_of_blocks_is_valid_holds_its_bug_and_is_the_same_every_time(kind: str) -> None:
    planted = unseen.plant(kind, 20, 0)
    assert valid(planted.case) and fails(planted.spec, load(planted.case))
    assert unseen.plant(kind, 20, 0).case.id == planted.case.id


@pytest.mark.parametrize("kind", ["positions", "loop", "nested function"])
def test_a_bug_in_a_model_of_blocks_is_found(kind: str) -> None:
    planted = unseen.plant(kind, 60, 1)
    holds = lambda case: fails(planted.spec, load(case))  # noqa: E731
    found = reduce(
        planted.case, holds, values=record, valid=valid, confirmed=False, neighbours=2, simplifying=4, fed=False
    )
    assert holds(found.case) and found.nodes_after == planted.ideal and found.runs <= 14
    assert found.min_good is not None and not holds(found.min_good.case)
