"""Equivalence classes of parameter values, as OPERA partitions them (section III-B2)."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable

from fuzz.ranking.item import Tensor, Value

#: Tensors of more dimensions share one subspace.
MOST_DIMENSIONS = 6


def subspace(value: Value) -> Hashable:
    """The class of a value: texts, truth values and names by themselves, numbers and tensors by range."""
    if isinstance(value, Tensor):
        return ("tensor", value.dtype, *shape_subspace(value.shape))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, int):
        return ("int", whole(value))
    if isinstance(value, float):
        return ("float", real(value))
    if isinstance(value, list):
        return ("list", min(len(value), MOST_DIMENSIONS), *(subspace(each) for each in value[:MOST_DIMENSIONS]))
    return ("object", json.dumps(value, sort_keys=True, default=str))


def whole(number: int) -> int:
    """The class of an integer: up to -2, -1, 0, 1, from 2."""
    return max(-2, min(2, number))


def real(number: float) -> str:
    """The class of a real number: its sign; NaN is one of its own."""
    if math.isnan(number):
        return "nan"
    return "0" if number == 0 else "-" if number < 0 else "+"


def shape_subspace(shape: tuple[int | None, ...] | None) -> tuple[Hashable, ...]:
    """The class of a shape: the number of dimensions, and each size's class."""
    if shape is None:
        return ("?",)
    sizes = ("?" if size is None else whole(size) for size in shape[:MOST_DIMENSIONS])
    return (min(len(shape), MOST_DIMENSIONS), *sizes)
