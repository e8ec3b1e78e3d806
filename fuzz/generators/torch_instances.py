"""The hand-written PyTorch operator instances of ``data/instances/torch`` as cases."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from fuzz.case import Case, Origin, canonical_json
from fuzz.data import data_path
from fuzz.generators import Skip

NAME = "torch_instances"


#: Cases in a row when several sources share a campaign: instances are few, and slow to compile.
PER_TURN = 1


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every ``*.json`` instance, shuffled by `seed`. A file that is no JSON object is a Skip."""
    paths = sorted(data_path("instances", "torch").glob("*.json"))
    random.Random(seed).shuffle(paths)
    for path in paths:
        origin = Origin(NAME, path.stem, seed=seed)
        try:
            document = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            yield Skip(origin, f"{path.name} is not valid JSON: {error}")
            continue
        yield Case("instance", canonical_json(document), {}, origin)
