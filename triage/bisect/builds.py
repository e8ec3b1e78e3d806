"""The way from a bisection to the real compilers: environments are made, the case is run in a fresh process."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict

from fuzz.case import Case, Revision
from triage.bisect.outcome import Run
from triage.replay import Replay
from triage.revisions.environments import Environments

#: Compilers that are kept imported although nothing is run on them, for the next run of the same revision.
_KEPT = 2


class Builds:
    """Runs one case on any revision of one compiler.

    `perturb` is the byte that fresh memory is filled with, for a failure that shows only then.
    """

    def __init__(self, case: Case, replay: Replay, environments: Environments, perturb: int | None = None) -> None:
        self._case = case
        self._replay = replay
        self._environments = environments
        self._perturb = perturb
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._idle: OrderedDict[str, Revision] = OrderedDict()

    def ready(self, revision: Revision) -> tuple[Revision, str]:
        """The revision with its interpreter, and the hash of what is installed. Raises Untestable."""
        runnable = self._environments.ensure(self._replay.compiler, revision)
        return runnable, self._environments.identity(self._replay.compiler, revision)

    def once(self, revision: Revision) -> Run:
        """One run in a fresh process. Raises Untestable when the compiler cannot be started."""
        with self._lock:
            self._busy[revision.python] += 1
        try:
            found = self._replay.once(self._case, revision, self._perturb)
        finally:
            self._release(revision)
        return Run(found.letter, str(found.status), found.symptom, found.detail, found.seconds)

    def _release(self, revision: Revision) -> None:
        """Each idle compiler holds hundreds of megabytes: those not used for longest are ended."""
        with self._lock:
            self._busy[revision.python] -= 1
            self._idle[revision.python] = revision
            self._idle.move_to_end(revision.python)
            free = [python for python in self._idle if not self._busy[python]]
            for python in free[:-_KEPT]:
                self._replay.close(self._idle.pop(python))
