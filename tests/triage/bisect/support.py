"""A range of revisions whose outcomes are written down: a letter each, ``-`` untestable, a number a rate of failing."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz.case import Revision
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection
from triage.bisect.outcome import Run
from triage.bisect.progress import Progress
from triage.revisions.environments import Untestable

STATUS = {"P": "ok", "W": "wrong", "E": "exception", "C": "signal", "T": "timeout", "S": "skipped"}


class Written:
    """Answers as written. `identities` are the builds' hashes; after `dies_after` runs everything stops."""

    def __init__(
        self, outcomes: Sequence[str | float], identities: Sequence[str] = (), seed: int = 0, dies_after: int = 10**9
    ) -> None:
        self._outcomes, self._identities, self._rng = outcomes, identities, random.Random(seed)
        self._left, self._lock = dies_after, threading.Lock()
        self.asked: list[int] = []

    def ready(self, revision: Revision) -> tuple[Revision, str]:
        at = int(revision.version)
        if self._outcomes[at] == "-":
            raise Untestable(revision.version, "its build hangs")
        return revision, self._identities[at] if self._identities else f"build {at}"

    def once(self, revision: Revision) -> Run:
        with self._lock:
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            at = int(revision.version)
            self.asked.append(at)
            written = self._outcomes[at]
            if isinstance(written, float):
                written = "W" if self._rng.random() < written else "P"
        return Run(written, STATUS[written])


class Busy(Written):
    """As written, where revisions can be made after so many tries only."""

    def __init__(self, outcomes: str, tries: dict[int, int]) -> None:
        super().__init__(outcomes)
        self._tries = tries

    def ready(self, revision: Revision) -> tuple[Revision, str]:
        at = int(revision.version)
        if self._tries.get(at, 0):
            self._tries[at] -= 1
            raise Untestable(revision.version, "there is no time to import it", passing=True)
        return super().ready(revision)


def searched(folder: Path, tester: Written, count: int, **options: Any) -> Answer:
    """The answer of a bisection over revisions 0, 1 … whose progress lies in `folder`."""
    revisions = [Revision(str(at)) for at in range(count)]
    return Bisection(revisions, tester, Progress(folder / "progress.json"), **options).run()


def bisected(folder: Path, outcomes: Sequence[str | float], **options: Any) -> Answer:
    """The same for outcomes alone."""
    return searched(folder, Written(outcomes), len(outcomes), **options)


def flips(answer: Answer) -> list[list[str]]:
    return [change.entry for change in answer.flips]
