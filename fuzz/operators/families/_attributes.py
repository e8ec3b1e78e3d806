"""Attributes whose domain is a rank: encoded once for every rank."""

from __future__ import annotations

from functools import cache

from fuzz.operators import encoding


@cache
def axes(rank: int, *, optional: bool = True, low: int | None = None) -> tuple[tuple[int | None, bytes], ...]:
    """`axis` in [low, rank), low = -rank unless told otherwise: its value and its bytes; None when it is left out."""
    found: list[tuple[int | None, bytes]] = [(None, b"")] if optional else []
    numbers = range(-rank if low is None else low, rank)
    return (*found, *((axis, encoding.integer("axis", axis)) for axis in numbers))
