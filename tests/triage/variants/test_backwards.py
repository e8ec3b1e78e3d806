"""Axes and positions that a call counts from the end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fuzz.case import Case, Origin
from triage.passes._instances import parsed
from triage.variants import Variant, backwards

X = {"dtype": "float32", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]}


def found(api: str, args: list[Any], *indices: list[int], **kwargs: Any) -> dict[str, Variant]:
    tensors = [X, *({"dtype": "int64", "shape": [len(one)], "values": one} for one in indices)]
    document = {"library": "torch", "api": api, "args": args, "kwargs": kwargs, "tensors": tensors}
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    return {one.text: one for one in backwards.variants(case)}


def tensor(at: int) -> dict[str, int]:
    return {"tensor": at}


def test_a_position_is_counted_along_the_axis_that_the_call_names() -> None:
    one = found("torch.select", [tensor(0), 1, -1])["negative index"]
    assert parsed(one.cases[0]).args == (tensor(0), 1, 2)
    assert one.sentence == "With `index=2`, counted from the front, the same call passes."


def test_an_axis_is_counted_by_the_number_of_axes() -> None:
    told = found("torch.sum", [tensor(0)], dim=-1)
    assert [parsed(case).kwargs for case in told["negative dim"].cases] == [{"dim": 1}]


def test_of_a_call_that_makes_an_axis_it_may_be_one_more() -> None:
    cases = found("torch.unsqueeze", [tensor(0), -1])["negative dim"].cases
    assert [parsed(case).args[1] for case in cases] == [1, 2]


def test_indices_in_tensors_are_counted_all_at_once_along_their_axes() -> None:
    key = {"tuple": [tensor(1), tensor(2)]}
    one = found("torch.Tensor.__getitem__", [tensor(0), key], [-1, 0], [2, -3])["negative indices"]
    assert [each.values for each in parsed(one.cases[0]).tensors[1:]] == [(1, 0), (2, 0)]
    assert "`x1` and `x2`" in one.sentence


def test_an_index_along_an_axis_is_counted_along_it() -> None:
    one = found("torch.index_select", [tensor(0), -1, tensor(1)], [-1, 0])["negative indices"]
    assert parsed(one.cases[0]).tensors[1].values == (2, 0)


@pytest.mark.parametrize(
    ("api", "args"),
    [
        ("torch.sum", [tensor(0), 1]),
        ("torch.Tensor.__getitem__", [tensor(0), {"tuple": [None, tensor(1)]}]),
        ("torch.clamp", [tensor(0), -1]),
    ],
)
def test_nothing_is_said_of_what_counts_from_the_front_or_is_no_position(api: str, args: list[Any]) -> None:
    assert not found(api, args, [-1])
