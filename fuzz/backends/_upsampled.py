"""PyTorch's nearest upsampling under noise: near a tie either of two pixels is the nearest.

As for ONNX's Resize: the factors are moved by two units of float32, but not those that have a short binary form.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

from fuzz.backends._trials import Trial

NAMES = frozenset(
    "%supsample_nearest%s%dd" % (lead, exact, count)
    for lead, exact in (("", ""), ("_", "_exact"))
    for count in (1, 2, 3)
)


def disturbed(args: Any, trial: Trial) -> Tuple[Any, ...]:
    """The arguments (image, sizes, a factor or None for each dimension) with moved factors."""
    image, sizes, given = args[0], args[1], list(args[2:])
    given += [None] * (len(sizes) - len(given))
    factors = (_moved(*each, trial) for each in zip(given, sizes, image.shape[2:]))
    return (image, sizes, *factors)


def _moved(factor: Optional[float], size: int, before: int, trial: Trial) -> Optional[float]:
    wide = float(size) / before if factor is None else float(factor)
    if wide * 16 == round(wide * 16):
        return factor
    return wide * (1.0 + 2.0**-22 * float(trial.parts(())))
