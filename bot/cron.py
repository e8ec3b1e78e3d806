"""Cron expressions as crontab(5) means them. APScheduler counts the days of the week from Monday, cron from Sunday."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from apscheduler.triggers.cron import CronTrigger

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_ITEM = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>[1-9]\d*))?")


def trigger(text: str) -> CronTrigger:
    """The trigger of a five-field expression, in UTC. Raises ValueError that says what is wrong.

    Where both a day of the month and a day of the week are given, both must hold (in crontab either is enough).
    """
    fields = text.split()
    if len(fields) != 5:
        raise ValueError(f"{len(fields)} fields instead of five")
    minute, hour, day, month, weekday = fields
    return CronTrigger(
        minute=minute, hour=hour, day=day, month=month, day_of_week=_weekdays(weekday.lower()), timezone=UTC
    )


def comes(text: str) -> bool:
    """Whether the expression names any moment from now on. Raises ValueError."""
    return trigger(text).get_next_fire_time(None, datetime.now(UTC)) is not None


def missed(text: str, last: datetime, now: datetime) -> bool:
    """Whether it was due after `last`, until now. Raises ValueError."""
    due = trigger(text).get_next_fire_time(last, now)
    return due is not None and due <= now


def following(text: str, now: datetime) -> datetime | None:
    """When it is due next (UTC). Raises ValueError."""
    found: datetime | None = trigger(text).get_next_fire_time(None, now)
    return found


def _weekdays(field: str) -> str:
    """The days as names, which mean the same to both."""
    if field == "*":
        return field
    return ",".join(sorted({_DAYS[day % 7] for item in field.split(",") for day in _expanded(item)}, key=_DAYS.index))


def _expanded(item: str) -> Iterator[int]:
    found = _ITEM.fullmatch(item)
    if found is None:
        raise ValueError(f"{item!r} is no day of the week")
    first = 0 if found["first"] == "*" else _day(found["first"])
    last = 6 if found["first"] == "*" else _day(found["last"]) if found["last"] else first
    if found["step"] and not found["last"]:
        last = 6  # as cron reads 1/2
    if last == 0 < first:
        last = 7  # a week may end with Sunday: mon-sun
    if last < first:
        raise ValueError(f"{item!r} ends before it begins")
    yield from range(first, last + 1, int(found["step"] or 1))


def _day(text: str) -> int:
    if text in _DAYS:
        return _DAYS.index(text)
    if text.isdecimal() and int(text) <= 7:
        return int(text)
    raise ValueError(f"{text!r} is no day of the week: 0 (Sunday) to 7, or sun to sat")
