"""Calls of PyTorch of which one element is open: that one is excused, any other is not."""

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
from triage.court.evidence import Ruling
from triage.court.hearing import Court

SWAPS = str(Path(__file__).with_name("swaps.py"))


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Court(runner, catalogue.target("reference"), 5.0)


def tensor(dtype: str, *values: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [len(values)], "values": list(values)}


BYTES = (tensor("uint8", 200, 3), tensor("uint8", 100, 4))
NO_NUMBER = tensor("float32", {"float": "nan"}, 2.5)
LINES = {"dtype": "float32", "shape": [2, 2], "values": [{"float": "nan"}, 1.0, 2.0, 3.0]}
SQUARE = {"dtype": "float32", "shape": [2, 2], "values": [1.0, 2.0, 3.0, 4.0]}
MASK = {"dtype": "bool", "shape": [2, 2], "values": [False, False, True, True]}
#: Calls whose first element is open.
CALLS: dict[str, tuple[list[Any], tuple[dict[str, Any], ...]]] = {
    "torch.add": ([{"tensor": 1}], BYTES),
    "torch.Tensor.mul_": ([{"tensor": 1}], BYTES),
    "torch.neg": ([], (tensor("int8", -128, 5),)),
    "torch.bitwise_left_shift": ([{"tensor": 1}], (tensor("int32", 1, 2), tensor("int32", 40, 1))),
    "torch.Tensor.int": ([], (tensor("float32", 3e9, 2.5),)),
    "torch.Tensor.to": ([{"dtype": "int8"}], (tensor("float32", {"float": "nan"}, 2.5),)),
    "torch.addcmul": ([{"tensor": 1}, {"tensor": 1}], BYTES),
    "torch.nn.functional.relu": ([], (NO_NUMBER,)),
    "torch.clamp": ([-1.0, 1.0], (NO_NUMBER,)),
    "torch.nn.functional.softshrink": ([], (NO_NUMBER,)),
    "torch.amax": ([1], (LINES,)),
    "torch.nn.functional.max_pool1d": ([2], (LINES,)),
    "torch.nn.functional.scaled_dot_product_attention": ([{"tensor": 0}, {"tensor": 0}, {"tensor": 1}], (SQUARE, MASK)),
}


def ruling(
    court: Court, slip: str, api: str, args: list[Any], tensors: tuple[dict[str, Any], ...], **named: Any
) -> Ruling | None:
    call = {"api": api, "args": [{"tensor": 0}, *args], "kwargs": named, "tensors": list(tensors)}
    case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
    return court.hear(case, catalogue.target(SWAPS, {"slip": slip})).verdict


@pytest.mark.parametrize("api", CALLS)
def test_an_open_element_of_a_call_is_excused_and_no_other(court: Court, api: str) -> None:
    assert ruling(court, "first_more", api, *CALLS[api]) is Ruling.UNDEFINED
    assert ruling(court, "last_more", api, *CALLS[api]) is Ruling.COMPILER_BUG


def test_where_a_call_adds_up_all_of_it_is_open(court: Court) -> None:
    sums = [0], (tensor("uint8", 200, 100),)
    assert ruling(court, "first_more", "torch.cumsum", *sums, dtype={"dtype": "uint8"}) is Ruling.UNDEFINED


def test_what_a_topk_picks_may_stand_in_any_order_where_it_need_not_be_sorted(court: Court) -> None:
    given = [2], (tensor("float32", 1.0, 5.0, 3.0),)
    assert ruling(court, "backwards", "torch.topk", *given, sorted=False) is Ruling.UNDEFINED
    assert ruling(court, "another_value", "torch.topk", *given, sorted=False) is Ruling.COMPILER_BUG
    assert ruling(court, "backwards", "torch.topk", *given) is Ruling.COMPILER_BUG
