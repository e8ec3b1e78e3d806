"""What a wrong result of a call would be right for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz.case import Case, Failure, Origin
from fuzz.catalogue import target
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.inquiry import Condition

PLANTED = str(Path(__file__).with_name("planted_calls.py"))
INTEGERS = {"dtype": "int64", "shape": [3]}
FLOATS = {"dtype": "float32", "shape": [4]}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, target("reference"))


def call(api: str, tensors: list[dict[str, Any]], *args: object, **kwargs: object) -> Case:
    """The call of the tensors, other positional arguments behind them."""
    given = [*({"tensor": at} for at in range(len(tensors))), *args]
    document = {"library": "torch", "api": api, "args": given, "kwargs": kwargs, "tensors": tensors}
    return Case("instance", json.dumps(document).encode(), {}, Origin("test"))


def failure_of(judge: Judge, case: Case) -> Failure:
    found = judge.examine(case, target(PLANTED)).failure
    assert found is not None
    return found


def told(judge: Judge, case: Case) -> list[Condition]:
    return [one for one in conditions(judge, failure_of(judge, case)) if one.kind == "likeness"]


def test_a_word_that_was_taken_for_another_is_told(judge: Judge) -> None:
    tensors = [{**INTEGERS, "values": [-7, 5, -3]}, {**INTEGERS, "values": [2, 2, 2]}]
    case = call("torch.div", tensors, rounding_mode="floor")
    found = conditions(judge, failure_of(judge, case))
    [like] = [one for one in found if one.kind == "likeness"]
    assert like.sentence == 'The wrong result is what `rounding_mode="trunc"` should give, on other inputs as well.'
    title = titles.subject(case, ["torch.div"], found)
    assert title.endswith('computes as if rounding_mode were "trunc" instead of "floor"')


def test_what_fits_one_witness_by_chance_is_not_told(judge: Judge) -> None:
    """Equal numbers less each other are 0 with `alpha=1`, and the planted fault gives zeros for any numbers."""
    case = call("torch.sub", [{**INTEGERS, "values": [1, 2, 3]}] * 2, alpha=2)
    assert told(judge, case) == []


def test_a_number_by_position_is_told_as_a_formula_where_it_is_one(judge: Judge) -> None:
    tensors = [{**FLOATS, "values": [1.0, 2.0, 3.0, 4.0]}, {**FLOATS, "values": [5.0, -6.0, 7.0, 9.0]}]
    [like] = told(judge, call("torch.lerp", tensors, 0.9))
    assert like.text == "weight were 1 - weight"


def test_an_argument_is_not_called_by_a_name_that_the_library_does_not_take(judge: Judge) -> None:
    """`torch.std(x, True)` is the overload with `unbiased`; the first line of the docstring has `dim` there."""
    case = call("torch.std", [{**FLOATS, "values": [1.0, 2.0, 4.0, 7.0]}], True)
    assert told(judge, case) == []


def test_an_operator_that_is_left_out_is_not_taken_for_one_along_another_axis(judge: Judge) -> None:
    case = call("torch.cumsum", [{"dtype": "float32", "shape": [1, 3], "values": [1.0, 2.0, 3.0]}], 1)
    assert told(judge, case) == []


def test_a_witness_that_the_library_refuses_says_nothing(judge: Judge) -> None:
    """Indices of the other axis may be too large or negative; this compiler takes them."""
    tensors = [
        {"dtype": "float32", "shape": [3, 3], "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]},
        {"dtype": "int64", "shape": [3, 3], "values": [0, 1, 2, 2, 0, 1, 1, 2, 0]},
    ]
    document = json.loads(call("torch.gather", tensors).model)
    document["args"] = [{"tensor": 0}, 1, {"tensor": 1}]
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    [like] = told(judge, case)
    assert like.text == "dim were 0 instead of 1"


def test_a_number_that_is_left_out_is_told_as_well(judge: Judge) -> None:
    """One number is the result of each witness; several of them are no chance."""
    [like] = told(judge, call("torch.Tensor.var", [{**FLOATS, "values": [1.0, 2.0, 4.0, 7.0]}]))
    assert like.text == "correction were 0 instead of 1 when called without arguments"
    assert like.sentence.endswith("With `correction=1`, which is the default, the call passes.")
