"""Which arguments of a call name axes: they follow where an axis goes, or are counted from the other end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.instance import Instance
from triage.parameters_torch import positional
from triage.passes._instances import Place, changed, places

#: Parameters that name axes, alone or in lists.
AXES = ("dim", "dims", "axis", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim")


def parameter(instance: Instance, place: Place) -> str:
    """What the library calls an argument; "" where that is not known."""
    if isinstance(place.key, str):
        return place.key
    known = positional(instance.api, place.init) if instance.library == "torch" else ()
    return known[place.key].name if place.key < len(known) else ""


def without_axis(instance: Instance, axis: int, rank: int) -> Instance:
    """The call with the axes among its arguments as they are after tensors of `rank` have lost one.

    What named the lost one stays as it is.
    """

    def moved(number: int) -> int:
        if number >= 0:
            return number - (number > axis)
        return number + (number + rank < axis)

    for place in places(instance):
        if parameter(instance, place) in AXES:
            instance = changed(instance, place, each_whole(place.of(instance), moved))
    return instance


def each_whole(encoded: Any, change: Callable[[int], int]) -> Any:
    """An encoded argument with every whole number changed, alone or in lists."""
    if isinstance(encoded, dict) and list(encoded) == ["tuple"]:
        return {"tuple": each_whole(encoded["tuple"], change)}
    if isinstance(encoded, list):
        return [each_whole(item, change) for item in encoded]
    return change(encoded) if type(encoded) is int else encoded
