"""Strategies that order tests. The file name is the registry entry (``-`` for ``_``); there is no list to edit.

A strategy file defines ``order(items, tested, seed) -> list[int]``: the positions of all items, the most promising
first. `tested` holds what the compiler's own tests cover; the same seed gives the same order. Whether `seed` matters
beyond breaking ties is the strategy's own matter.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz.ranking.item import Item

STRATEGIES = Path(__file__).parent

Strategy = Callable[[Sequence[Item], Sequence[Item], int], list[int]]


class UnknownStrategy(ValueError):
    """No strategy file of that name."""


def names() -> list[str]:
    """Registered strategies in alphabetical order."""
    return sorted(path.stem.replace("_", "-") for path in STRATEGIES.glob("[!_]*.py"))


def load(name: str) -> Strategy:
    """The ``order`` function of the strategy `name`. Raises UnknownStrategy when there is none."""
    if name not in names():
        raise UnknownStrategy(f"unknown strategy {name!r}: choose one of {', '.join(names())}")
    strategy: Strategy = importlib.import_module(f"fuzz.prioritize.{name.replace('-', '_')}").order
    return strategy
