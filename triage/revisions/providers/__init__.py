"""Where builds come from: one file each, the file name is the registry entry.

A provider has ``SETTINGS`` (keys of its table in the configuration, and what each may be: `triage.revisions.kinds`),
``NEEDED`` (those that must be there), ``UNTRUSTED`` (whether its builds may be anybody's code), ``revisions(compiler)``
(oldest first), ``resolve(compiler, name)`` (one revision, also one that is not listed, or None) and
``recipe(compiler, revision)`` (what its environment is made of); where builds may come from forks,
``foreign(compiler, revision)`` (whether this one does) and ``word(compiler, revision)`` (what a maintainer's word for
it is given for: a commit, or the hash of a wheel; raises CannotBuild where nothing stays the same).
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parent


class UnknownProvider(ValueError):
    """No provider file of that name."""


def names() -> list[str]:
    """The providers, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> ModuleType:
    """The provider called `name`. Raises UnknownProvider."""
    if name not in names():
        raise UnknownProvider(f"unknown provider {name!r}: choose one of {', '.join(names())}")
    return importlib.import_module(f"triage.revisions.providers.{name}")
