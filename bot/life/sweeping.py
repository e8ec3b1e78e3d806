"""The bugs that are worth another run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.desk import Desk
from bot.life import human
from bot.settings import Project
from fuzz import registry
from triage.lifecycle import State
from triage.records import Bug
from triage.revisions.config import Compiler

_KNOWN = (State.DRAFTED, State.REPORTED, State.FIXED, State.CLOSED, State.REGRESSED)


def known(desk: Desk, project: Project, compiler: Compiler) -> list[Bug]:
    """The project's bugs whose fix or return would be news, but for those that nobody wants to hear of."""
    mine = registry.backend(compiler.backend).source
    found = [bug for bug in desk.store.bugs(_KNOWN) if registry.backend(bug.backend).source == mine and bug.count]
    return [bug for bug in found if _wanted(desk, project, bug)]


def _wanted(desk: Desk, project: Project, bug: Bug) -> bool:
    issue = desk.ledger.issues.of_bug(bug.id)
    if issue is None:
        return True
    here = issue.repository.lower() == project.repository.lower()
    return here and not human.read(issue.human).forbids_writing()


def old(desk: Desk, project: Project, compiler: Compiler) -> list[Bug]:
    """Those with an open issue of which nothing has been heard for `old_days`."""
    since = datetime.now(UTC) - timedelta(days=project.old_days)
    waiting = (State.REPORTED, State.REGRESSED)
    return [bug for bug in known(desk, project, compiler) if bug.state in waiting and _utc(bug.updated) < since]


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
