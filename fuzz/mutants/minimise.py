"""Delta debugging over a list of mutations (section 4.3): the fewest of them with which a mutant still fails.

Zeller's ddmin, on sets that are closed under what mutations depend on: a mutation whose nodes another one changes comes
along with it, and one that is left out takes those along that change it. Tensors of what is left out need not come
along: constants stand for them (`Subject.replayed` with ``freeze``), zeros for what always yields zero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from fuzz.mutants.mutation import Mutation

Fails = Callable[[frozenset[int]], bool]


def minimise(mutations: Sequence[Mutation], fails: Fails, most_runs: int = 500) -> frozenset[int]:
    """A set of indices with which the mutant still fails, none of which can be left out alone.

    All mutations together must fail. `fails` is asked at most `most_runs` times, never twice about one set; then the
    smallest set so far is the answer.
    """
    search = _Search(mutations, fails, most_runs)
    kept = frozenset(mutation.index for mutation in mutations)
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
    def __init__(self, mutations: Sequence[Mutation], fails: Fails, most_runs: int) -> None:
        owners = {node.output: each.index for each in mutations for node in each.nodes}
        self._needs = {
            each.index: {owners[reader] for reader in each.readers if reader in owners} for each in mutations
        }
        self._fails, self._left = fails, most_runs
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
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting.extend(self._needs[index])
        return frozenset(found)

    def _without(self, kept: frozenset[int], left_out: Collection[int]) -> frozenset[int]:
        """In order, so that what needs something left out is left out as well."""
        found: set[int] = set()
        for index in sorted(kept - set(left_out)):
            if found.issuperset(self._needs[index]):
                found.add(index)
        return frozenset(found)
