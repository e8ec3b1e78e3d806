"""What a wrong result of a call would be right for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.case import Case, Failure, Origin
from fuzz.catalogue import target
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions

PLANTED = str(Path(__file__).with_name("planted_calls.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, target("reference"))


def call(api: str, one: list[int], other: list[int], **kwargs: object) -> Case:
    tensors = [{"dtype": "int64", "shape": [len(values)], "values": values} for values in (one, other)]
    document = {"library": "torch", "api": api, "args": [{"tensor": 0}, {"tensor": 1}], "tensors": tensors}
    return Case("instance", json.dumps({**document, "kwargs": kwargs}).encode(), {}, Origin("test"))


def failure_of(judge: Judge, case: Case) -> Failure:
    found = judge.examine(case, target(PLANTED)).failure
    assert found is not None
    return found


def test_a_word_that_was_taken_for_another_is_told(judge: Judge) -> None:
    case = call("torch.div", [-7, 5, -3], [2, 2, 2], rounding_mode="floor")
    found = conditions(judge, failure_of(judge, case))
    [like] = [one for one in found if one.kind == "likeness"]
    assert like.sentence == 'The wrong result is what `rounding_mode="trunc"` should give, on other inputs as well.'
    told = titles.subject(case, ["torch.div"], found)
    assert told.endswith('computes as if rounding_mode were "trunc" instead of "floor"')


def test_what_fits_one_witness_by_chance_is_not_told(judge: Judge) -> None:
    """Equal numbers less each other are 0 with `alpha=1`, and the planted fault gives zeros for any numbers."""
    case = call("torch.sub", [1, 2, 3], [1, 2, 3], alpha=2)
    assert not [one for one in conditions(judge, failure_of(judge, case)) if one.kind == "likeness"]
