"""Calls within documented constraints, and calls against one of them."""

from __future__ import annotations

import json
from typing import Any

from fuzz import instance
from fuzz.migrate._conforming import conforming, violating
from fuzz.migrate._docstrings import Documented, Parameter
from fuzz.migrate._shapes import Shape

BLEND = Documented(
    "torch.blend",
    (
        Parameter("input", ("tensor",), shapes=(Shape(("n", "m")),)),
        Parameter("other", ("tensor",), shapes=(Shape(("m", "n")),)),
        Parameter("index", ("tensor",), dtypes=("int64",)),
        Parameter("amount", ("float",), low=0.0, high=1.0),
        Parameter("mode", ("str",), required=False, keyword=True, choices=("soft", "hard")),
        Parameter("keep", ("bool",), required=False, default="False"),
    ),
)


def shape(document: dict[str, Any], at: int) -> list[int]:
    found: list[int] = document["tensors"][document["args"][at]["tensor"]]["shape"]
    return found


def test_every_call_is_an_instance_that_satisfies_the_constraints() -> None:
    for proposal in conforming(BLEND, 40, seed=0):
        document = proposal.document
        instance.parse(json.dumps(document))
        assert shape(document, 0) == shape(document, 1)[::-1]
        assert document["tensors"][2]["dtype"] == "int64"
        assert 0 <= document["args"][3] <= 1
        assert document.get("kwargs", {}).get("mode", "soft") in ("soft", "hard")


def test_the_first_calls_give_only_what_is_required() -> None:
    first, *_, last = conforming(BLEND, 20, seed=0)
    assert len(first.document["args"]) == 4 and "kwargs" not in first.document
    assert "kwargs" in last.document


def test_the_same_seed_gives_the_same_calls() -> None:
    once, again = list(conforming(BLEND, 10, seed=3)), list(conforming(BLEND, 10, seed=3))
    assert once == again != list(conforming(BLEND, 10, seed=4))


def test_a_violating_call_breaks_what_it_says() -> None:
    broken = {proposal.what: proposal.document for proposal in violating(BLEND, seed=0)}
    assert len(shape(broken["rank of input"], 0)) == 3
    assert broken["upper bound of amount"]["args"][3] > 1
    assert broken["lower bound of amount"]["args"][3] < 0
    assert broken["dtype of index"]["tensors"][2]["dtype"] == "float32"
    assert broken["choice of mode"]["kwargs"]["mode"] == "SOFT"


def test_a_broken_size_is_independent_of_the_one_that_it_should_equal() -> None:
    pairs = []
    for seed in range(10):
        broken = {proposal.what: proposal.document for proposal in violating(BLEND, seed)}["size of other"]
        pairs.append((shape(broken, 1)[-1], shape(broken, 0)[0]))
    assert any(one != other for one, other in pairs)
