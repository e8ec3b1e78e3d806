"""How long a step of triage may take: limits are meant for an idle machine, and grow where others keep it busy."""

from __future__ import annotations

import os
import time

#: A machine that is busier than this many times gets no more time.
MOST = 10.0


def slowness(load: float, cores: int) -> float:
    """How many times as long things take as on an idle machine, for so many processes that want to run; 1 to `MOST`."""
    return min(MOST, max(1.0, load / cores))


def here() -> float:
    """The slowness of this machine over the last minute."""
    return slowness(os.getloadavg()[0], len(os.sched_getaffinity(0)))


def ends(seconds: float, latest: float | None) -> float:
    """The monotonic time in s at which a step ends that takes `seconds` of an idle machine; `latest` if that is sooner.

    Without it a busy machine would reduce less, and write other reports of the same bug.
    """
    limit = time.monotonic() + seconds * here()
    return limit if latest is None else min(limit, latest)
