"""The journal of a run on builds: what belongs to its question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from bot.failures import Refusal
from fuzz.case import Revision
from fuzz.limits import Limits
from triage.machine import version
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.suite.entries import Entry
from triage.suite.journal import Busy, Journal


@dataclass(frozen=True)
class Build:
    """A revision with its environment, and the digest of what is installed in it."""

    revision: Revision
    identity: str

    @property
    def key(self) -> tuple[str, str]:
        """What a journal knows it by."""
        return self.revision.version, self.identity


def build(environments: Environments, compiler: Compiler, revision: Revision) -> Build:
    """An ensured revision. Raises triage.revisions.environments.Untestable."""
    ready = environments.ensure(compiler, revision)
    return Build(ready, environments.identity(compiler, ready))


def opened(
    command: str,
    compiler: Compiler,
    builds: Sequence[tuple[str, str]],
    entries: Sequence[Entry],
    limits: Limits,
    fresh: bool,
) -> Journal:
    """The journal of a run on `builds`, a version and what else tells it apart each (`Build.key`).

    Whatever can change an outcome belongs to its question: other limits or other versions begin anew. Raises Refusal
    where another process is at the same run.
    """
    question = {
        "command": command,
        "compiler": compiler.name,
        "configuration": str(compiler.source),
        "options": dict(compiler.options),
        "builds": [list(build) for build in builds],
        "limits": dataclasses.asdict(limits),
        "versions": {package: version(package) for package in ("graphwarden", "onnx")},
        "cases": sorted((entry.name, entry.id) for entry in entries),
    }
    try:
        return Journal(question, fresh=fresh)
    except Busy as error:
        raise Refusal(str(error)) from error
