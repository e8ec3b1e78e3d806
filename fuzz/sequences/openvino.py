"""OpenVINO: transformations that its Python package offers, in any order, before the plugin's own, and settings."""

from __future__ import annotations

from collections.abc import Sequence

_TRANSFORMATIONS = ("ConstantFolding", "MOCTransformations", "MOCLegacyTransformations", "FusedNamesCleanup")
#: Steps that are options of the backend. Where the machine can, precision=auto computes in bfloat16.
_SETTINGS = ("disable=snippets", "precision=auto")
#: bfloat16 has 2^-8 where float32 has 2^-24.
COARSER = {"precision=auto": 2.0**16}
DEVICES = ({"threads": "2"}, {"threads": "4"}, {"engine": "interpreter"})


def steps(met: Sequence[str]) -> list[str]:
    """Transformations and settings."""
    return [*_TRANSFORMATIONS, *_SETTINGS]


def options(steps: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """The transformations in the order of the steps; the order of settings does not matter."""
    chosen = dict(step.split("=") for step in steps if step in _SETTINGS)
    return {"sequence": ",".join(step for step in steps if step in _TRANSFORMATIONS) or "none", **chosen}
