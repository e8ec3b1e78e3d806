"""Fewer options of a target: which of them, and of a list which entries, a failure needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.case import Target

#: What separates the entries of an option that is a list, such as the passes that are switched off.
_SEPARATOR = ","


def simplest_target(target: Target, still_fails: Callable[[Target], bool]) -> Target:
    """The target with as many options left to their defaults as the failure survives, lists as short."""
    while True:
        for simpler in _simpler(target):
            if still_fails(simpler):
                target = simpler
                break
        else:
            return target


def _simpler(target: Target) -> Iterator[Target]:
    """Without options; without one; with one entry less of a list."""
    if len(target.options) > 1:
        yield replace(target, options=())
    for at, (name, value) in enumerate(target.options):
        before, after = target.options[:at], target.options[at + 1 :]
        yield replace(target, options=(*before, *after))
        entries = value.split(_SEPARATOR)
        for gone in range(len(entries) if len(entries) > 1 else 0):
            shorter = _SEPARATOR.join(entries[:gone] + entries[gone + 1 :])
            yield replace(target, options=(*before, (name, shorter), *after))
