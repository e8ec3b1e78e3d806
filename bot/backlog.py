"""Whether a hunt has found as much as it can work on in the time that is left: more need not be looked for yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from triage.lifecycle import State
from triage.obeying import Pace
from triage.pipeline import STEPS
from triage.store import Store

#: What a bug takes until it is drafted, in seconds of one worker, as long as none was seen; and how many must be seen.
SECONDS, FEW = 20.0, 4
#: The states of a bug that has further to go by itself; a duplicate only waits for what it may be parted from.
_WAITING = [state for state in STEPS if state is not State.DUPLICATE]
#: The part of the budget that a hunt looks for bugs in any case.
LEAST_SHARE = 0.2


@dataclass
class Backlog:
    """The bugs of a store that wait, as seconds of work for `jobs` workers."""

    store: Store
    pace: Pace
    jobs: int
    seconds: float = SECONDS

    def is_full(self) -> bool:
        """Whether what waits would fill the rest of the budget; never in its first part, or without an end."""
        if self.pace.total is None or self.pace.spent() < LEAST_SHARE:
            return False
        left = self.pace.total * (1 - self.pace.spent())
        return self._waiting() * self.seconds >= left * self.jobs

    def worked(self, work: Callable[[], None]) -> None:
        """Do some of the work, and learn what a bug takes."""
        before, started = self._waiting(), time.monotonic()
        work()
        done = before - self._waiting()
        if done >= FEW:
            self.seconds = (time.monotonic() - started) * self.jobs / done

    def _waiting(self) -> int:
        return len(self.store.bugs(_WAITING))
