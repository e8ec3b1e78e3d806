"""Delta debugging over a list of mutations (section 4.3): the fewest of them with which a mutant still fails.

A mutation whose nodes another one changes comes along with it, and one that is left out takes those along that change
it. Tensors of what is left out need not come along: constants stand for them (`Subject.replayed` with ``freeze``),
zeros for what always yields zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzz import deltas
from fuzz.deltas import Fails
from fuzz.mutants.mutation import Mutation


def minimise(mutations: Sequence[Mutation], fails: Fails, most_runs: int = 500) -> frozenset[int]:
    """A set of indices with which the mutant still fails, none of which can be left out alone.

    All mutations together must fail. `fails` is asked at most `most_runs` times (`fuzz.deltas.smallest`).
    """
    owners = {node.output: each.index for each in mutations for node in each.nodes}
    needs = {each.index: {owners[reader] for reader in each.readers if reader in owners} for each in mutations}
    return deltas.smallest((mutation.index for mutation in mutations), fails, needs, most_runs)
