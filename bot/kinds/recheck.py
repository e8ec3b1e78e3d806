"""A person wants a check again: its gate is queued once more, as it was.

Payload: {commit, external_id, by}; without `external_id` all checks of the commit. GitHub does not say which pull
request of a fork a check belongs to; the ledger does.
"""

from __future__ import annotations

from bot import keys
from bot.checks.run import CheckRun
from bot.desk import Desk
from bot.kinds import Answer, Done
from bot.settings import Project
from triage.ledger.records import Check, NewWork, Work

HEAVY = False
_PRIORITY = 10


def run(work: Work, desk: Desk) -> Answer:
    """Queue the gates of the checks that are the bot's and this project's."""
    project = desk.project(work)
    wanted = work.payload["external_id"]
    found = [
        check
        for check in desk.ledger.checks.of_head(project.repository, work.payload["commit"])
        if check.project == project.name and wanted in ("", check.external_id)
    ]
    if not found:
        return Done("no check of ours")
    for check in found:
        CheckRun(desk.ledger, project, check.head_sha, check.pull, check.base).queues()
    return Done(f"again, for {work.payload['by'] or 'somebody'}", tuple(gate(desk, project, each) for each in found))


def gate(desk: Desk, project: Project, check: Check) -> NewWork:
    """The gate of a check, once more; "again" lets no earlier result stand for it."""
    key = keys.gate(project.name, check.pull, check.head_sha)
    earlier = desk.ledger.work.listed(kind="gate", key=key)
    payload = next((one.payload for one in earlier if one.payload.get("commit") == check.head_sha), None)
    if payload is None:
        # Forgotten since. What is not known to be from here is from a fork.
        payload = {"commit": check.head_sha, "base": check.base, "base_ref": project.branch, "pull": check.pull}
        payload |= {"fork": check.pull is not None, "at": ""}
    return NewWork("gate", key, project.name, {**payload, "again": True}, _PRIORITY)
