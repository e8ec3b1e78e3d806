"""OPERA's prioritisation as the authors' results come from it; it differs from what the paper writes.

Operators: 1 - Π over parameters and pairs of parameters of (subspaces that the compiler's own tests cover / all
subspaces), 1 for an operator that they do not have. Tests: a value that is new to its parameter weighs 1 over the
number of values already seen of it; defaults and what the compiler's tests have count as seen. The novelty
of a test is the larger of its mean over parameters and its mean over pairs; tests without novelty come last, shuffled.

Where the description leaves a choice, the one that agrees best with the order that the authors published is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from fuzz.ranking import diversity
from fuzz.ranking.diversity import Key, Setting, Settings, keyed
from fuzz.ranking.item import Item

Seen = dict[Key, set[Key]]
#: Differences that rounding makes.
_NOTHING = 1e-9


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by operator-instance diversity; equal ones and those without novelty are shuffled by `seed`."""
    return diversity.order(items, tested, seed, untested_share, by_seen_values)


def untested_share(own: Settings, known: Settings, default: Setting) -> float:
    """How much of an operator's subspaces, single and in pairs, the compiler's own tests leave out, in [0, 1]."""
    if not known:
        return 1.0
    covered = _seen([*known, default])
    every = _seen([*known, default, *own])
    share = 1.0
    for key, values in every.items():
        share *= len(covered[key]) / len(values)
    return 1 - share


def by_seen_values(
    settings: Settings, known: Settings, default: Setting, ties: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Settings by the larger of their mean novelties over parameters and over pairs."""
    if not settings:
        return
    single = _Part([list(setting.items()) or [("", "")] for setting in settings], known, default)
    paired = _Part([_pairs(setting) for setting in settings], known, default)
    rank = np.argsort(np.argsort(np.asarray(ties)))
    taken = np.zeros(len(settings), bool)
    while True:
        novelty = np.maximum(single.mean, paired.mean)
        novelty[taken] = 0.0
        most = float(novelty.max())
        if most < _NOTHING:
            return
        equal = np.flatnonzero(novelty > most - _NOTHING)
        best = int(equal[rank[equal].argmin()])
        taken[best] = True
        single.cover(best)
        paired.cover(best)
        yield best, most


class _Part:
    """The parameters, or the pairs, of all settings; `mean` is the novelty of each setting, kept up to date."""

    def __init__(self, parts: Sequence[Sequence[tuple[Key, Key]]], known: Settings, default: Setting) -> None:
        seen = _seen([*known, default])
        columns: dict[Key, int] = {}
        self._holders: dict[tuple[int, Key], list[int]] = defaultdict(list)
        for at, own in enumerate(parts):
            for key, value in own:
                self._holders[columns.setdefault(key, len(columns)), value].append(at)
        self._parts = [[(columns[key], value) for key, value in own] for own in parts]
        self._seen = [len(seen[key]) for key in columns]
        self._new = np.zeros((len(columns), len(parts)))
        keys = list(columns)
        for (column, value), holders in self._holders.items():
            self._new[column, holders] = value not in seen[keys[column]]
        self._length = np.array([max(1, len(own)) for own in parts])
        weights = [[1 / max(1, count)] for count in self._seen]
        self.mean = (self._new * np.array(weights).reshape(-1, 1)).sum(axis=0) / self._length

    def cover(self, at: int) -> None:
        """What a setting has is new no longer, and new values of the same parameters weigh less."""
        for column, value in self._parts[at]:
            new = self._new[column]
            if not new[at]:
                continue
            before = new / max(1, self._seen[column])
            self._seen[column] += 1
            new[self._holders[column, value]] = 0.0
            self.mean += (new / self._seen[column] - before) / self._length


def _pairs(setting: Setting) -> list[tuple[Key, Key]]:
    return [((one, other), (a, b)) for (one, a), (other, b) in combinations(setting.items(), 2)]


def _seen(settings: Settings) -> Seen:
    found: Seen = defaultdict(set)
    for setting in settings:
        for key, value in keyed(setting):
            found[key].add(value)
    return found
