"""Recorded operator instances (docs/instances.md) as cases, operators in turns. What the sources of instances share."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from fuzz import instance_store
from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.generators import Skip
from fuzz.instance_store import ILL_CONDITIONED, NONDETERMINISTIC, Stored


def shipped(name: str) -> Iterator[Stored]:
    """The instances of ``data/instances/NAME.jsonl.gz``."""
    return instance_store.read(data_path("instances", f"{name}.jsonl.gz"))


def of_file(path: Path, seed: int) -> Iterator[Case | Skip]:
    """The instances of a file that `graphwarden migrate` or a person wrote. Raises fuzz.instance_store.StoreError."""
    return in_turns(instance_store.read(path), path.name, seed)


def in_turns(found: Iterable[Stored | Skip], name: str, seed: int) -> Iterator[Case | Skip]:
    """Every instance once, shuffled by `seed`; operators take turns so that a short budget sees many.

    Skipped are calls whose result differs from run to run in the library itself, and operators of ONNX, whose cases
    are models: their own sources give these.
    """
    groups: dict[str, dict[str, Stored]] = defaultdict(dict)
    for one in found:
        if isinstance(one, Skip):
            yield one
        else:
            groups[one.operator].setdefault(one.id, one)
    rng = random.Random(seed)
    order = sorted(groups)
    rng.shuffle(order)
    shuffled = (rng.sample(list(groups[operator].values()), len(groups[operator])) for operator in order)
    for turn in zip_longest(*shuffled):
        yield from (_case(instance, name, seed) for instance in turn if instance is not None)


def _case(instance: Stored, name: str, seed: int) -> Case | Skip:
    variant = ILL_CONDITIONED if ILL_CONDITIONED in instance.flags else "plain"
    origin = Origin(name, instance.source.test, variant, seed)
    if instance.library == "onnx":
        return Skip(origin, "an operator of ONNX has no case of its own; hunt with --source onnx_node or onnx_models")
    if NONDETERMINISTIC in instance.flags:
        return Skip(origin, "in the library itself, two runs of this call give different results")
    return instance.case(origin)
