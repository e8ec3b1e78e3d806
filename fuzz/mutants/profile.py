"""The profiled input of a seed: every tensor's value, evaluated once and never again (section 4.2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fuzz.mutants.tensors import Tensor, largest


@dataclass(frozen=True)
class Profile:
    """The floating-point tensors of the seed that depend on its inputs, at the profiled input.

    `errors`: the largest distance of each from float64.
    """

    values: Mapping[str, np.ndarray]
    errors: Mapping[str, float]

    def tensors(self) -> list[Tensor]:
        """Those that can be mutated: finite ones with elements."""
        found = [Tensor(name, value, largest(value)) for name, value in self.values.items() if value.size]
        return [each for each in found if math.isfinite(each.largest)]


def profile_of(found: Mapping[str, tuple[np.ndarray, float]]) -> Profile:
    """What `fuzz.backends._profiled.profile` gives."""
    return Profile(
        {name: value for name, (value, _) in found.items()}, {name: error for name, (_, error) in found.items()}
    )


def profile_from(outputs: Mapping[str, object]) -> Profile:
    """What the worker of `fuzz.backends._profiled` gives."""
    values, errors = {}, {}
    for key, value in outputs.items():
        kind, _, name = key.partition("/")
        assert isinstance(value, np.ndarray)
        if kind == "value":
            values[name] = value
        else:
            errors[name] = float(value)
    return Profile(values, errors)
