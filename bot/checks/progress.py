"""How a gate goes on, told at GitHub and in the row of its work, and not more often than anybody looks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from bot.checks.run import CheckRun, Words
from bot.checks.words import running
from bot.desk import Desk
from triage.suite.compare import Change
from triage.suite.gate import Pair

#: Seconds between two signs of life in the row of the work.
_SAY = 1.0
#: Seconds between two updates of a check run: few at first, then more each time, up to so many.
_FIRST, _GROWS, _LAST = 5.0, 1.3, 30.0


class Progress:
    """Takes pairs in as they come. `check` is None where there is nobody to tell at GitHub."""

    def __init__(self, desk: Desk, check: CheckRun | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._check, self._clock = desk, check, clock
        self._counts: Counter[Change] = Counter()
        self._broken: list[str] = []
        self._next_say = self._next_told = float("-inf")
        self._pause = _FIRST

    def tell(self, pair: Pair) -> None:
        """One more pair is known. Raises Cancelled."""
        self._counts[pair.change] += 1
        if pair.change is Change.NEW_FAILURE:
            self._broken.append(pair.name)
        now = self._clock()
        if now >= self._next_say:
            self._next_say = now + _SAY
            self._desk.say(self.words.title)
        if self._check is not None and now >= self._next_told:
            self._next_told, self._pause = now + self._pause, min(self._pause * _GROWS, _LAST)
            self._check.runs(self.words)

    @property
    def words(self) -> Words:
        """What is known so far."""
        return running(self._counts, self._counts.total(), self._broken)
