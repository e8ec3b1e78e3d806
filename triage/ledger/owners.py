"""Who has a row in work, and whether that process still lives. Several processes share one database.

A row that is taken carries its owner's name and a lease. It is free again when the lease has ended or when the owner,
a process of this machine, is gone: after a ``kill -9`` nobody waits for the lease.
"""

from __future__ import annotations

import functools
import os
import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path

#: How long a row is kept for an owner who does not say that it lives.
LEASE = timedelta(seconds=120)


def now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)


def me() -> str:
    """The name of this process: machine, boot, process id and when the process began."""
    return _name(os.getpid())


def free(owner: str, lease: datetime | None) -> bool:
    """Whether a taken row may be taken by somebody else."""
    return lease is None or lease <= now() or _gone(owner)


def here(owner: str) -> bool:
    """Whether a process of this machine is the owner."""
    return owner.rpartition("/")[0] == _place()


def _gone(owner: str) -> bool:
    place, _, rest = owner.rpartition("/")
    pid = rest.partition("@")[0]
    return place == _place() and (not pid.isdigit() or _name(int(pid)) != owner)


def _name(pid: int) -> str:
    return f"{_place()}/{pid}@{_began(pid)}"


def _began(pid: int) -> str:
    """When a process began, in clock ticks after boot; "" if it has ended (a zombie has)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]


@functools.cache
def _place() -> str:
    """This machine since its boot; process ids of a container mean nothing in another."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{platform.node()}/{boot}/{os.readlink('/proc/self/ns/pid')}"
