"""The project's own order (decision 009): breadth over operators first, then whatever adds most to what is covered.

`fuzz.ranking.suspicion` says what a test is worth, `fuzz.ranking.schedule` learns while a campaign runs; this is the
order before anything has run. Costs count where items have them.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.ranking.item import Item
from fuzz.ranking.schedule import Schedule


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by what they may show, equal ones shuffled by `seed`."""
    return list(Schedule(items, tested, seed))
