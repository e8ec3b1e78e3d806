"""Calls made from the constraints in PyTorch's documentation as cases (``data/instances/docs.jsonl.gz``)."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.case import Case, Origin
from fuzz.generators import Skip
from fuzz.generators._recorded import in_turns, shipped

NAME = "docs"
#: What a call is for that keeps to the documentation; all others break the constraint that they name.
CONFORMING = "conforming"
#: Cases in a row when several sources share a campaign: instances are slow to compile.
PER_TURN = 1


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every call once, operators in turns."""
    return in_turns(shipped(NAME), NAME, seed)


def broken(origin: Origin) -> str:
    """The documented constraint that a call breaks, as ``dtype of other``; "" for calls that break none."""
    what = origin.test.partition(" ")[2] if origin.generator == NAME else ""
    return "" if what == CONFORMING else what
