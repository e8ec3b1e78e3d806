"""How fast the bot may write: GitHub's limits on creating content, kept before GitHub has to say so. Pure.

80 a minute and 500 an hour (docs.github.com, "Rate limits for the REST API", secondary limits). Every write counts,
edits too, which is stricter than GitHub is. The second between two writes is kept by the transport.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

#: (Writes, within seconds).
WINDOWS = ((80, 60.0), (500, 3600.0))


class Pace:
    """Counts writes on a clock that gives seconds. `answers`: how many calls GitHub has answered as it should."""

    def __init__(self, clock: Callable[[], float], windows: Iterable[tuple[int, float]] = WINDOWS) -> None:
        self._clock = clock
        self._windows = tuple(windows)
        self._longest = max((seconds for _, seconds in self._windows), default=0.0)
        self._writes: deque[float] = deque()
        self._held = 0.0
        self.answers = 0

    def answered(self) -> None:
        """GitHub has answered a call as it should: it is there."""
        self.answers += 1

    def wait(self) -> float:
        """Seconds until a write may be made; 0 if now."""
        now = self._clock()
        while self._writes and self._writes[0] <= now - self._longest:
            self._writes.popleft()
        return max(0.0, self._held - now, *(self._until_free(now, *window) for window in self._windows))

    def wrote(self, ago: float = 0.0) -> None:
        """A write was made, now or `ago` seconds before: one that an earlier process made counts, too."""
        moment = self._clock() - ago
        self._writes.append(moment)
        if ago:
            self._writes = deque(sorted(self._writes))

    def hold(self, seconds: float) -> None:
        """GitHub said to wait."""
        self._held = max(self._held, self._clock() + seconds)

    def _until_free(self, now: float, most: int, seconds: float) -> float:
        recent = [moment for moment in self._writes if moment > now - seconds]
        return recent[-most] + seconds - now if len(recent) >= most else 0.0
