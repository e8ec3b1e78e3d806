"""Whether two results are the same to the bit. Pure."""

from __future__ import annotations

import numpy as np

from fuzz.case import Outcome
from fuzz.wire import Value


def identical(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes have the same outputs: number, dtypes, shapes, and every bit."""
    pairs = list(zip(one.outputs, other.outputs, strict=False))
    return len(one.outputs) == len(other.outputs) and all(_same(a, b) for (_, a), (_, b) in pairs)


def _same(one: Value, other: Value) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()
