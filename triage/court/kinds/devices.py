"""The same compiler on the CPU, and its library uncompiled on the device: whether a device's kernels are at fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzz import judge, registry
from fuzz.case import Status, options_from
from fuzz.zygote import BackendUnavailable
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong", "death")
OPTION = "device"
_UNTOLD = (Status.SKIPPED, Status.UNSUPPORTED, Status.TIMEOUT, Status.OOM)


def gather(hearing: Hearing) -> Evidence | None:
    """For targets with the option ``device``: who gives the expected result beside them."""
    chosen = dict(hearing.target.options)
    device = chosen.get(OPTION, "")
    if not device or hearing.hurried():
        return None
    backend = registry.backend(hearing.target.backend)
    without = backend.uncompiled_under(chosen)
    ways = {"the same compiler on the CPU": {key: value for key, value in chosen.items() if key != OPTION}}
    if without is not None:
        ways[f"its library, uncompiled on {device},"] = {**chosen, **without}
    asked = {way: _is_right(hearing, options) for way, options in ways.items() if not hearing.hurried()}
    told = {way: right for way, right in asked.items() if right is not None}
    if not told:
        return None
    said = [f"{way} {'gives' if right else 'does not give'} the expected result" for way, right in told.items()]
    side = Side.AGAINST if len(told) == len(ways) and all(told.values()) else Side.NEUTRAL
    return Evidence("devices", side, "; ".join(said), {"device": device, "right": [way for way in told if told[way]]})


def _is_right(hearing: Hearing, options: Mapping[str, str]) -> bool | None:
    """None for what does not take the case, or came to no end."""
    target = replace(hearing.target, options=options_from(options))
    try:
        outcome = hearing.runner.run_fresh(hearing.case, target, limits=hearing.limits())
    except BackendUnavailable:
        return None
    if outcome.status in _UNTOLD:
        return None
    if outcome.status is not Status.OK:
        return False
    return hearing.manner == "death" or measure.nearer(judge.values(outcome), hearing.actual, hearing.expected) < 0
