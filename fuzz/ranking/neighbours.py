"""What tests of some operators tell of others: properties behind which more bugs, or fewer, were found than expected.

Where empty tensors, or integers for `x`, broke two operators, they may break a third. Only what a test is the first of
its operator to have counts: what the operator has been shown already is known of it. A property's ratio is bugs found
over bugs expected of the worth of those tests; a test's likelihood is the geometric mean over its properties.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from fuzz.ranking.features import Kind, features
from fuzz.ranking.item import Item
from fuzz.ranking.suspicion import family

#: So many bugs are taken as found and as expected before anything is seen: one bug alone says little.
PRIOR = 0.5


class Neighbours:
    """Tests by position. `give` what begins, tell what it `saw`, ask for the `likelihood` of those that are left."""

    def __init__(self, items: Sequence[Item]) -> None:
        properties: dict[tuple[str, str], int] = {}
        numbers: dict[tuple[str, int], int] = {}
        #: By number of an operator's property: the property whatever the operator.
        self._property: list[int] = []
        #: By test: the numbers that none of the operator's tests before had.
        self._fresh: list[list[int]] = []
        self._rare: list[bool] = []
        for item in items:
            own, rare = [], False
            for call in item.calls:
                name = family(call.operator)
                for feature in features(call):
                    rare |= feature.kind is Kind.RARE
                    shared = properties.setdefault((feature.parameter, feature.property), len(properties))
                    number = numbers.setdefault((name, shared), len(numbers))
                    if number == len(self._property):
                        self._property.append(shared)
                    own.append(number)
            self._fresh.append(list(dict.fromkeys(own)))
            self._rare.append(rare)
        self._covered = bytearray(len(numbers))
        self._given: dict[int, tuple[list[int], float]] = {}
        self._bugs: dict[int, int] = defaultdict(int)
        self._worth: dict[int, float] = defaultdict(float)
        self._all_bugs, self._all_worth = 0, 0.0
        self._logarithms: dict[int, float] = {}

    def is_rare(self, test: int) -> bool:
        """Whether some parameter or result has an element type that few converters were written with in mind."""
        return self._rare[test]

    def give(self, test: int, worth: float) -> None:
        """A test of that worth begins: what it has is no longer fresh for its operators."""
        fresh = self._left(test)
        self._given[test] = ([self._property[number] for number in fresh], worth)
        for number in fresh:
            self._covered[number] = 1

    def saw(self, test: int, new: bool) -> None:
        """A test that was given has ended without a refusal; `new`: with a bug not seen before."""
        found, worth = self._given[test]
        self._all_worth += worth
        self._all_bugs += new
        for shared in found:
            self._worth[shared] += worth
            self._bugs[shared] += new
        self._logarithms.clear()

    def likelihood(self, test: int) -> float:
        """How much likelier than its worth says a test shows something new; 1 before any bug is found."""
        fresh = self._left(test)
        if not fresh or not self._all_bugs:
            return 1.0
        return math.exp(sum(self._logarithm(self._property[number]) for number in fresh) / len(fresh))

    def _left(self, test: int) -> list[int]:
        covered = self._covered
        fresh = self._fresh[test] = [number for number in self._fresh[test] if not covered[number]]
        return fresh

    def _logarithm(self, shared: int) -> float:
        known = self._logarithms.get(shared)
        if known is None:
            expected = self._worth[shared] * self._all_bugs / self._all_worth
            known = self._logarithms[shared] = math.log((PRIOR + self._bugs[shared]) / (PRIOR + expected))
        return known
