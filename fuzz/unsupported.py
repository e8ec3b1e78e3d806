"""Which exceptions are an honest "this operator or type is not supported".

Rules are data, one file per backend: ``data/unsupported/<backend>.toml``. A rule names the exception
class *and* the raising site, and may narrow the message by a regular expression that must match from
the message's start; the word "support" somewhere in a message decides nothing (issue 2, point 6).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePath

from fuzz.case import Error, Stage
from fuzz.data import data_path


@dataclass(frozen=True)
class Rule:
    """One honest refusal.

    `exception` is the full class name; `site` is ``file.py:function`` (with shell wildcards) of a frame
    within the innermost `depth` ones, or ``native:<regular expression>`` for a place that the message names.
    `stages` empty means any stage.
    """

    exception: str
    site: str
    reason: str
    message: str = ""
    stages: tuple[str, ...] = ()
    depth: int = 1

    def matches(self, error: Error, stage: Stage) -> bool:
        """Whether this rule recognises the error."""
        return (
            error.type == self.exception
            and (not self.stages or stage in self.stages)
            and (not self.message or re.match(self.message, error.message, re.DOTALL) is not None)
            and self._at_site(error)
        )

    def _at_site(self, error: Error) -> bool:
        kind, _, pattern = self.site.partition(":")
        if kind == "native":
            return re.search(pattern, error.message) is not None
        sites = {f"{PurePath(frame.file).name}:{frame.function}" for frame in error.frames[-self.depth :]}
        return any(fnmatchcase(site, self.site) for site in sites)


@cache
def rules(backend: str) -> tuple[Rule, ...]:
    """The rules of a backend; none for a backend without a data file."""
    path = data_path("unsupported", f"{backend}.toml")
    if not path.is_file():
        return ()
    with path.open("rb") as file:
        entries = tomllib.load(file)["rule"]
    return tuple(Rule(**{**entry, "stages": tuple(entry.get("stages", ()))}) for entry in entries)


def reason(backend: str, error: Error, stage: Stage) -> str:
    """Why this error is an honest refusal, or "" when it is a failure."""
    return next((rule.reason for rule in rules(backend) if rule.matches(error, stage)), "")
