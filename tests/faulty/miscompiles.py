"""XLA with a planted fault: the compiled Softmax adds a little to its first element; without ``jit`` it is right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz.backends.xla import KINDS, OPTIONS, PACKAGES, UNCOMPILED, devices, warm, warm_keras_jax, warm_keras_tensorflow
from fuzz.backends.xla import execute as compiled
from fuzz.wire import Job, Value

__all__ = [
    "KINDS",
    "OPTIONS",
    "PACKAGES",
    "UNCOMPILED",
    "devices",
    "execute",
    "warm",
    "warm_keras_jax",
    "warm_keras_tensorflow",
]


def execute(job: Job, enter: Callable[[str], None]) -> list[tuple[str, Value]]:
    """What XLA gives, but for the fault."""
    found = compiled(job, enter)
    if b"keras.layers.Softmax" not in job.model or job.options.get("jit") == "off":
        return found
    name, value = found[0]
    assert isinstance(value, np.ndarray)
    wrong = value.copy()
    wrong.ravel()[:1] += np.float32(0.25)
    return [(name, wrong), *found[1:]]
