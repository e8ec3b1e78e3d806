"""What outlived a killed Graphwarden: installers and builds that still write where the next one builds anew.

They are known by a variable of their environment, which whatever they start inherits: process numbers are given again.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from triage.revisions.recipe import CannotBuild

_NAME = "GRAPHWARDEN_BUILDS"
_SECONDS = 10.0


def mark(folder: Path) -> dict[str, str]:
    """The variable that a program which writes into `folder` is started with."""
    return {_NAME: str(folder)}


def end(folder: Path) -> None:
    """Kill what an earlier process left at work in `folder`, and wait until it is gone. Raises CannotBuild."""
    sought = f"{_NAME}={folder}".encode()
    ends = time.monotonic() + _SECONDS
    while found := [process for process in Path("/proc").glob("[0-9]*") if sought in _environment(process)]:
        if time.monotonic() > ends:
            raise CannotBuild(f"an earlier build of it does not end: process {found[0].name}", passing=True)
        for process in found:
            _kill(int(process.name))
        time.sleep(0.01)


def _environment(process: Path) -> list[bytes]:
    """Empty for one that has ended, or is somebody else's."""
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended meanwhile
