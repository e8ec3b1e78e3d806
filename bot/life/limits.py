"""How much may be said without a person: so much a day and a component, none while maintainers refuse. Pure.

The same limits hold for filing, closing and reopening, each counted by itself (`Filing` in bot/settings.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.settings import Filing
from triage.ledger.records import Counted

DAY = timedelta(hours=24)


@dataclass(frozen=True)
class Past:
    """Something of the same kind that was put into the outbox: for which component, and when (UTC)."""

    component: str
    at: datetime


@dataclass(frozen=True)
class Allowance:
    """`held`: a moderator must let it go. `until`: not before then (UTC), None for at once. `why` names the rule.

    `counted` is what a limit was compared with, None where none was.
    """

    held: bool = False
    until: datetime | None = None
    why: str = ""
    counted: Counted | None = None


def allowance(
    rules: Filing, component: str, past: Sequence[Past], refused: int, closed: int, now: datetime
) -> Allowance:
    """What the rules say to one more for this component (a conversion function).

    `closed` is how many of the project's issues people have closed, `refused` how many of them as not planned or as a
    duplicate.
    """
    if rules.moderation:
        return Allowance(held=True, why="every text waits for a moderator")
    if closed >= rules.refused_least and refused > rules.refused_share * closed:
        why = f"people have refused {refused} of {closed} issues, more than the share {rules.refused_share:g}"
        return Allowance(held=True, why=why)
    recent = [one for one in past if one.at > now - DAY]
    same = [one for one in recent if one.component == component]
    waits = [
        (_free(recent, rules.per_day, now), f"{len(recent)} of {rules.per_day} a day"),
        (_free(same, rules.per_component, now), f"{len(same)} of {rules.per_component} a day for {component or 'it'}"),
    ]
    until, why = max(((at, why) for at, why in waits if at), default=(None, ""))
    return Allowance(until=until, why=f"the limit is reached: {why}" if until else "")


def _free(recent: Sequence[Past], most: int, now: datetime) -> datetime | None:
    """When there is room for one more, None for now. Of a limit of none there is never room: it is looked at daily."""
    if len(recent) < most:
        return None
    if not most:
        return now + DAY
    return sorted(one.at for one in recent)[len(recent) - most] + DAY
