"""A topological order that nodes are inserted into: a linked list with labels that compare.

Labels lie far apart, so inserting costs the same however long the list is; when a gap is used up, all are given anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

#: Distance of labels; Python's integers have no end, so one gap takes hundreds of insertions.
_GAP = 1 << 512
_HEAD, _TAIL = "", "\0"


class Order:
    """Names in an order. What is not in it (inputs, initializers) counts as being before everything."""

    def __init__(self, names: Iterable[str]) -> None:
        self._label = {_HEAD: 0, _TAIL: 0}
        self._next: dict[str, str] = {}
        self._previous: dict[str, str] = {}
        last = _HEAD
        for name in (*names, _TAIL):
            self._link(last, name)
            last = name
        self._relabel()

    def before(self, one: str, other: str) -> bool:
        """Whether `one` stands before `other`; "" as `other` is the end."""
        return self._label.get(one, 0) < self._label[other or _TAIL]

    def insert(self, names: Iterable[str], before: str) -> None:
        """Put names, in their order, immediately before a name; before the end if it is ""."""
        following = before or _TAIL
        last = self._previous[following]
        for name in names:
            if self._label[following] - self._label[last] < 2:
                self._relabel()
            # Most of the gap is left behind, where the next of these names goes.
            self._label[name] = self._label[last] + max(1, (self._label[following] - self._label[last]) // 16)
            self._link(last, name)
            self._link(name, following)
            last = name

    def __iter__(self) -> Iterator[str]:
        name = self._next[_HEAD]
        while name != _TAIL:
            yield name
            name = self._next[name]

    def _link(self, one: str, other: str) -> None:
        self._next[one], self._previous[other] = other, one

    def _relabel(self) -> None:
        for position, name in enumerate((_HEAD, *self, _TAIL)):
            self._label[name] = position * _GAP
