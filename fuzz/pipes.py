"""Pipes between a lane and its worker."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

#: What a pipe holds, and so the most that one call moves.
BYTES = 1 << 20
_MOST_READS = 8


def pipe() -> tuple[int, int]:
    """The ends to read and to write; as wide as the system allows."""
    read, write = os.pipe()
    with contextlib.suppress(OSError):  # unprivileged users may have used up their pipe quota
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, BYTES)
    return read, write


def available(fd: int) -> Iterator[bytes]:
    """What can be read now, in pieces; not for ever when the other end never stops writing."""
    for _ in range(_MOST_READS):
        try:
            data = os.read(fd, BYTES)
        except BlockingIOError:
            return
        if not data:
            return
        yield data
        if len(data) < 4096:
            return
