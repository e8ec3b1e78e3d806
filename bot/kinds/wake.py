"""A build of a commit may be ready: what waits for it looks again now. Payload: {commit}."""

from __future__ import annotations

from bot import keys
from bot.desk import Desk
from bot.kinds import Answer, Done
from triage.ledger.records import Work, WorkState

HEAVY = False
_WAITING = ("gate", "suite")


def run(work: Work, desk: Desk) -> Answer:
    """Let queued gates and suites of the commit begin."""
    project, commit = desk.project(work), work.payload["commit"]
    waiting = {
        (one.kind, one.key)
        for kind in _WAITING
        for one in desk.ledger.work.listed([WorkState.QUEUED], kind)
        if one.project == project.name and one.payload.get("commit") == commit
    }
    pulls = {check.pull for check in desk.ledger.checks.of_head(project.repository, commit)}
    waiting |= {("gate", keys.gate(project.name, pull, commit)) for pull in pulls}
    woken = sum(desk.ledger.work.wake(kind, key) for kind, key in sorted(waiting))
    return Done(f"{woken} woken")
