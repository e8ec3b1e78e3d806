"""A worker that stands still over a fatal signal: which thread, and which signal.

`fuzz.worker` has such signals end in pause(2), where it is asked to: the process then waits, its native stack whole,
until the parent has looked (`fuzz.native`) and ends it.
"""

from __future__ import annotations

import platform
import signal
from dataclasses import dataclass
from pathlib import Path

from fuzz import processes

_FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
#: What faulthandler writes before the thread stands still; without it no thread is looked at.
ANNOUNCED = b"Fatal Python error: "
#: The system call that libc's pause makes, by machine: newer ones have no pause(2) and wait in ppoll(2).
_PAUSE = {"x86_64": "34", "aarch64": "73"}


@dataclass(frozen=True)
class Standing:
    """The thread that stands still, and the signal that it does so over, such as ``SIGSEGV``."""

    thread: int
    signal: str


def standing(pid: int) -> Standing | None:
    """The thread of a process that stands still over a fatal signal; None where none does.

    While the handler of a signal runs, its thread has that signal blocked; others are blocked, if at all, together.
    A thread that has blocked one for reasons of its own does not wait in pause.
    """
    for task in sorted(Path(f"/proc/{pid}/task").glob("*"), key=lambda path: int(path.name)):
        blocked = _blocked(task)
        over = [number for number in _FATAL if blocked >> (number - 1) & 1]
        if len(over) == 1 and _may_pause(task):
            return Standing(int(task.name), processes.signal_name(over[0]))
    return None


def _blocked(task: Path) -> int:
    """The signals that a thread has blocked, as a set of bits; 0 once it has ended."""
    try:
        status = (task / "status").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigBlk:")), 0)


def _may_pause(task: Path) -> bool:
    """Whether a thread waits in libc's pause; true as well where the system does not tell."""
    pause = _PAUSE.get(platform.machine())
    try:
        return pause in (None, (task / "syscall").read_text().partition(" ")[0])
    except (FileNotFoundError, ProcessLookupError):
        return (task / "status").exists()
    except PermissionError:
        return True
