"""IREE: its optimisation levels; the last step wins."""

from __future__ import annotations

from collections.abc import Sequence

DEVICES = ({"target": "host"}, {"driver": "local-task"})


def steps(met: Sequence[str]) -> list[str]:
    """The levels."""
    return ["opt=O0", "opt=O1", "opt=O2", "opt=O3"]


def options(steps: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """One level, the default one without a step."""
    return {"opt": steps[-1].partition("=")[2] if steps else "default"}
