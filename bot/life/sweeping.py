"""The bugs that are worth another run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot import keys
from bot.desk import Desk
from bot.life import filed, human, saying
from bot.settings import Project
from fuzz import registry
from triage.ledger.records import OPEN, NewWork, OutState, WorkState
from triage.lifecycle import State
from triage.pipeline import STEPS
from triage.records import Bug
from triage.revisions.config import Compiler

#: How often triage of one bug is begun, and filing.
_TRIES = 6
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


def forgotten(desk: Desk, project: Project, compiler: Compiler) -> list[NewWork]:
    """Work on bugs that the bot had begun with, and that nothing works on any more: its work has failed for good.

    Each kind is tried so often at most, with a day between.
    """
    mine = registry.backend(compiler.backend).source
    states = [*(state for state in STEPS if state is not State.DUPLICATE), State.DRAFTED]
    found = [bug for bug in desk.store.bugs(states) if registry.backend(bug.backend).source == mine and bug.count]
    return [work for bug in found if (work := _again(desk, project, bug)) is not None]


def _again(desk: Desk, project: Project, bug: Bug) -> NewWork | None:
    works = [one for one in desk.ledger.work.listed(key=keys.bug(bug.id)) if one.project == project.name]
    triage, file = ([one for one in works if one.kind == kind] for kind in ("triage", "file"))
    if not triage or any(one.state in OPEN for one in works):  # a hunt's bugs are the hunt's until it asks for them
        return None
    if bug.state is not State.DRAFTED:
        payload = {name: value for name, value in triage[0].payload.items() if name != "answer"}
        return NewWork("triage", keys.bug(bug.id), project.name, payload) if len(triage) < _TRIES else None
    lost = not file or file[0].state is WorkState.FAILED or filed.key(desk.ledger.outbox, bug)[1] == OutState.FAILED
    free = desk.ledger.issues.of_bug(bug.id) is None and len(file) < _TRIES
    return saying.to_file(bug.id, project.name) if lost and free else None


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
