"""Inductor: rewriting passes and parts of code generation, each left out or not; their order is inductor's own.

Decompositions and lowerings are not asked about: without them another operator is computed, or none.
"""

from __future__ import annotations

from collections.abc import Sequence

_NOT_ASKED = ("decomposition", "lowerings")


def steps(met: Sequence[str]) -> list[str]:
    """The passes and parts that take part."""
    return [name for name in met if not name.startswith(_NOT_ASKED)]


def options(chosen: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """What is no step is left out."""
    left_out = [name for name in steps(met) if name not in chosen]
    return {"disable": ",".join(left_out) or "none"}
