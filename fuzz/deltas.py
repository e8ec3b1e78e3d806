"""Delta debugging (Zeller and Hildebrandt, TSE 28(2), 2002) on numbers of which some need others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

#: Whether what is asked about still shows with these numbers alone.
Fails = Callable[[frozenset[int]], bool]


def smallest(
    numbers: Iterable[int],
    fails: Fails,
    needs: Mapping[int, Collection[int]] | None = None,
    most_runs: int = 500,
) -> frozenset[int]:
    """A set of `numbers` that still fails, none of which can be left out alone: ddmin.

    All of them together must fail. `needs` says which others a number brings along; they must be smaller than it.
    `fails` is asked at most `most_runs` times, never twice about one set; then the smallest set so far is the answer.
    """
    kept = frozenset(numbers)
    search = _Search(needs or {}, fails, most_runs)
    parts = 2
    while len(kept) > 1 and not search.over:
        smaller = search.smaller(kept, min(parts, len(kept)))
        if smaller is not None:
            kept, parts = smaller, max(2, parts - 1)
        elif parts >= len(kept):
            break
        else:
            parts = min(len(kept), 2 * parts)
    return kept


class _Search:
    def __init__(self, needs: Mapping[int, Collection[int]], fails: Fails, most_runs: int) -> None:
        self._needs, self._fails, self._left = needs, fails, most_runs
        self._known: dict[frozenset[int], bool] = {}

    @property
    def over(self) -> bool:
        """Whether no more runs are left."""
        return self._left <= 0

    def smaller(self, kept: frozenset[int], parts: int) -> frozenset[int] | None:
        """A part of `kept`, or `kept` without a part, that fails; None where there is none of `parts` parts."""
        ordered = sorted(kept)
        size = -(-len(ordered) // parts)
        chunks = [frozenset(ordered[at : at + size]) for at in range(0, len(ordered), size)]
        candidates = [self._with_needs(chunk) for chunk in chunks]
        candidates += [self._without(kept, chunk) for chunk in reversed(chunks)]
        for candidate in candidates:
            if candidate and len(candidate) < len(kept) and self._asked(candidate):
                return candidate
        return None

    def _asked(self, candidate: frozenset[int]) -> bool:
        if candidate not in self._known:
            if self.over:
                return False
            self._left -= 1
            self._known[candidate] = self._fails(candidate)
        return self._known[candidate]

    def _with_needs(self, chosen: Collection[int]) -> frozenset[int]:
        found: set[int] = set()
        waiting = list(chosen)
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting.extend(self._needs.get(number, ()))
        return frozenset(found)

    def _without(self, kept: frozenset[int], left_out: Collection[int]) -> frozenset[int]:
        """In order, so that what needs something left out is left out as well."""
        found: set[int] = set()
        for number in sorted(kept - set(left_out)):
            if found.issuperset(self._needs.get(number, ())):
                found.add(number)
        return frozenset(found)
