"""Strict generation (algorithm 1): operator nodes are inserted until there are enough, each only if it covers more.

Twins and repeats (`fuzz.hirgen.twins`) are few, and not asked what they cover.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from fuzz.hirgen import twins
from fuzz.hirgen.coverage import Coverage, Insertion
from fuzz.hirgen.inserting import Inserting
from fuzz.operators import dtypes
from fuzz.operators.dtypes import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from fuzz.operators.growth import Limits
from fuzz.operators.specification import Operator

#: So many insertions in a row may add no coverage before one is taken that does not: a campaign has no other end.
PATIENCE = 64
#: How often a node that reads one tensor twice is taken back in favour of one that reads different ones.
_DIFFERENT = 0.8
#: The data types of most tensors, and how many of them one graph has, at most. A graph in those that a compiler lacks
#: tells nothing, so that those which all of them know come more often.
_OFTEN = (*[FLOAT] * 8, *[INT64] * 3, *[INT32] * 2, DOUBLE, FLOAT16, INT8, UINT8, BOOL)
_USUAL = (*_OFTEN, INT16, UINT64, UINT32, UINT16, BFLOAT16)
_SEVERAL = 3
#: Rare data types take part in so many graphs. No compiler here loads a complex tensor.
_WITH_RARE = 0.06
_RARE = tuple(code for code in dtypes.ALL if code not in _USUAL and code not in (14, 15))
_LIMITS = Limits()


@dataclass(frozen=True)
class Grown:
    """A graph: the growing model, how many insertions were taken back, what it covers, and how much of it is new.

    `similar` nodes are twins or repeats of others.
    """

    growth: Inserting
    rejected: int
    items: tuple[tuple[str, str], ...]
    gain: int
    similar: int


def data_types(draw: random.Random) -> tuple[int, ...]:
    """The data types that the new tensors of one graph have."""
    several = tuple([draw.choice(_USUAL) for _ in range(1 + draw.randrange(_SEVERAL))])
    return (*several, draw.choice(_RARE)) if draw.random() < _WITH_RARE else several


def grow(
    draw: random.Random,
    operators: Sequence[Operator],
    count: int,
    coverage: Coverage,
    *,
    guided: bool = True,
    limits: Limits = _LIMITS,
) -> Grown:
    """A graph of `count` operator nodes. `coverage` is updated; unguided (HirGen_r) it decides nothing."""
    chosen = data_types(draw)
    growth, rejected, gain, similar = Inserting(draw, chosen, limits), 0, 0, 0
    growth.operators, often = operators, twins.weighted(operators)
    covered: list[tuple[str, str]] = []
    wanted: tuple[int, ...] = ()
    for _ in range(count):
        taken_back, found = 0, twins.insert(growth, draw)
        if found is not None:
            items, similar, wanted = list(found.insertion.items()), similar + 1, wanted + found.unread
        else:
            with growth.telling(wanted):
                taken_back, items = _insert(growth, draw, often, chosen, coverage if guided else None)
        rejected, gain, wanted = rejected + taken_back, gain + coverage.add(items), growth.unread(wanted)
        covered += items
    return Grown(growth, rejected, tuple(covered), gain, similar)


def _insert(
    growth: Inserting,
    draw: random.Random,
    operators: Sequence[Operator],
    chosen: Sequence[int],
    coverage: Coverage | None,
) -> tuple[int, list[tuple[str, str]]]:
    """Insert one node that is new to the coverage (None: any); how many were taken back before it, what it covers."""
    rejected = 0
    while True:
        found = propose(growth, draw, operators, chosen)
        if found is not None:
            items = list(found.items())
            wanted = coverage is None or coverage.is_new(items)
            if wanted and growth.reads_twice():
                wanted = draw.random() >= _DIFFERENT
            if wanted or rejected >= PATIENCE:
                return rejected, items
            growth.take_back()
        rejected += 1


def propose(
    growth: Inserting, draw: random.Random, operators: Sequence[Operator], chosen: Sequence[int]
) -> Insertion | None:
    """Insert a node of an operator and a data type that are drawn; None where the operator cannot be grown."""
    operator = draw.choice(operators)
    bounds = operator.domain.bounds
    fitting = [code for code in chosen if code in bounds] or [code for code in _OFTEN if code in bounds]
    return growth.insert(operator, draw.choice(fitting or operator.domain.common or (0,)))
