"""How a gate goes on, told at GitHub and in the row of its work, and not more often than anybody looks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import structlog

from bot.checks.run import CheckRun, Words
from bot.checks.words import running
from bot.desk import Desk
from triage.suite.compare import Change
from triage.suite.gate import Pair

log = structlog.get_logger()

#: Seconds between two signs of life in the row of the work.
_SAY = 1.0
#: Seconds between two updates of a check run: few at first, then more each time, up to so many.
_FIRST, _GROWS, _LAST = 5.0, 1.3, 30.0


#: Cases that are named in the log for each kind of thing that a build reaches for.
_MOST_REFUSED = 10
#: Why what a confined build reaches for is out of its reach (docs/revisions.md).
_REFUSED = {
    "network": "it has no network",
    "process": "what it starts ends with its worker",
    "reading": "it sees no files but the system's and its own",
    "writing": "it writes nowhere but in its own folder, which is thrown away",
}


def _refused(pair: Pair, seen: Counter[str]) -> None:
    """Log what the newer build reached for on a case; what the older one does, too, is the compiler's habit."""
    for kind in pair.head.tried:
        if kind in pair.base.tried:
            continue
        seen[kind] += 1
        if seen[kind] <= _MOST_REFUSED:
            log.warning("refused", case=pair.name, what=kind, why=_REFUSED[kind])


class Progress:
    """Takes pairs in as they come. `check` is None where there is nobody to tell at GitHub."""

    def __init__(self, desk: Desk, check: CheckRun | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._check, self._clock = desk, check, clock
        self._counts: Counter[Change] = Counter()
        self._refused: Counter[str] = Counter()
        self._broken: list[str] = []
        self._next_say = self._next_told = float("-inf")
        self._pause = _FIRST

    def tell(self, pair: Pair) -> None:
        """One more pair is known. Raises Cancelled."""
        self._counts[pair.change] += 1
        if pair.change is Change.NEW_FAILURE:
            self._broken.append(pair.name)
        _refused(pair, self._refused)
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
