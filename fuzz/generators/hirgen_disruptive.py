"""HirGen's disruptive graphs as cases: each breaks the standard in one place, and a compiler must say so.

`graphwarden hunt --source hirgen --mode disruptive`. Judged by how the compiler refuses them (`fuzz.oracles.refusal`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fuzz.case import Case
from fuzz.generators import Skip
from fuzz.generators.hirgen import Stream
from fuzz.hirgen.coverage import VIOLATION, Coverage
from fuzz.hirgen.workflow import DISRUPTIVE, Settings
from fuzz.operators.families import operators

NAME = "hirgen_disruptive"
#: Cases in a row when several sources share a campaign.
PER_TURN = 6
#: Only campaigns that name it: its models are invalid.
ON_REQUEST = True
#: Nodes of a model, as in the paper: whatever else there is, the violation ends it.
NODES = (1, 1)


def cases(seed: int) -> Iterator[Case | Skip]:
    """Models with one violation each, made without any result; the test is the index, the variant what is broken."""
    return iter(stream(seed))


def stream(seed: int, known: Collection[str] = (), begun: int = 0) -> Stream:
    """The cases of a campaign; what is known to fail does not matter to them."""
    settings = Settings(tuple(operators().values()), *NODES, mode=DISRUPTIVE)
    return Stream(NAME, settings, seed, Coverage((VIOLATION,)), begun)
