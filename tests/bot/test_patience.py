"""Trouble that passes is waited for: briefly at first, longer when it stays, and not longer because of kills."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from bot import patience
from bot.kinds import Again, Failed
from triage.ledger.records import Work, WorkState
from triage.revisions.environments import Untestable

NOW = datetime(2026, 11, 22, tzinfo=UTC)
WORK = Work(1, "suite", "k", "tvm", {}, WorkState.RUNNING, 20, 1, "", NOW, NOW)


def pause(attempts: int, before: str) -> float:
    answer = patience.later(replace(WORK, attempts=attempts, note=before), "the index is away")
    assert isinstance(answer, Again) and answer.counted
    return answer.seconds


def test_new_trouble_is_waited_for_briefly_however_often_the_process_was_killed_before() -> None:
    assert pause(1, "") == pause(9, "making the builds") == patience.PAUSES[0]


def test_trouble_that_stays_is_given_more_time() -> None:
    assert [pause(at, "the index is away") for at in (2, 3, 9)] == [*patience.PAUSES[1:3], patience.PAUSES[-1]]


def test_trouble_that_is_told_with_other_seconds_each_time_is_the_same_trouble() -> None:
    work = replace(WORK, attempts=3, note="Request failed after 3 retries in 8.8s")
    answer = patience.later(work, "Request failed after 3 retries in 5.81s")
    assert isinstance(answer, Again) and answer.seconds == patience.PAUSES[2]


def test_in_the_end_it_is_given_up() -> None:
    assert isinstance(patience.later(replace(WORK, attempts=patience.MOST), "the index is away"), Failed)


def test_a_build_is_tried_again_where_the_machine_or_the_index_was_in_trouble_and_not_where_it_is_broken() -> None:
    assert patience.passes(Untestable("1.0", "the index is away", passing=True))
    assert not patience.passes(Untestable("1.0", "it computes garbage"))
    assert not patience.passes(Untestable("1.0", "there is no wheel", missing=True))
