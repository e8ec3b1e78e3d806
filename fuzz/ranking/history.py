"""What earlier campaigns taught, in a form that lasts: of a case what it stands for, of all of them what was covered.

A case stands for its operators and for what may be wrong and would show in it (`fuzz.ranking.suspicion`). The latter
are kept as numbers: a hash means the same in every process, and a million of 63 bits hardly ever meet by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fuzz.case import Case
from fuzz.ranking import cases
from fuzz.ranking.item import Item
from fuzz.ranking.suspicion import PAIR, Possibility, family, possibilities

#: Models of more operators say little of any one of them, and hardly two are of the same.
MOST_OPERATORS = 4
#: What was seen in earlier campaigns counts less than what this one sees: compilers change.
FADED = 0.5


@dataclass(frozen=True)
class Meaning:
    """What a case stands for. `operators` are empty where there are too many of them to learn from."""

    operators: tuple[str, ...]
    possibilities: frozenset[int]


@dataclass(frozen=True)
class Ends:
    """How often cases of the same operators ended how."""

    passed: int = 0
    new: int = 0
    again: int = 0
    refused: int = 0


@dataclass(frozen=True)
class History:
    """What all earlier campaigns on the same compilers covered, how their cases ended by operators, and their bugs.

    `bugs` are keys of failures that are known.
    """

    covered: Collection[int] = frozenset()
    ends: Mapping[tuple[str, ...], Ends] = field(default_factory=dict)
    bugs: Collection[str] = frozenset()

    def __contains__(self, possibility: Possibility) -> bool:
        """Whether a possibility was covered."""
        return bool(self.covered) and number(possibility) in self.covered


#: Without any campaign before.
NONE = History()


def meaning(case: Case) -> Meaning:
    """What a case stands for, read from its model."""
    return meaning_of(cases.item(case))


def meaning_of(item: Item) -> Meaning:
    """What a case stands for that was read already."""
    found = {number(each) for each, weight in possibilities(item).items() if weight != PAIR}
    operators = operators_of(item)
    return Meaning(operators if len(operators) <= MOST_OPERATORS else (), frozenset(found))


def operators_of(item: Item) -> tuple[str, ...]:
    """The operators of a test by the names that their spellings share, in order."""
    return tuple(sorted({family(call.operator) for call in item.calls}))


def number(possibility: Possibility) -> int:
    """A possibility as a number of 63 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(repr(possibility).encode(), digest_size=8).digest()) >> 1
