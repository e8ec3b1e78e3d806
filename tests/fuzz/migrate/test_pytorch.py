"""PyTorch's own test inputs as instances."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.instance import parse, tensors
from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._children import ChildFailed, Died, serve
from fuzz.migrate.pytorch import migrate

Found = list[Stored | Omitted]


@pytest.fixture(scope="module")
def found() -> Found:
    return list(migrate(Request(1, ("sinc", "gather", "nn.Linear", "nn.functional.dropout"))))


def instances(found: Found) -> list[Stored]:
    return [item for item in found if isinstance(item, Stored)]


def test_every_way_to_call_an_operator_is_recorded(found: Found) -> None:
    apis = {each.operator for each in instances(found)}
    assert {"torch.sinc", "torch.Tensor.sinc", "torch.Tensor.sinc_", "torch.special.sinc"} <= apis
    assert {"torch.gather", "torch.Tensor.gather", "torch.nn.Linear"} <= apis


def test_several_dtypes_are_recorded(found: Found) -> None:
    dtypes = Counter(
        tensor.dtype
        for each in instances(found)
        if each.operator == "torch.sinc"
        for tensor in parse(each.content).tensors
    )
    assert {"float32", "float16", "bfloat16", "int64", "int8", "bool", "complex64"} <= set(dtypes)


def test_indices_stay_in_range(found: Found) -> None:
    for each in instances(found):
        if each.operator == "torch.gather":
            instance = parse(each.content)
            data, index = tensors(instance)[:2]
            assert index.size == 0 or index.max() < max(data.shape, default=1)  # type: ignore[union-attr]


def test_every_instance_tells_its_test_and_version(found: Found) -> None:
    kinds = Counter(each.source.kind for each in instances(found))
    assert set(kinds) == {"pytorch-opinfo", "pytorch-module"}
    assert any(each.source.test == "sinc float32 #0" for each in instances(found))
    assert {each.version for each in instances(found)} == {"2.13.0"}


def test_random_operators_are_flagged(found: Found) -> None:
    flagged = {each.operator for each in instances(found) if "nondeterministic" in each.flags}
    assert flagged == {"torch.nn.functional.dropout"}


def test_what_is_left_out_has_a_reason(found: Found) -> None:
    omitted = [item for item in found if isinstance(item, Omitted)]
    assert omitted and all(item.reason and item.count > 0 for item in omitted)


def test_the_number_of_processes_does_not_matter(found: Found) -> None:
    request = ("sinc", "gather", "nn.Linear", "nn.functional.dropout")
    again = instances(list(migrate(Request(2, request))))
    assert {each.id for each in again} == {each.id for each in instances(found)}


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    with pytest.raises(MigrationFailed, match="no test of PyTorch matches no-such-thing"):
        list(migrate(Request(1, ("no-such-thing",))))


CHILD = "tests.fuzz.migrate.child"


def test_a_child_that_dies_costs_its_task_alone() -> None:
    tasks = [{"do": "answer"}, {"do": "die"}, {"do": "answer"}]
    answers = dict(serve(CHILD, tasks, 1, 60))
    assert answers[0] == {"answered": 1} and answers[2] == {"answered": 1}
    died = answers[1]
    assert isinstance(died, Died) and died.how == "SIGSEGV"


def test_a_child_may_take_its_time_as_long_as_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.migrate._children._GRACE", 0.0)
    tasks = [{"do": "answer slowly"}, {"do": "hang"}, {"do": "answer"}]
    answers = list(serve(CHILD, tasks, 1, 5))
    assert [at for at, answer in answers if answer == {"answered": 1}] == [0, 2]
    assert [answer.how for at, answer in answers if isinstance(answer, Died)] == ["SIGKILL"]


def test_a_fault_of_the_childs_own_is_raised() -> None:
    with pytest.raises(ChildFailed, match="ValueError: a fault"):
        list(serve(CHILD, [{"do": "fail"}], 2, 60))
