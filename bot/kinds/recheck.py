"""A person wants a check again: its gate is queued once more, as it was.

Payload: {commit, external_id, by, at}; without `external_id` all checks of the commit. GitHub does not say which pull
request of a fork a check belongs to; the ledger does. A head that the pull request has left is not checked again.
"""

from __future__ import annotations

from bot.checks.ending import cancelled, moved
from bot.checks.run import CheckRun, external_id
from bot.checks.sharing import gate
from bot.desk import Desk
from bot.kinds import Answer, Done
from triage.ledger.records import Check, Work

__all__ = ["HEAVY", "gate", "newer", "run"]
HEAVY = False


def run(work: Work, desk: Desk) -> Answer:
    """Queue the gates of the checks that are the bot's and this project's."""
    project = desk.project(work)
    if work.payload.get("at") and desk.ledger.work.done_before(work):
        return Done("done before: it was delivered twice")
    wanted, commit = work.payload["external_id"], work.payload["commit"]
    ours = external_id(project.repository, project.name, commit)
    found = [
        check
        for check in desk.ledger.checks.of_head(project.repository, commit)
        if check.project == project.name and wanted in ("", ours)
    ]
    if not found:
        return Done("no check of ours")
    wanted_by = [check for check in found if newer(desk, check) is None]
    if not wanted_by:
        newest = newer(desk, found[-1])
        assert newest is not None
        cancelled(desk.ledger, found[-1], moved(newest.head_sha), "Superseded")  # GitHub shows it as queued
        return Done(f"superseded: the pull request is at {newest.head_sha} now")
    check = wanted_by[-1]  # what is asked about a head is the same for all pull requests that are at it
    CheckRun(desk.ledger, project, check.head_sha, check.pull, check.base).queues()
    return Done(f"again, for {work.payload['by'] or 'somebody'}", (gate(project, check),))


def newer(desk: Desk, check: Check) -> Check | None:
    """The check of the head that the pull request is at, None where it is this one or nothing is known of it."""
    newest = desk.ledger.checks.newest(check.repository, check.project, check.pull)
    return None if newest is None or newest.head_sha == check.head_sha else newest
