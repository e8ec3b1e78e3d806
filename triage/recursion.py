"""Functions that call each other without end: which of them met the limit is chance, so the cycle is the place.

Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

#: So many of the innermost frames show a cycle.
_LOOKED_AT = 60
#: So often each function of it is met: where it is said that calls went too deep, and where a program died.
SAID, DIED = 4, 8
#: The limit may be met in what a function of the cycle calls: by no more frames than these.
_MOST_LEAVES = 3
_ENDLESS = re.compile(r"\b[Rr]ecursion\b.{0,40}\b(?:exceeded|limit)|\b[Ss]tack ?overflow")


def endless(message: str) -> bool:
    """Whether a message says that calls went too deep."""
    return ("ecursion" in message or "overflow" in message) and _ENDLESS.search(message) is not None


def from_the_cycle(names: Sequence[str], often: int) -> tuple[frozenset[str], list[str]]:
    """(the functions of the cycle that frames begin with, the names of all, innermost first, each once).

    The cycle's names go first in their own order, and what it called last is left out. `often` is how many times a
    function of a cycle is met.
    """
    counts = Counter(islice(names, _LOOKED_AT))
    cycle = {name for name, count in counts.items() if count >= often}
    inner = next((at for at, name in enumerate(names) if name in cycle), _MOST_LEAVES + 1)
    if inner > _MOST_LEAVES:
        return frozenset(), list(dict.fromkeys(names))
    return frozenset(cycle), list(dict.fromkeys([*sorted(cycle), *names[inner:]]))
