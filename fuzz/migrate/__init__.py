"""Migration: operator instances out of libraries' own tests. The file name is the registry entry of a source.

A source is one file, `fuzz/migrate/NAME.py` (names that start with ``_`` are no sources), with

- ``ABOUT``: one line for ``graphwarden migrate --help``;
- ``migrate(request: Request) -> Iterator[Stored | Omitted]``: the instances, as they are found, and what was met and
  not kept, with the reason, so that nothing vanishes silently.

A source yields only instances that its library has accepted; the writer drops equal ones. ``stored(document,
Source(kind, test), flags, version)`` of `fuzz.instance_store` makes an instance out of the JSON of docs/instances.md.
Libraries are imported in child processes only: what they do to a process must not reach ours.
"""

from __future__ import annotations

import fnmatch
import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fuzz.instance_store import Stored

SOURCES = Path(__file__).parent


class UnknownSource(ValueError):
    """No source file of that name."""


class MigrationFailed(RuntimeError):
    """A source that cannot work here, e.g. because its library is missing; one line says how to mend it."""


@dataclass(frozen=True)
class Request:
    """What is asked of a source: at most `jobs` processes at once, and only operators that match a pattern.

    `seconds` is the longest that one test of the library may take.
    """

    jobs: int = os.cpu_count() or 1
    operators: tuple[str, ...] = ()
    seconds: float = 120.0

    def wants(self, operator: str) -> bool:
        """Whether an operator's name matches a pattern such as ``*conv2d``; without patterns all do."""
        return not self.operators or any(fnmatch.fnmatchcase(operator, pattern) for pattern in self.operators)


@dataclass(frozen=True)
class Omitted:
    """`count` calls or tests that gave no instance, and why. `test` is where, if that is one place."""

    reason: str
    test: str = ""
    count: int = 1


Migrate = Callable[[Request], Iterator[Stored | Omitted]]


def names() -> list[str]:
    """The names of all sources in alphabetical order."""
    return sorted(path.stem for path in SOURCES.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> Migrate:
    """The ``migrate`` function of the source `name`. Raises UnknownSource when there is none."""
    migrate: Migrate = _module(name).migrate
    return migrate


def about(name: str) -> str:
    """What the source says of itself in one line. Raises UnknownSource."""
    return str(_module(name).ABOUT)


def _module(name: str) -> ModuleType:
    if name not in names():
        raise UnknownSource(f"unknown source {name!r}: choose one of {', '.join(names())}")
    return importlib.import_module(f"fuzz.migrate.{name}")
