"""The calls of layers in Keras's own tests as cases, from ``data/instances/keras.jsonl.gz`` (docs/keras.md)."""

from __future__ import annotations

import importlib.util
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, zip_longest

from fuzz import instance_store
from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.generators import Skip
from fuzz.instance_store import Stored

NAME = "keras"

#: Cases in a row when several sources share a campaign: layers are slow to export and to compile.
PER_TURN = 1


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every recorded call once, shuffled by `seed`; layers take turns so that a short budget sees many.

    One Skip for all of them where Keras is not installed.
    """
    if importlib.util.find_spec("keras") is None:
        yield Skip(Origin(NAME, seed=seed), "Keras is not installed; pip install 'graphwarden[keras]'")
        return
    rng = random.Random(seed)
    groups: dict[str, list[Stored]] = defaultdict(list)
    for found in instance_store.load(data_path("instances", "keras.jsonl.gz")):
        groups[found.operator].append(found)
    layers = sorted(groups)
    rng.shuffle(layers)
    for name in layers:
        rng.shuffle(groups[name])
    for each in chain.from_iterable(zip_longest(*(groups[name] for name in layers))):
        if each is not None:
            yield each.case(Origin(NAME, each.source.test, seed=seed))
