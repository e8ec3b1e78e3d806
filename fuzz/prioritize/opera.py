"""OPERA's prioritisation as the paper writes it (section III-B).

Operators: how often the library's tests have them, over how often the compiler's own tests do (plus one, or an operator
without such a test would divide by zero). Tests: the share of parameters and pairs of parameters whose subspaces are
new. A tensor is one parameter: its subspaces are those of its element type crossed with those of its shape. A test's
score is the product.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from fuzz.ranking import diversity
from fuzz.ranking.diversity import Setting, Settings, keyed
from fuzz.ranking.item import Item
from fuzz.ranking.lazy import descending


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by operator-instance diversity, equal ones shuffled by `seed`."""
    return diversity.order(items, tested, seed, frequency, by_new_share, whole=True)


def frequency(own: Settings, known: Settings, default: Setting) -> float:
    """Num_DLL over Num_DLC + 1."""
    return len(own) / (len(known) + 1)


def by_new_share(
    settings: Settings, known: Settings, default: Setting, ties: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Settings by the share of their parameters and pairs that no prioritised test has covered, in (0, 1].

    A first test without parameters is all new. What the compiler's own tests cover plays no part.
    """
    parts = [list(keyed(setting)) or [("", "")] for setting in settings]
    seen: set[tuple[Hashable, Hashable]] = set()

    def share(at: int) -> float:
        return sum(part not in seen for part in parts[at]) / len(parts[at])

    return descending(range(len(settings)), share, lambda at: seen.update(parts[at]), ties)
