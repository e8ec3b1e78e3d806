"""Which arguments of a call a compiler does not look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fuzz.catalogue import target
from fuzz.judge import Judge
from fuzz.runner import Runner
from tests.triage.test_likeness_call import FLOATS, call, failure_of
from triage.conditions import conditions


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, target("reference"))


def test_an_argument_without_which_all_is_the_same_is_ignored(judge: Judge) -> None:
    tensors = [{**FLOATS, "values": [1.0, 2.0, 4.0, 7.0]}, {**FLOATS, "values": [5.0, -6.0, 7.0, 9.0]}]
    found = conditions(judge, failure_of(judge, call("torch.add", tensors, alpha=2)))
    assert [one.text for one in found if one.ignored] == ["alpha"]


def test_a_number_of_which_the_fraction_is_cut_off_is_not_ignored(judge: Judge) -> None:
    case = call("torch.var", [{**FLOATS, "values": [1.0, 2.0, 4.0, 7.0]}], correction=1.3)
    found = conditions(judge, failure_of(judge, case))
    assert [one.text for one in found if one.needed] and not any(one.ignored for one in found)
