"""PyTorch operator instances as cases: those recorded from PyTorch's own tests, and those written by hand.

The recorded ones are in ``data/instances/pytorch.jsonl.gz`` (docs/instances.md), the others in
``data/instances/torch``.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest

from fuzz import instance_store
from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.generators import Skip
from fuzz.instance import InstanceError
from fuzz.instance_store import ILL_CONDITIONED, NONDETERMINISTIC, Source, Stored, stored

NAME = "pytorch"
#: Cases in a row when several sources share a campaign: instances are slow to compile.
PER_TURN = 1

HAND_WRITTEN = "hand-written"


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every instance once, shuffled by `seed`; operators take turns so that a short budget sees many.

    Skipped are files that are no instances, and calls whose result differs from run to run in PyTorch itself.
    """
    groups: dict[str, list[Stored]] = defaultdict(list)
    seen = set()
    for found in _all(seed):
        if isinstance(found, Skip):
            yield found
        elif found.id not in seen:
            seen.add(found.id)
            groups[found.operator].append(found)
    rng = random.Random(seed)
    order = sorted(groups)
    rng.shuffle(order)
    for turn in zip_longest(*(rng.sample(groups[name], len(groups[name])) for name in order)):
        yield from (_case(instance, seed) for instance in turn if instance is not None)


def _all(seed: int) -> Iterator[Stored | Skip]:
    for path in sorted(data_path("instances", "torch").glob("*.json")):
        try:
            yield stored(json.loads(path.read_text("utf-8")), Source(HAND_WRITTEN, path.stem))
        except InstanceError as error:
            yield Skip(Origin(NAME, path.stem, seed=seed), f"{path.name} is no instance: {error}")
        except ValueError as error:
            yield Skip(Origin(NAME, path.stem, seed=seed), f"{path.name} is not valid JSON: {error}")
    recorded = data_path("instances", "pytorch.jsonl.gz")
    if recorded.exists():
        yield from instance_store.read(recorded)


def _case(instance: Stored, seed: int) -> Case | Skip:
    variant = ILL_CONDITIONED if ILL_CONDITIONED in instance.flags else "plain"
    origin = Origin(NAME, instance.source.test, variant, seed)
    if NONDETERMINISTIC in instance.flags:
        return Skip(origin, "in PyTorch itself, two runs of this call give different results")
    return instance.case(origin)
