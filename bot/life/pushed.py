"""What had been pushed to the watched branch by now: whoever decides something now may have tried that."""

from __future__ import annotations

from bot.desk import Desk
from bot.settings import Project

#: Suites of all projects that are looked at, the newest ones.
_LOOKED_AT = 200


def newest(desk: Desk, project: Project) -> str:
    """The commit of the newest push that the bot has heard of, "" where it has heard of none."""
    suites = desk.ledger.work.listed(kind="suite", limit=_LOOKED_AT)
    return next((str(one.payload["commit"]) for one in suites if one.project == project.name), "")
