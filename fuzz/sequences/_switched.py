"""Any backend that tells the passes of a model and leaves out those that are named: each pass takes part or not."""

from __future__ import annotations

from collections.abc import Sequence


def steps(met: Sequence[str]) -> list[str]:
    """The passes that take part."""
    return list(met)


def options(steps: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """What is no step is left out; the order is the compiler's own."""
    return {"disable": ",".join(name for name in met if name not in steps) or "none"}
