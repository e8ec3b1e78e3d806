"""PyTorch operator instances as cases: those recorded from PyTorch's own tests, and those written by hand.

The recorded ones are in ``data/instances/pytorch.jsonl.gz`` (docs/instances.md), the others in
``data/instances/torch``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.generators import Skip
from fuzz.generators._recorded import in_turns, shipped
from fuzz.instance import InstanceError
from fuzz.instance_store import Source, Stored, stored

NAME = "pytorch"
#: Cases in a row when several sources share a campaign: instances are slow to compile.
PER_TURN = 1

HAND_WRITTEN = "hand-written"


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every instance once, operators in turns. A file that is no instance is a Skip."""
    return in_turns(chain(_hand_written(seed), shipped(NAME)), NAME, seed)


def _hand_written(seed: int) -> Iterator[Stored | Skip]:
    for path in sorted(data_path("instances", "torch").glob("*.json")):
        try:
            yield stored(json.loads(path.read_text("utf-8")), Source(HAND_WRITTEN, path.stem))
        except InstanceError as error:
            yield Skip(Origin(NAME, path.stem, seed=seed), f"{path.name} is no instance: {error}")
        except ValueError as error:
            yield Skip(Origin(NAME, path.stem, seed=seed), f"{path.name} is not valid JSON: {error}")
