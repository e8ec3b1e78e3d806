"""The arithmetic of where a change lies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from triage.bisect.outcome import Counts
from triage.bisect.posterior import Posterior, evidence, odds, repeats

OLD, NEW = Counts(0, 5), Counts(5, 0)


def one(shown: int, hidden: int, newer: bool) -> float:
    return float(np.exp(evidence(np.array([shown]), np.array([hidden]), newer)[0]))


@pytest.mark.parametrize("newer", [False, True])
def test_the_probabilities_of_all_sequences_of_runs_sum_to_one(newer: bool) -> None:
    for length in range(6):
        total = sum(one(sum(runs), length - sum(runs), newer) for runs in product((0, 1), repeat=length))
        assert total == pytest.approx(1)


def test_of_two_rates_at_first_certain_one_run_decides() -> None:
    shows, hides = odds([Counts(1, 0), Counts(0, 1)], OLD, NEW)
    assert shows > np.log(999) and hides < -np.log(999)


def test_once_runs_have_differed_a_passing_run_says_little_and_a_failing_one_much() -> None:
    shows, hides = odds([Counts(1, 0), Counts(0, 1)], OLD, Counts(3, 7))
    assert shows > np.log(100) and -1 < hides < 0


def test_without_runs_the_newer_places_are_likelier_and_all_are_possible() -> None:
    places = Posterior(OLD, NEW, [Counts()] * 9).places
    assert places.sum() == pytest.approx(1)
    assert list(places) == sorted(places) and places[0] > 0


def test_the_change_lies_between_the_runs_that_differ() -> None:
    inside = [Counts(), Counts(0, 1), Counts(), Counts(), Counts(1, 0), Counts()]
    told = Posterior(OLD, NEW, inside)
    assert told.places[2:5].sum() > 0.99
    assert told.changed_by(1) < 0.01 and told.changed_by(4) > 0.99


def test_the_same_holds_for_a_change_back() -> None:
    inside = [Counts(1, 0), Counts(), Counts(0, 1)]
    assert Posterior(NEW, OLD, inside, rising=False).places[1:3].sum() > 0.99


def test_no_change_lies_between_equal_builds() -> None:
    places = Posterior(OLD, NEW, [Counts()] * 3, joined=frozenset({1, 3})).places
    assert places[1] == places[3] == 0 and places.sum() == pytest.approx(1)


def test_the_gain_is_the_expected_loss_of_entropy() -> None:
    """Against the definition, with the runs that may come tried one by one."""
    inside = [Counts(0, 2), Counts(1, 1), Counts(), Counts(2, 0)]
    old, new = Counts(1, 6), Counts(4, 2)
    told = Posterior(old, new, inside)
    for at, gain in enumerate(told.gains()):
        after = 0.0
        for more in (Counts(1, 0), Counts(0, 1)):
            seen = [each + more if where == at else each for where, each in enumerate(inside)]
            chance = _likelihood(old, new, seen) / _likelihood(old, new, inside)
            after += chance * _entropy(Posterior(old, new, seen).places)
        assert gain == pytest.approx(_entropy(told.places) - after, abs=1e-9)


def _likelihood(old: Counts, new: Counts, inside: list[Counts]) -> float:
    """The probability of all runs, with the places weighted as before any run."""
    prior = Posterior(Counts(), Counts(), [Counts()] * len(inside)).places
    total = 0.0
    for k, weight in enumerate(prior):
        left, right = sum(inside[:k], old), sum(inside[k:], new)
        total += weight * one(left.shown, left.hidden, False) * one(right.shown, right.hidden, True)
    return total


def _entropy(places: np.ndarray) -> float:
    found = places[places > 0]
    return float(-(found * np.log(found)).sum())


def test_a_failure_in_every_third_run_needs_thirteen_to_be_missed_once_in_a_hundred() -> None:
    assert (repeats(0.3, 0.01), repeats(1.0, 0.01), repeats(0.0, 0.01)) == (13, 1, 1)
