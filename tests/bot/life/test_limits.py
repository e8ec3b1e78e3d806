"""How much is said without a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.life.limits import Past, allowance
from bot.settings import Filing

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
FREE = Filing(moderation=False, per_day=3, per_component=1, refused_share=0.3, refused_least=5)


def ago(hours: float, component: str = "other") -> Past:
    return Past(component, NOW - timedelta(hours=hours))


def test_with_moderation_everything_is_held_and_nothing_waits_for_a_day() -> None:
    found = allowance(Filing(), "Relu", [ago(1, "Relu")] * 9, 0, 0, NOW)
    assert found.held and found.until is None


def test_without_it_the_first_goes_out_at_once() -> None:
    found = allowance(FREE, "Relu", [], 0, 0, NOW)
    assert (found.held, found.until, found.why) == (False, None, "")


def test_the_day_is_full_until_the_oldest_is_a_day_old() -> None:
    found = allowance(FREE, "Relu", [ago(20), ago(3), ago(2)], 0, 0, NOW)
    assert found.until == NOW + timedelta(hours=4)
    assert found.why == "the limit is reached: 3 of 3 a day"


def test_what_is_a_day_old_does_not_count() -> None:
    assert allowance(FREE, "Relu", [ago(24), ago(3), ago(2)], 0, 0, NOW).until is None


def test_one_component_waits_while_others_go_on() -> None:
    past = [ago(6, "Relu")]
    assert allowance(FREE, "Relu", past, 0, 0, NOW).until == NOW + timedelta(hours=18)
    assert allowance(FREE, "Conv", past, 0, 0, NOW).until is None


def test_the_later_of_two_limits_counts() -> None:
    found = allowance(FREE, "Relu", [ago(23), ago(22), ago(1, "Relu")], 0, 0, NOW)
    assert found.until == NOW + timedelta(hours=23) and "for Relu" in found.why


def test_a_limit_of_none_lets_nothing_out() -> None:
    assert allowance(FREE.model_copy(update={"per_day": 0}), "Relu", [], 0, 0, NOW).until == NOW + timedelta(hours=24)


@pytest.mark.parametrize(
    ("refused", "closed", "held"),
    [(2, 4, False), (2, 5, True), (3, 10, False), (4, 10, True), (0, 5, False)],
)
def test_while_people_refuse_too_many_a_moderator_sees_every_one(refused: int, closed: int, held: bool) -> None:
    found = allowance(FREE, "Relu", [], refused, closed, NOW)
    assert found.held is held
    if held:
        assert found.why == f"people have refused {refused} of {closed} issues, more than the share 0.3"
