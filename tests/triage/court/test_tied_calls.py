"""PyTorch's functions that pick among equal values: another one is as good, a wrong value beside it is a bug."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court

SWAPS = str(Path(__file__).with_name("swaps.py"))


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Court(runner, catalogue.target("reference"), 5.0)


def heard(
    court: Court, slip: str, api: str, *args: Any, values: tuple[float, ...] = (3, 1, 3, 2), **named: Any
) -> Judgement:
    tensor = {"dtype": "float32", "shape": [len(values)], "values": list(values)}
    call = {"api": api, "args": [{"tensor": 0}, *args], "kwargs": named, "tensors": [tensor]}
    case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
    return court.hear(case, catalogue.target(SWAPS, {"slip": slip}))


#: A call whose result holds the place of the first of two equal values.
CALLS: dict[str, tuple[Any, ...]] = {
    "torch.max": (0,),
    "torch.argmax": (),
    "torch.Tensor.argmax": (0,),
    "torch.kthvalue": (3, 0),
    "torch.mode": (0,),
}


@pytest.mark.parametrize("api", CALLS)
def test_the_place_of_another_equal_value_is_no_bug(court: Court, api: str) -> None:
    found = heard(court, "another_equal", api, *CALLS[api])
    assert found.verdict in (Ruling.UNDEFINED, None), found.reason


@pytest.mark.parametrize("api", CALLS)
def test_the_place_of_another_value_is_a_bug_though_others_are_equal(court: Court, api: str) -> None:
    assert heard(court, "another_value", api, *CALLS[api]).verdict is Ruling.COMPILER_BUG


@pytest.mark.parametrize("api", ["torch.topk", "torch.kthvalue", "torch.max", "torch.mode"])
def test_a_wrong_value_beside_equal_ones_is_a_bug(court: Court, api: str) -> None:
    found = heard(court, "wrong_value", api, *({**CALLS, "torch.topk": (3,)}[api]))
    assert found.verdict is Ruling.COMPILER_BUG, found.reason


@pytest.mark.parametrize(("slip", "ruling"), [("shuffled", Ruling.UNDEFINED), ("one_twice", Ruling.COMPILER_BUG)])
@pytest.mark.parametrize("api", ["torch.topk", "torch.sort", "torch.argsort"])
def test_what_is_sorted_may_have_equal_values_in_any_order_but_none_twice(
    court: Court, api: str, slip: str, ruling: Ruling
) -> None:
    found = heard(court, slip, api, *([3] if api == "torch.topk" else []))
    assert found.verdict is ruling, found.reason


def test_a_stable_sort_keeps_the_order_of_equal_values(court: Court) -> None:
    assert heard(court, "shuffled", "torch.sort", stable=True).verdict is Ruling.COMPILER_BUG
