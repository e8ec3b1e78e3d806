"""Generators: where cases come from. The file name is the registry entry; there is no list to edit.

A generator file defines ``cases(seed: int) -> Iterator[Case | Skip]`` and ``PER_TURN``, how many of its
cases come in a row when several sources share a campaign. With ``ON_REQUEST = True`` it takes part only in campaigns
that name it. The same seed gives the same cases in the
same order. What a generator knows of but cannot turn into a case it yields as a
`Skip`, so that nothing vanishes silently.

A generator of cases that must give what another one gives on the same compiler marks them with the variant `MUTANT` and
defines ``original(case)``, which makes that other one again. They are judged beside it (`fuzz.judge`).

A generator whose cases depend on what earlier ones did also defines ``stream(seed, known, begun)``, which gives a
`Feedback`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol, runtime_checkable

from fuzz.case import Case, Origin, Status

GENERATORS = Path(__file__).parent
#: How files of instances end.
FILES = (".jsonl", ".jsonl.gz")
#: The variant of cases that have an original.
MUTANT = "mutant"


class UnknownGenerator(ValueError):
    """No generator file of that name."""


@dataclass(frozen=True)
class Skip:
    """A source test that has no case, and why."""

    origin: Origin
    reason: str


Cases = Callable[[int], Iterator[Case | Skip]]


class Feedback(Protocol):
    """The cases of a campaign that are made one by one, while it tells what they did."""

    has_cases: bool
    why_none: str

    def __iter__(self) -> Iterator[Case | Skip]:
        """The cases, each made when it is asked for."""

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Learn what a case did on some target. Foreign cases are ignored.

        `bug` is what a failure is known by, `suspects` are operators that it may be due to.
        """


@runtime_checkable
class Kept(Protocol):
    """Cases that depend on what earlier campaigns did, too."""

    def keep(self, path: Path) -> None:
        """Begin with what the file says, if there is one, and `write` there. Raises ValueError."""

    def write(self) -> None:
        """Keep what was learnt so far."""


def names() -> list[str]:
    """Registered generator names in alphabetical order."""
    return sorted(path.stem for path in GENERATORS.glob("*.py") if not path.stem.startswith("_"))


def usual() -> list[str]:
    """The generators of a campaign that names none."""
    return [name for name in names() if not getattr(_module(name), "ON_REQUEST", False)]


def load(name: str) -> Cases:
    """The ``cases`` function of the generator `name`, or of the file of instances at that path.

    Raises UnknownGenerator when there is neither.
    """
    check(name)
    if _is_file(name):
        from fuzz.generators import _recorded  # which imports this module

        return functools.partial(_recorded.of_file, Path(name))
    cases: Cases = _module(name).cases
    return cases


def check(name: str) -> None:
    """Raises UnknownGenerator when `name` is neither a generator nor names a file of instances; imports nothing."""
    if not _is_file(name) and name not in names():
        known = ", ".join(names())
        raise UnknownGenerator(f"unknown source {name!r}: choose one of {known}, or name a file of instances (.jsonl)")


def original(case: Case) -> Case | None:
    """The case that must give the same as `case` on the same compiler, None where its generator names none."""
    if case.origin.variant != MUTANT or case.origin.generator not in names():
        return None
    made: Callable[[Case], Case | None] | None = getattr(_module(case.origin.generator), "original", None)
    return made(case) if made else None


def learns(name: str) -> bool:
    """Whether the cases of the generator `name` depend on what earlier ones did. Raises UnknownGenerator."""
    load(name)
    return not _is_file(name) and hasattr(_module(name), "stream")


def stream(name: str, seed: int, known: Collection[str], begun: int) -> Feedback | None:
    """The cases of the generator `name` if it learns from what they do, else None.

    `known` are keys of failures that are known; `begun` is the index at which an interrupted campaign goes on.
    Raises UnknownGenerator.
    """
    if not learns(name):
        return None
    made: Callable[[int, Collection[str], int], Feedback] = _module(name).stream
    return made(seed, known, begun)


def per_turn(name: str) -> int:
    """How many cases of the generator `name` come in a row when several share a campaign. Raises UnknownGenerator."""
    load(name)
    if _is_file(name):
        return 1
    turn: int = _module(name).PER_TURN
    return turn


def _is_file(name: str) -> bool:
    return name.endswith(FILES)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"fuzz.generators.{name}")
