"""What an environment is made of. Equal recipes are one environment: the key is a hash of the recipe's content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from triage.revisions.waiting import GoesOn, wanted

#: Raised when what is installed into environments, or how, changes: older ones are then built anew.
VERSION = 1
#: Of what a build printed, so many bytes are told.
_TOLD = 4000


class CannotBuild(RuntimeError):
    """This revision cannot become an environment. `log` is what the build printed, untrusted text.

    `lasting`: another try on this machine would end the same way, so the answer may be remembered. `missing`: what is
    to be installed is not there, or not yet: a CI may still be building it. `passing`: the trouble is this machine's
    or the package index's, and may be over soon.
    """

    def __init__(
        self, reason: str, log: str = "", *, lasting: bool = False, missing: bool = False, passing: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.log = log
        self.lasting = lasting
        self.missing = missing
        self.passing = passing


@dataclass(frozen=True)
class Site:
    """An environment under construction: its folder and the interpreter in it.

    Whoever waits for a program that works on it calls `goes_on` now and then; what that raises ends the program.
    """

    folder: Path
    python: Path
    log: Path
    goes_on: GoesOn = wanted

    @property
    def said(self) -> str:
        """The end of what was printed so far, untrusted text."""
        if not self.log.is_file():
            return ""
        with self.log.open("rb") as log:  # a build may have printed gigabytes
            log.seek(max(0, self.log.stat().st_size - _TOLD))
            return log.read(_TOLD).decode("utf-8", "replace")

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        return next(iter(sorted(self.folder.glob("env/lib/python3*/site-packages"))))


@dataclass(frozen=True)
class Recipe:
    """Packages to install, and what a provider does afterwards.

    `as_of` is a date (ISO 8601): packages that appeared later are not taken, since an old build of a compiler was
    written for the numpy of its day. `content` names whatever else decides what is installed: hashes of files, of
    trees of a repository, a command. `finish` lays that into the environment; it raises CannotBuild.
    """

    requirements: tuple[str, ...]
    as_of: str = ""
    content: tuple[str, ...] = ()
    finish: Callable[[Site], None] | None = field(default=None, compare=False)

    def key(self, python: str) -> str:
        """16 hex digits, the same for the same content under the same interpreter."""
        told = json.dumps([VERSION, python, sorted(self.requirements), self.as_of, list(self.content)])
        return hashlib.sha256(told.encode()).hexdigest()[:16]
