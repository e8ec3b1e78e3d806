"""Models to mutate, built in code with seeded weights. The file name is the registry entry; there is no list to edit.

A file defines ``build() -> onnx.ModelProto``: float32, batch 1, He initialisation, batch normalisation folded into the
convolutions, so that every value is finite and of moderate size for inputs drawn from a standard normal distribution.
The same file always builds the same bytes.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import onnx

_HERE = Path(__file__).parent


class UnknownSeed(ValueError):
    """No seed model of that name."""


def names() -> list[str]:
    """Registered names in alphabetical order."""
    return sorted(path.stem for path in _HERE.glob("*.py") if not path.stem.startswith("_"))


def build(name: str) -> onnx.ModelProto:
    """The seed model of that name. Raises UnknownSeed."""
    if name not in names():
        raise UnknownSeed(f"no seed model is called {name!r}: choose one of {', '.join(names())}")
    found: onnx.ModelProto = importlib.import_module(f"{__name__}.{name}").build()
    return found


def inputs(model: onnx.ModelProto, seed: int) -> dict[str, np.ndarray]:
    """Values for the inputs of a model from here, by name: standard normal."""
    rng = np.random.default_rng(seed)
    found = {}
    for entry in model.graph.input:
        shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
        found[entry.name] = rng.standard_normal(shape).astype(np.float32)
    return found
