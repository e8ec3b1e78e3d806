"""What the bot can do, one file a kind of work; the file's name is the kind (issue 6, docs/bot.md).

A kind is a module with

- ``HEAVY``: whether compilers run (``graphwarden work`` does it) or only the network is used (``graphwarden post``);
- ``run(work, desk) -> Done | Again | Failed``: does it. The process may be killed at any moment and the work begun anew
  by another: everything that lasts is a row with a key of its own, or comes with the answer, which is saved in one
  transaction.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from bot.desk import Desk
from triage.ledger.records import Counted, NewOutgoing, NewWork, Work


@dataclass(frozen=True)
class Done:
    """The work is done; what follows from it is saved together with that.

    Where a limit allowed it, `counted` is what that was decided by: it is done anew if another process was faster.
    """

    note: str = ""
    works: tuple[NewWork, ...] = ()
    outgoing: tuple[NewOutgoing, ...] = ()
    counted: Counted | None = None


@dataclass(frozen=True)
class Again:
    """It cannot be done now; try again in so many seconds. `counted` where it may be the work's own fault."""

    seconds: float
    note: str
    counted: bool = False


@dataclass(frozen=True)
class Failed:
    """It cannot be done; `outgoing` may say so at GitHub."""

    note: str
    outgoing: tuple[NewOutgoing, ...] = ()


Answer = Done | Again | Failed


class Kind(Protocol):
    """A module of this folder."""

    HEAVY: bool

    def run(self, work: Work, desk: Desk) -> Answer: ...


@cache
def names() -> tuple[str, ...]:
    """All kinds of work."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__)))


@cache
def load(name: str) -> Kind:
    """One kind. Raises ModuleNotFoundError for an unknown one."""
    module: Kind = importlib.import_module(f"{__name__}.{name}")
    return module


def of_weight(heavy: bool) -> tuple[str, ...]:
    """The kinds that one of the two processes does."""
    return tuple(name for name in names() if heavy == load(name).HEAVY)
