"""Waiting for a program that makes an environment, while it is asked now and then whether anybody still wants it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable

#: Seconds between two looks.
LOOK_SECONDS = 2.0

#: Called now and then while something is made; what it raises ends that, and comes through.
GoesOn = Callable[[], None]


def wanted() -> None:
    """Somebody always wants it."""


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
