"""The heap gives exactly the greedy order that recounting everything after each pick gives."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.ranking.cover import Cover
from fuzz.ranking.lazy import descending


def recounted(sets: Sequence[Sequence[int]], weights: Sequence[float], ties: Sequence[float]) -> list[int]:
    left, covered, found = set(range(len(sets))), set[int](), []
    while left:
        gains = {at: sum(weights[e] for e in set(sets[at]) - covered) for at in left}
        best = min(left, key=lambda at: (-round(gains[at], 9), ties[at]))
        if gains[best] <= 1e-9:
            break
        found.append(best)
        left.remove(best)
        covered.update(sets[best])
    return found


def test_the_heap_agrees_with_recounting() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        sets = [rng.sample(range(25), rng.randrange(8)) for _ in range(40)]
        weights = [rng.choice((0.1, 0.3, 1.0)) for _ in range(25)]
        ties = [rng.random() for _ in sets]
        assert list(Cover(sets, weights, ties).useful()) == recounted(sets, weights, ties)


def test_sets_that_add_nothing_are_left_out_and_come_after_a_restart() -> None:
    cover = Cover([[0, 1], [1], []], [1.0, 1.0], [0, 1, 2])
    assert list(cover.useful()) == [0]
    cover.restart([1, 2])
    assert list(cover.useful()) == [1]


def test_scores_that_fall_are_brought_up_to_date() -> None:
    scores = [5.0, 4.0, 3.0]

    def taken(at: int) -> None:
        scores[1] = min(scores[1], 1.0)

    assert [at for at, _ in descending([0, 1, 2], scores.__getitem__, taken, [0, 0, 0])] == [0, 2, 1]
