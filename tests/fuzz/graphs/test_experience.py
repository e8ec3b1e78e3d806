"""What is learnt of operators: refusals, and how likely a failure of a new kind is."""

import json
import random

import pytest

from fuzz.graphs.experience import Experience
from fuzz.graphs.kept import KeptExperience


def mean(experience, name, draws=4000):
    draw, prior = random.Random(1), experience.prior()
    return sum(experience.rate(name, prior, draw) for _ in range(draws)) / draws


OPERATORS = ["Tile", *(f"Operator{at}" for at in range(20))]


def tried(results=100, *failing):
    """All operators were tried so often, and these failed, each in as many ways as it is named."""
    experience = Experience()
    for _ in range(results):
        experience.ran(OPERATORS)
    for at, name in enumerate(failing):
        experience.failed(f"kind {at}", [name])
    return experience


def test_before_anything_is_known_all_operators_promise_the_same():
    experience = Experience()
    assert mean(experience, "Conv") == pytest.approx(mean(experience, "Relu"), rel=0.05)


def test_failures_of_many_operators_tell_nothing_of_the_next_one():
    experience = tried(100, *OPERATORS[:6])
    assert mean(experience, "Tile") == pytest.approx(mean(experience, "Operator15"), rel=0.2)


def test_an_operator_that_failed_in_several_ways_promises_others():
    experience = tried(100, *["Tile"] * 6)
    assert mean(experience, "Tile") > 5 * mean(experience, "Operator15")


def test_a_kind_that_is_seen_again_promises_no_other():
    experience = tried(100, *["Tile"] * 6)
    before = mean(experience, "Tile")
    for at in range(3):
        experience.failed_again(f"kind {at}")
    assert mean(experience, "Tile") < 0.7 * before
    once = experience.state()
    experience.failed_again("kind 0")
    experience.failed_again("known from before")
    assert experience.state() == once


def test_suspects_share_what_a_failure_promises():
    alone, shared = tried(100, *["Tile"] * 6), tried()
    for at in range(6):
        shared.failed(f"kind {at}", ["Tile", "Operator1", "Operator2"])
    assert mean(alone, "Tile") > mean(shared, "Tile") > mean(shared, "Operator9")


def test_what_was_tried_little_promises_more_than_what_was_tried_in_vain():
    experience = tried(200, *["Tile"] * 6)
    experience.ran(["Gemm"])
    assert mean(experience, "Gemm") > 2 * mean(experience, "Operator3")


def test_refusals_lower_the_success_and_are_no_results():
    experience = tried(10, *["Tile"] * 3)
    before = mean(experience, "Operator1")
    for _ in range(30):
        experience.refused(["Operator1"])
    assert experience.success("Operator1") < 0.5 < experience.success("Operator2")
    assert mean(experience, "Operator1") == pytest.approx(before, rel=0.1)


def test_it_goes_on_where_another_one_stopped():
    experience = tried(100, *["Tile"] * 4)
    experience.refused(["Relu"])
    again = Experience()
    again.restore(KeptExperience(**json.loads(json.dumps(experience.state()))))
    assert again.state() == experience.state()
    for name in ("Tile", "Relu"):
        assert mean(again, name) == mean(experience, name)
    again.failed_again("kind 1")
    assert mean(again, "Tile") < mean(experience, "Tile")


def test_kinds_seen_once_are_forgotten_in_the_order_in_which_they_came():
    """In a campaign without end a compiler may fail in ever new ways."""
    experience = tried(100)
    for at in range(5000):
        experience.failed(f"kind {at}", ["Tile"])
    once = experience.state()["once"]
    assert len(once) == 4096 and "kind 903" not in once and {"kind 904", "kind 4999"} <= once.keys()
    again = Experience()
    again.restore(KeptExperience(**json.loads(json.dumps(experience.state()))))
    assert mean(again, "Tile", 100) == pytest.approx(mean(experience, "Tile", 100))
