"""What tests promise, learnt from those that have run."""

from __future__ import annotations

import numpy as np

from fuzz.case import Case, Origin
from fuzz.ranking import cases
from tests.triage.suite.support import case
from triage.suite.order import operators
from triage.suite.promise import Promise, traits


def test_nothing_is_promised_before_anything_is_learnt() -> None:
    assert Promise([{"a"}, {"b"}]).values().tolist() == [0, 0]
    assert Promise([]).values().tolist() == []


def test_a_test_speaks_for_those_that_share_most_with_it() -> None:
    promise = Promise([{"relu", "float"}, {"relu", "float"}, {"relu", "int"}, {"abs", "int"}, set()])
    promise.learn(0, 1.0)
    same, some, none, nothing = promise.values()[1:]
    assert same > some > none == nothing == 0


def test_what_is_worth_nothing_speaks_against_its_like_and_less_so_if_it_failed() -> None:
    passing, failing = Promise([{"a"}] * 2), Promise([{"a"}] * 2)
    passing.learn(0, 0.0)
    failing.learn(0, 0.03)
    assert passing.values()[1] < failing.values()[1] < 0


def test_it_learns_which_of_two_traits_it_was() -> None:
    promise = Promise([{"resize", "half"}, {"resize", "float"}, {"pad", "half"}, {"pad", "float"}] * 2)
    for at, worth in ((0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0)):
        promise.learn(at, worth)
    half, single, *_ = promise.values()[4:]
    assert half > 0 > single


def test_a_trait_of_a_single_test_says_nothing_of_others() -> None:
    promise = Promise([{"alone"}, {"other"}])
    promise.learn(0, 1.0)
    assert np.ptp(promise.values()) == 0


def test_traits_tell_operators_types_and_the_operator_set_and_of_no_model_nothing_is_told() -> None:
    relu = case("Relu")
    item = cases.item(relu)
    found = traits(relu, item, operators(item))
    assert {("uses", "relu"), ("type", "float"), ("type of", "relu", "float"), ("set", 17)} <= found
    broken = Case("onnx", b"no model", {}, Origin("made", "broken"))
    item = cases.item(broken)
    assert ("set", 0) in traits(broken, item, operators(item))
