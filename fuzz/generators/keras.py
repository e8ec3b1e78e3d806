"""The calls of layers in Keras's own tests as cases, from ``data/instances/keras.jsonl.gz`` (docs/keras.md)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from fuzz.case import Case, Origin
from fuzz.generators import Skip
from fuzz.generators._recorded import in_turns, shipped

NAME = "keras"
#: Cases in a row when several sources share a campaign: layers are slow to export and to compile.
PER_TURN = 1


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every recorded call once, layers in turns. One Skip for all of them where Keras is not installed."""
    if importlib.util.find_spec("keras") is None:
        yield Skip(Origin(NAME, seed=seed), "Keras is not installed; pip install 'graphwarden[keras]'")
        return
    yield from in_turns(shipped(NAME), NAME, seed)
