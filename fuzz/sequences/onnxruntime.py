"""ONNX Runtime: the graph transformers that change a model, each left out or not, and the level.

Their order is ONNX Runtime's own. Without a step all of those that `met` names are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

_LEVELS = ("opt=basic", "opt=extended")
DEVICES = ({"threads": "2"}, {"threads": "4"})


def steps(met: Sequence[str]) -> list[str]:
    """A transformer that takes part, or a level that is not the highest."""
    return [*met, *_LEVELS] if met else []


def options(steps: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """The last level wins."""
    levels = [step.partition("=")[2] for step in steps if step in _LEVELS]
    left_out = [name for name in met if name not in steps]
    return {"opt": levels[-1] if levels else "all", "disable": ",".join(left_out) or "none"}
