"""Generators: where cases come from. The file name is the registry entry; there is no list to edit.

A generator file defines ``cases(seed: int) -> Iterator[Case | Skip]``. The same seed gives the same
cases in the same order. What a generator knows of but cannot turn into a case it yields as a
`Skip`, so that nothing vanishes silently.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzz.case import Case, Origin

GENERATORS = Path(__file__).parent


class UnknownGenerator(ValueError):
    """No generator file of that name."""


@dataclass(frozen=True)
class Skip:
    """A source test that has no case, and why."""

    origin: Origin
    reason: str


Cases = Callable[[int], Iterator[Case | Skip]]


def names() -> list[str]:
    """Registered generator names in alphabetical order."""
    return sorted(path.stem for path in GENERATORS.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> Cases:
    """The ``cases`` function of the generator `name`. Raises UnknownGenerator when there is none."""
    if name not in names():
        raise UnknownGenerator(f"unknown source {name!r}: choose one of {', '.join(names())}")
    cases: Cases = importlib.import_module(f"fuzz.generators.{name}").cases
    return cases
