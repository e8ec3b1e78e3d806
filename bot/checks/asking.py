"""What the gate is asked for a project, and what a piece of work says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.durations import seconds
from bot.gating import Question
from bot.settings import Project
from bot.suitefile import Wanted
from fuzz.limits import Limits
from triage.revisions.config import Compiler


@dataclass(frozen=True)
class Asked:
    """The payload of a gate. `base` is a commit, or a branch where none was told ("": no base).

    A head counts as a fork's unless it was said to be none. `again`: a person wants it once more.
    """

    commit: str
    base: str
    pull: int | None
    fork: bool
    again: bool = False

    @staticmethod
    def of(payload: Mapping[str, Any]) -> Asked:
        """The payload, read. Raises KeyError without a commit."""
        base = payload.get("base") or payload.get("base_ref") or ""
        fork, again = bool(payload.get("fork", True)), bool(payload.get("again"))
        return Asked(str(payload["commit"]), str(base), payload.get("pull"), fork, again)


def wanted(project: Project, database: str) -> Wanted:
    """The suite of a project: what it configures, and every confirmed bug of the database."""
    return Wanted(
        folder=project.cases,
        tests=project.tests,
        db=database,
        sources=project.sources,
        slice_size=project.slice,
    )


def question(project: Project, compiler: Compiler, database: str, base: str, head: str) -> Question:
    """What `bot.gating.judge` is asked; the runner has the same limits (`Desk.runner`)."""
    return Question(
        compiler=compiler,
        base=base,
        head=head,
        wanted=wanted(project, database),
        limits=Limits(project.timeout, project.memory),
        budget=seconds(project.budget),
    )
