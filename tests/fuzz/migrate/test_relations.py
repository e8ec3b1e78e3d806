"""Which operators may be related, how a call of one becomes a call of the other, and that PyTorch decides."""

from __future__ import annotations

import pytest

from fuzz.instance_store import Stored
from fuzz.migrate import Request, _torch_parent
from fuzz.migrate.relations import CHILD, as_call_of, candidates

X = {"tensor": 0}


def test_names_are_compared_without_namespace_case_and_underscores() -> None:
    known = ["torch.relu", "torch.nn.functional.relu", "torch.nn.ReLU", "torch.Tensor.relu_", "torch.special.gelu"]
    assert list(candidates(["torch.relu"], known, {})) == [
        ("torch.relu", "torch.nn.ReLU"),
        ("torch.relu", "torch.nn.functional.relu"),
    ]


def test_a_documented_alias_is_a_candidate_in_both_directions() -> None:
    known, aliases = ["torch.abs", "torch.absolute"], {"torch.absolute": "torch.abs"}
    assert list(candidates(known, known, aliases)) == [("torch.abs", "torch.absolute"), ("torch.absolute", "torch.abs")]


@pytest.mark.parametrize(
    ("call", "api", "expected"),
    [
        (
            {"api": "torch.nn.functional.elu", "args": [X, 0.5]},
            "torch.nn.ELU",
            {"args": [X], "kwargs": {}, "init": {"args": [0.5], "kwargs": {}}},
        ),
        (
            {"api": "torch.nn.ELU", "args": [X], "init": {"kwargs": {"alpha": 0.5}}},
            "torch.nn.functional.elu",
            {"args": [X], "kwargs": {"alpha": 0.5}},
        ),
        ({"api": "torch.elu", "args": [X, 2]}, "torch.Tensor.elu", {"args": [X, 2]}),
    ],
)
def test_arguments_go_where_the_other_operator_takes_them(
    call: dict[str, object], api: str, expected: dict[str, object]
) -> None:
    assert as_call_of(api, call) == {"api": api, **expected}


@pytest.mark.parametrize(
    "call",
    [
        {"api": "torch.nn.functional.prelu", "args": [X], "kwargs": {"weight": {"tensor": 1}}},
        {"api": "torch.nn.Linear", "args": [X], "init": {"args": [3, 4]}},
    ],
)
def test_a_call_that_cannot_be_written_for_the_other_is_none(call: dict[str, object]) -> None:
    other = "torch.nn.PReLU" if call["api"] != "torch.nn.Linear" else "torch.nn.functional.linear"
    assert as_call_of(other, call) is None


def pair(one: str, other: str, *shapes: list[int]) -> dict[str, object]:
    calls = [{"api": one, "args": [X], "tensors": [{"dtype": "float32", "shape": shape}]} for shape in shapes]
    return {"name": f"{one} as {other}", "pairs": [[call, {**call, "api": other}] for call in calls], "most": 2}


def test_pytorch_says_whether_operators_are_related() -> None:
    shapes = [2, 3], [4], []
    tasks = [
        pair("torch.relu", "torch.nn.functional.relu", *shapes),
        pair("torch.relu", "torch.sin", *shapes),
        pair("torch.relu", "torch.nn.functional.relu6", [3]),
    ]
    related, different, few = [], [], []
    for found in _torch_parent.in_order(CHILD, tasks, Request(jobs=1)):
        if isinstance(found, Stored):
            related.append((found.operator, found.source.kind))
        else:
            (different if "different results" in found.reason else few).append(found.test)
    assert related == [("torch.nn.functional.relu", "relations")] * 2
    assert different == ["torch.relu"] and few == ["torch.relu"]
