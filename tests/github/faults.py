"""What can go wrong between the bot and GitHub, at the HTTP level."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class How(StrEnum):
    """Whether and how an answer comes when the request did arrive, or did not."""

    ANSWER = "answer"  # an error, and nothing happens
    SILENCE = "silence"  # no answer, and nothing happens
    DROP = "drop"  # the connection is closed, and nothing happens
    AFTER = "after"  # it happens, and the answer is an error
    LATE = "late"  # it happens, and no answer comes in time
    LOST = "lost"  # it happens, and the connection is closed
    HALF = "half"  # it happens, and half of the answer comes
    GARBLED = "garbled"  # it happens, and half of the answer comes as if it were all


@dataclass(frozen=True)
class Fault:
    """One way to fail. `status`, `message`, `headers` and `more` of the body are those of ANSWER and AFTER."""

    how: How
    status: int = 500
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)


_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."

FAULTS = {
    "500": Fault(How.ANSWER, 500),
    "502": Fault(How.ANSWER, 502),
    "secondary limit": Fault(How.ANSWER, 403, _SECONDARY, {"Retry-After": "7"}),
    "secondary limit without a time": Fault(How.ANSWER, 403, _SECONDARY),
    "primary limit": Fault(How.ANSWER, 403, "API rate limit exceeded", {"X-RateLimit-Remaining": "0"}),
    "429": Fault(How.ANSWER, 429, "Too many requests", {"Retry-After": "7"}),
    "silence": Fault(How.SILENCE),
    "dropped": Fault(How.DROP),
    "500 after the effect": Fault(How.AFTER, 500),
    "502 after the effect": Fault(How.AFTER, 502),
    "late": Fault(How.LATE),
    "lost": Fault(How.LOST),
    "half": Fault(How.HALF),
    "garbled": Fault(How.GARBLED),
}
