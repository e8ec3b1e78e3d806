"""What the kernel tells of processes."""

from __future__ import annotations

import contextlib
import mmap
import signal
from collections.abc import Sequence


def signal_name(number: int) -> str:
    """``SIGSEGV`` and the like."""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal between the two that have names
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def killed_by_kernel() -> int:
    """How many processes the kernel has killed for want of memory since the machine started."""
    with open("/proc/vmstat") as counters:
        return next((int(line.split()[1]) for line in counters if line.startswith("oom_kill ")), 0)


def used_mb(pids: Sequence[int]) -> float:
    """Memory of a process family in MiB. Forked children share most pages: those count once (PSS; slow)."""
    if len(pids) == 1:
        return resident_mb(pids)
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as rollup:
            total += next((int(line.split()[1]) for line in rollup if line.startswith("Pss:")), 0)
    return total / 1024


def resident_mb(pids: Sequence[int]) -> float:
    """Resident memory in MiB; pages that several share count for each."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as statm:
            pages += int(statm.read().split()[1])
    return pages * mmap.PAGESIZE / (1 << 20)
