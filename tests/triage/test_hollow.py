"""Messages that say nothing, and those that do."""

from __future__ import annotations

import pytest

from triage.hollow import hollow, late


@pytest.mark.parametrize(
    "message",
    [
        "process died with signal N",
        'Thread N "pool-worker" received signal SIGSEGV, Segmentation fault.',
        "worker N killed after N s (stage: compile)",
        "Fatal Python error: Floating point exception <no Python frame>",
        "iree-compile crashed (exit code N)",
        "timeout after N s in compile",
        "Aborted (core dumped)",
        "wrong results",
    ],
)
def test_the_words_for_dying_and_for_taking_too_long_say_nothing(message: str) -> None:
    assert hollow(message)


@pytest.mark.parametrize(
    "message",
    [
        "rank must be N",
        "'axis'",
        "Check failed: a == b",
        "index N is out of bounds for axis N",
        "killed by the rank check of the reshape pass",
        "timeout after N s while folding a constant",
    ],
)
def test_whatever_names_anything_else_says_something(message: str) -> None:
    assert not hollow(message)


def test_a_program_that_does_not_end_is_told_by_many_words() -> None:
    assert all(map(late, ("timed out", "hang: no progress for N s", "did not finish", "Time limit exceeded")))
    assert not late("the runtime is unchanged")
