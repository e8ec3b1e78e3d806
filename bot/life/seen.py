"""What a bug does on one build today: the fact that closing and reopening are decided on. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

#: Fresh processes that must agree.
RUNS = 3


class Does(StrEnum):
    """What was seen in fresh processes; only the first two say anything."""

    FAILS = "fails"  # every time, with the bug's own symptom
    PASSES = "passes"  # every time
    VARIES = "varies"  # not every time the same
    OTHERWISE = "fails in another way"  # every time, with a symptom that is not the bug's
    NOTHING = "has nothing to judge"  # skipped, unsupported or invalid there
    UNTESTABLE = "cannot be tested"  # no environment can be made of the build now
    GONE = "is gone"  # no such revision any more


@dataclass(frozen=True)
class Run:
    """One fresh run: whether it passed, its symptom where it failed; `judged` is false where there was nothing to."""

    passed: bool
    symptom: str = ""
    judged: bool = True
    why: str = ""


@dataclass(frozen=True)
class Seen:
    """What a bug did on a build. `revision` is its full name, `commit` its commit, `note` why it says nothing."""

    revision: str
    does: Does
    runs: int = 0
    failed: int = 0
    note: str = ""
    commit: str = ""

    @classmethod
    def nothing(cls, revision: str) -> Seen:
        """Of a build that was not run."""
        return cls(revision, Does.NOTHING, note="it was not run")

    @property
    def told(self) -> str:
        """In words, after the revision's name: ``fails (3 of 3 fresh runs)``."""
        if self.does in (Does.PASSES, Does.FAILS):
            return f"{self.does} ({self.runs} of {self.runs} fresh runs)"
        if self.does in (Does.VARIES, Does.OTHERWISE):
            return f"{self.does} ({self.failed} of {self.runs} fresh runs fail)"
        return f"{self.does}: {self.note}" if self.note else str(self.does)


def concluded(revision: str, symptom: str, runs: Sequence[Run], commit: str = "") -> Seen:
    """What runs on one build say of the bug with this symptom. Fewer than RUNS agreeing runs prove nothing."""
    failed = sum(run.judged and not run.passed for run in runs)
    strange = next((run for run in runs if not run.judged), None)
    if strange is not None:
        return Seen(revision, Does.NOTHING, len(runs), failed, strange.why, commit)
    if len(runs) < RUNS or 0 < failed < len(runs):
        return Seen(revision, Does.VARIES, len(runs), failed, commit=commit)
    if not failed:
        return Seen(revision, Does.PASSES, len(runs), 0, commit=commit)
    shown = {run.symptom for run in runs}
    does = Does.FAILS if shown == {symptom} else Does.VARIES if len(shown) > 1 else Does.OTHERWISE
    return Seen(revision, does, len(runs), failed, "" if does is Does.FAILS else ", ".join(sorted(shown)), commit)
