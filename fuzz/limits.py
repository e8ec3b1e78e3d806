"""What a job is, what it may use, and what comes back of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fuzz import wire


@dataclass(frozen=True)
class Limits:
    """What one case may use: wall-clock seconds, and MiB of memory above the idle worker."""

    seconds: float = 60.0
    memory_mb: int = 4096


@dataclass(frozen=True)
class Recycling:
    """When a healthy worker is replaced: after so many jobs, or once idle memory grew by so much."""

    jobs: int = 4000
    growth_mb: int = 1024


@dataclass(frozen=True)
class Reply:
    """A worker's answer to one job, or how it died over it.

    `header` and `values` are the worker's; `death` is set instead when there is no answer:
    ``exit:N``, ``signal:SIGSEGV``, ``timeout``, ``oom``, ``processes``, ``garbage``, or ``orphaned``
    when the process that had forked it died first.
    """

    header: dict[str, Any]
    values: dict[str, wire.Value]
    stderr: str = ""
    death: str = ""
    stage: str = "start"
    seconds: float = 0.0
    peak_mb: float = 0.0
    lost: int = 0  # a death's: so many jobs before it had ended and took their answers with them


#: A job is its header (without ``seq``), model bytes and inputs.
Job = tuple[dict[str, Any], bytes, dict[str, wire.Value]]
