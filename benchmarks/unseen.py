"""Bugs planted into models of blocks: of thirty kinds half was looked at while the reducer was tuned, half not.

Six more count, measure depth, or look at what is returned: kinds that found faults.

Some are not monotone, some depend on what is constant, on sizes, on dtypes, on which result of a node is read, or
sit in bodies and functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx

from benchmarks.block_bugs import Kind, Model
from benchmarks.block_bugs_counting import COUNTING
from benchmarks.block_bugs_held_out import HELD_OUT
from benchmarks.block_bugs_tuned import TUNED
from benchmarks.block_models import started
from benchmarks.planting import Planted

__all__ = ["COUNTING", "HELD_OUT", "KINDS", "TUNED", "fails", "plant"]

KINDS: Mapping[str, Kind] = {**TUNED, **HELD_OUT, **COUNTING}


def plant(kind: str, count: int, seed: int, rare: bool = True) -> Planted:
    """A model of about `count` nodes with a bug of one kind; `rare` or not makes another model."""
    for attempt in range(20):
        blocks = started(f"{kind} {count} {seed} {attempt}" + ("" if rare else " again"))
        blocks.grow(blocks.rng.randrange(count // 5, count - count // 5))
        KINDS[kind].plant(blocks)
        blocks.grow(max(1, count - len(blocks.nodes)))
        case = blocks.case(f"{kind}, {count} nodes, seed {seed}")
        if KINDS[kind].fails(onnx.load_model_from_string(case.model)):
            return Planted(kind, case, {"kind": kind, "unseen": True}, KINDS[kind].ideal)
    raise ValueError(f"{kind}: no model with this bug came up in twenty attempts")


def fails(spec: Mapping[str, Any], model: Model) -> bool:
    """Whether the model holds what the bug needs."""
    return KINDS[spec["kind"]].fails(model)
