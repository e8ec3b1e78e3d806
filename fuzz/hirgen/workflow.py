"""The workflow of HirGen (figure 2): graphs one after the other, while what they cover is known and grows."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx

from fuzz.hirgen import disruptive, functions, rewrites, strict
from fuzz.hirgen.coverage import VIOLATION, Coverage
from fuzz.hirgen.violations import Violation
from fuzz.operators.families import IR_VERSION, OPSET
from fuzz.operators.growth import GraphInput, Limits
from fuzz.operators.specification import Operator

STRICT, DISRUPTIVE = "strict", "disruptive"
MODES = (STRICT, DISRUPTIVE)
#: What a strict graph is written as: without functions, with functions, or with functions and one of them rewritten.
PLAIN, WRAPPED = "plain", "wrapped"
FORMS = (PLAIN, WRAPPED, *rewrites.REWRITES)
_LIMITS = Limits()


@dataclass(frozen=True)
class Settings:
    """How graphs are made: `low` to `high` nodes of the operators; unguided (HirGen_r) coverage decides nothing."""

    operators: tuple[Operator, ...]
    low: int = 1
    high: int = 10
    mode: str = STRICT
    guided: bool = True
    opset: int = OPSET
    ir_version: int = IR_VERSION
    limits: Limits = field(default=_LIMITS)
    all_outputs: bool = False


@dataclass(frozen=True)
class Made:
    """A model, its graph inputs and its operator nodes.

    `rejected` insertions were taken back; `items` are what it covers, and `gain` counts those that are new.
    `violation` is what a disruptive model breaks.
    """

    model: bytes
    inputs: tuple[GraphInput, ...]
    nodes: int
    rejected: int
    gain: int
    items: tuple[tuple[str, str], ...] = ()
    violation: Violation | None = None


class HirGen:
    """Makes graphs. The one of an index depends on seed, index and what the coverage holds when it is made."""

    def __init__(self, settings: Settings, seed: int, coverage: Coverage) -> None:
        self._settings, self._seed, self.coverage = settings, seed, coverage

    def make(self, index: int) -> Made:
        """The graph of that index. Raises disruptive.NothingToBreak."""
        draw, settings = drawing(self._seed, index), self._settings
        count = draw.randint(settings.low, settings.high)
        return self._disrupted(draw, count) if settings.mode == DISRUPTIVE else self._strict(draw, count)

    def _strict(self, draw: random.Random, count: int) -> Made:
        settings = self._settings
        grown = strict.grow(
            draw, settings.operators, count, self.coverage, guided=settings.guided, limits=settings.limits
        )
        growth = grown.growth
        model = growth.model(settings.opset, settings.ir_version, all_outputs=settings.all_outputs)
        return Made(model, tuple(growth.inputs()), growth.count, grown.rejected, grown.gain, grown.items)

    def _disrupted(self, draw: random.Random, count: int) -> Made:
        settings = self._settings
        made = disruptive.disrupt(
            draw,
            settings.operators,
            count,
            self.coverage,
            opset=settings.opset,
            ir_version=settings.ir_version,
            guided=settings.guided,
            limits=settings.limits,
        )
        items = ((VIOLATION, made.violation.item),)
        return Made(made.model, made.inputs, made.nodes, made.rejected, made.gain, items, made.violation)


def drawing(seed: int, index: int) -> random.Random:
    """What the graph of that index is drawn with."""
    return random.Random(seed << 40 | index)


def forms(model: bytes, seed: int, index: int) -> Mapping[str, bytes]:
    """A plain model in its other forms, by name: each computes the same. Empty where no node can be in a function."""
    draw = random.Random(seed << 40 | index << 1 | 1)
    wrapped = functions.wrap(onnx.load_model_from_string(model), draw)
    if not wrapped.functions:
        return {}
    found = {WRAPPED: wrapped, **dict(rewrites.rewrites(wrapped, draw))}
    return {name: each.SerializeToString(deterministic=True) for name, each in found.items()}
