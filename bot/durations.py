"""Durations as people write them: ``90s``, ``3m``, ``1h30m``, ``none``."""

from __future__ import annotations

import re
from datetime import datetime

from bot.failures import Refusal

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smh])+")


def seconds(text: str, option: str = "--budget") -> float | None:
    """Seconds of a duration; a bare number is seconds; ``none`` is None. Raises Refusal naming `option`."""
    lowered = text.strip().lower()
    if lowered == "none":
        return None
    if re.fullmatch(r"\d+(\.\d+)?", lowered):
        total = float(lowered)
    elif _DURATION.fullmatch(lowered):
        total = sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)([smh])", lowered))
    else:
        raise Refusal(f"{option} {text!r} is not a duration: write 90s, 3m, 1h30m or none")
    if total <= 0:
        raise Refusal(f"{option} {text!r} leaves no time: write a duration above zero, or none")
    return total


def ago(then: datetime, now: datetime) -> str:
    """How long ago that was, in the largest unit that fits: ``3 days``, ``1 hour``, ``just now``."""
    passed = (now - then).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if passed >= length:
            count = int(passed // length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "just now"
