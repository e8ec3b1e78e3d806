"""Who is asked beside a device, and what is said when there is no time to ask."""

from __future__ import annotations

from typing import Any

from fuzz.case import Revision, Target
from triage.court.kinds import devices


class Hurried:
    """A hearing whose time is over after the first question about it."""

    target = Target("inductor", Revision("2.0"), (("device", "cuda"),))

    def __init__(self) -> None:
        self.asked = 0

    def hurried(self) -> bool:
        self.asked += 1
        return self.asked > 1


def test_who_was_not_asked_says_nothing() -> None:
    hearing: Any = Hurried()
    assert devices.gather(hearing) is None
