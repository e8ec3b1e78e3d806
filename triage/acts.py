"""What people did, by the command line or on the pages: kept for good, in the transaction of the deed itself. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Deed(StrEnum):
    """What can be done."""

    MERGE = "merge"
    SPLIT = "split"
    MUTE = "mute"
    APPROVE = "approve"  # something may be said at GitHub
    REJECT = "reject"
    PAUSE = "pause"  # a campaign
    RESUME = "resume"
    CANCEL = "cancel"


@dataclass(frozen=True)
class NewAct:
    """Who did what to which bug or campaign; `text` tells it in words that follow the name: ``muted it: known``."""

    by: str
    deed: Deed
    text: str
    bug_id: int | None = None
    campaign_id: int | None = None


@dataclass(frozen=True)
class Act:
    """The same as stored; `at` is UTC."""

    at: datetime
    by: str
    deed: Deed
    text: str
    bug_id: int | None
    campaign_id: int | None
