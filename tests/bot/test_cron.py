"""Cron expressions fire when a reader of crontab(5) expects it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.cron import comes, following, missed, trigger

#: A Sunday.
START = datetime(2026, 11, 22, tzinfo=UTC)


def days(expression: str) -> str:
    """The days of the week after START on which it fires."""
    found, at = [], START - timedelta(seconds=1)
    while (at := trigger(expression).get_next_fire_time(at, at + timedelta(seconds=1))) < START + timedelta(days=7):
        found.append(at.strftime("%a"))
    return " ".join(found)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("*", "Sun Mon Tue Wed Thu Fri Sat"),
        ("0", "Sun"),
        ("7", "Sun"),
        ("1", "Mon"),
        ("1-5", "Mon Tue Wed Thu Fri"),
        ("5-7", "Sun Fri Sat"),
        ("0-6/2", "Sun Tue Thu Sat"),
        ("*/3", "Sun Wed Sat"),
        ("sat,Sun", "Sun Sat"),
        ("mon-wed", "Mon Tue Wed"),
        ("fri-sun", "Sun Fri Sat"),
        ("0-0", "Sun"),
    ],
)
def test_days_of_the_week_are_counted_from_sunday(field: str, expected: str) -> None:
    assert days(f"30 2 * * {field}") == expected


def test_times_are_utc() -> None:
    assert trigger("30 2 * * *").get_next_fire_time(None, START) == START + timedelta(hours=2, minutes=30)


def test_summer_time_changes_nothing() -> None:
    """On the last Sunday of March there is no half past two in Berlin; in UTC there is."""
    before, at = datetime(2027, 3, 27, 12, tzinfo=UTC), datetime(2027, 3, 28, 2, 30, tzinfo=UTC)
    assert following("30 2 * * *", before) == at
    assert following("30 2 * * *", at + timedelta(seconds=1)) == at + timedelta(days=1)


def test_what_was_due_since_the_last_ring_is_missed_and_what_will_be_is_not() -> None:
    last = START + timedelta(hours=2, minutes=30)
    assert not missed("30 2 * * *", last, last + timedelta(hours=23))
    assert missed("30 2 * * *", last, last + timedelta(hours=24))
    assert missed("30 2 * * *", last, last + timedelta(days=9))


def test_a_day_that_never_comes_is_told() -> None:
    assert comes("0 2 29 2 *") and not comes("0 2 31 2 *")


@pytest.mark.parametrize(
    "text", ["", "daily", "* * * *", "61 * * * *", "0 2 * * 8", "0 2 * * 5-1", "0 2 * * x", "0 2 * * 1/0"]
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        trigger(text)
