"""Optimisation sequences of a compiler, drawn and shuffled: one file a backend, called like it.

A sequence is a list of steps, each of which makes sense without the others, so that delta debugging can leave any out.
A backend without a file of its own has passes that take part or not, if it can leave out passes (``disable``). A file
defines

- ``steps(met)``: the steps that there are; `met` are the passes that a model goes through (``show=passes``),
- ``options(steps, met)``: the backend's options that run these steps in that order; without any, the model as it is,
- ``COARSER``: step -> how many times more its result may be off than float32 would be (optional),
- ``DEVICES``: options by which the backend computes the same for another device or in another way (optional).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from fuzz import registry
from fuzz.case import Target, options_from

#: The longest sequence that is drawn.
LONGEST = 12
#: The option of backends that take a sequence, and its value where they take none.
OPTION, NONE = "sequence", "none"
#: The option of backends that take another device than the usual one.
DEVICE = "device"


class NoSequences(ValueError):
    """A backend whose optimisations cannot be put in sequences."""


@dataclass(frozen=True)
class Sequences:
    """The sequences of one backend for models that go through the passes `met`."""

    backend: str
    met: tuple[str, ...]

    def draw(self, seed: int | str) -> tuple[str, ...]:
        """A shuffled sequence; the same seed gives the same. Empty where the backend has no step for the model."""
        rng = Random(seed)
        known = list(_module(self.backend).steps(self.met))
        rng.shuffle(known)
        return tuple(known[: rng.randint(1, min(len(known), LONGEST))]) if known else ()

    def options(self, steps: Sequence[str]) -> dict[str, str]:
        """The options by which the backend runs these steps."""
        found: dict[str, str] = _module(self.backend).options(tuple(steps), self.met)
        return found

    def coarser(self, steps: Sequence[str]) -> float:
        """How many times more than in float32 a result after these steps may be off."""
        table: Mapping[str, float] = getattr(_module(self.backend), "COARSER", {})
        return max((table.get(step, 1.0) for step in steps), default=1.0)


def drawn(targets: Sequence[Target], count: int, seed: int) -> list[Target]:
    """So many further targets of each backend: the first of its `targets` with drawn sequences.

    Only of backends that put passes in an order of the caller's choice (option ``sequence``): which passes others go
    through depends on the model. Steps that compute more coarsely are left out: the reference would call that wrong.
    """
    found: list[Target] = []
    for target in {each.backend: each for each in reversed(targets)}.values():
        if OPTION not in registry.backend(target.backend).options:
            continue
        known = Sequences(target.backend, ())
        for at in range(count):
            exact = [step for step in known.draw(f"{seed}/{at}") if known.coarser([step]) == 1.0]
            options = {**dict(target.options), **known.options(exact)}
            found.append(replace(target, options=options_from(options)))
    return list(dict.fromkeys(found))


def of(target: Target) -> tuple[str, ...]:
    """The steps that a target's option ``sequence`` names, in their order."""
    named = dict(target.options).get(OPTION, NONE)
    return () if named == NONE else tuple(named.split(","))


def only(target: Target, steps: Sequence[str]) -> Target:
    """The target with these steps alone."""
    return replace(target, options=options_from({**dict(target.options), OPTION: ",".join(steps) or NONE}))


def devices(backend: str, found: Sequence[str] = ()) -> list[dict[str, str]]:
    """Options by which a backend computes the same in another way: other targets, other numbers of threads.

    `found` are the devices that the machine has; the first value of the option ``device`` is none of these.
    """
    ways = [dict(each) for each in getattr(_module(backend), "DEVICES", ())]
    usual = usual_device(backend)
    return ways + [{DEVICE: name} for name in found if usual and name != usual]


def usual_device(backend: str) -> str:
    """The device that a backend takes unless it is told another, "" where it cannot be told."""
    return next(iter(registry.backend(backend).options.get(DEVICE, ())), "")


def names() -> list[str]:
    """The backends that have a file here."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def _module(backend: str) -> Any:
    """Raises NoSequences."""
    known = registry.backend(backend)
    if known.name in names():
        return importlib.import_module(f"fuzz.sequences.{known.name}")
    if registry.ANY in known.options.get("disable", ()) and "passes" in known.options.get("show", ()):
        return importlib.import_module("fuzz.sequences._switched")
    raise NoSequences(f"no optimisation sequences of {known.name} are known; choose one of {', '.join(names())}")
