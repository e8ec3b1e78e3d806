"""Waiting for a program that makes an environment, while it is asked now and then whether anybody still wants it."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

#: Seconds between two looks.
LOOK_SECONDS = 2.0
#: Looks in a row that may fail: half an hour's build is worth more than one look at a busy database.
TOLERATED = 5

#: Called now and then while something is made; what it raises ends that, and comes through.
GoesOn = Callable[[], None]


def wanted() -> None:
    """Somebody always wants it."""


def tolerant(look: GoesOn, *troubles: type[Exception]) -> GoesOn:
    """The same look, which raises these only when they come more than `TOLERATED` times in a row."""
    row = 0

    def looked() -> None:
        nonlocal row
        try:
            look()
            row = 0
        except troubles as problem:
            row += 1
            if row > TOLERATED:
                raise
            log.warning("nobody could be asked whether this is still wanted: %s", problem)

    return looked


def wait(process: subprocess.Popen[bytes], seconds: float, look: GoesOn) -> None:
    """Wait for the end. Raises subprocess.TimeoutExpired, and what `look` raises; the program then goes on."""
    ends = time.monotonic() + seconds
    while process.poll() is None:
        left = ends - time.monotonic()
        if left <= 0:
            raise subprocess.TimeoutExpired(process.args, seconds)
        look()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(LOOK_SECONDS, left))
