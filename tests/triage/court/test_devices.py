"""Who is asked beside a device, and what is said when there is no time to ask."""

from __future__ import annotations

from typing import Any

from fuzz.case import Outcome, Revision, Stage, Status, Target
from triage.court.kinds import devices


class Hurried:
    """A hearing whose time is over after so many questions about it, and whose compilers take no case."""

    case, manner, actual, expected = None, "wrong", (), ()

    target = Target("inductor", Revision("2.0"), (("device", "cuda"),))

    def __init__(self, most: int = 1) -> None:
        self.asked, self.most = 0, most

    def hurried(self) -> bool:
        self.asked += 1
        return self.asked > self.most

    @property
    def runner(self) -> Hurried:
        return self

    def limits(self) -> None:
        return None

    def run_fresh(self, *given: Any, **named: Any) -> Outcome:
        return Outcome(Status.SKIPPED, Stage.LOAD)


def test_who_was_not_asked_says_nothing() -> None:
    hearing: Any = Hurried()
    assert devices.gather(hearing) is None


def test_who_could_not_run_the_case_does_not_contradict() -> None:
    hearing: Any = Hurried(most=9)
    assert devices.gather(hearing) is None
