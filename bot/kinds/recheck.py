"""A person wants a check again: its gate is queued once more, as it was.

Payload: {commit, external_id, by}; without `external_id` all checks of the commit. GitHub does not say which pull
request of a fork a check belongs to; the ledger does. A head that the pull request has left is not checked again.
"""

from __future__ import annotations

from bot import keys
from bot.checks.ending import superseded
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
    check = found[0]  # a head has one of each project
    newest = newer(desk, check)
    if newest is not None:
        superseded(desk.ledger, check, newest.head_sha)  # said again: GitHub shows it as queued
        return Done(f"superseded: the pull request is at {newest.head_sha} now")
    CheckRun(desk.ledger, project, check.head_sha, check.pull, check.base).queues()
    return Done(f"again, for {work.payload['by'] or 'somebody'}", (gate(project, check),))


def newer(desk: Desk, check: Check) -> Check | None:
    """The check of the head that the pull request is at, None where it is this one or nothing is known of it."""
    newest = desk.ledger.checks.newest(check.repository, check.project, check.pull)
    return None if newest is None or newest.head_sha == check.head_sha else newest


def gate(project: Project, check: Check) -> NewWork:
    """The gate of a check, once more; "again" lets no earlier result stand for it."""
    payload = {"commit": check.head_sha, "base": check.base, "base_ref": project.branch, "pull": check.pull}
    key = keys.gate(project.name, check.pull, check.head_sha)
    return NewWork("gate", key, project.name, {**payload, "fork": check.fork, "again": True}, _PRIORITY)
