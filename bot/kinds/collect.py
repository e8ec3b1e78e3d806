"""Regular upkeep, for all projects: old bugs are run again, work on bugs that was lost is begun again, what nobody
needs any more is removed. {}
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import structlog

from bot import keys
from bot.desk import Desk
from bot.failures import Refusal
from bot.kinds import Answer, Done
from bot.life import sweeping, unsaid
from fuzz.runner import Runner
from triage.ledger.records import OPEN, NewOutgoing, NewWork, Work
from triage.revisions.environments import Environments

HEAVY = True
#: Deliveries that have become work are kept for so long: GitHub delivers again what is three days old at most.
_DELIVERIES = timedelta(days=30)

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Answer:
    """Queue the retests and what was lost, then clean up."""
    retests: dict[str, NewWork] = {}
    again: list[NewWork] = []
    outgoing: list[NewOutgoing] = []
    for project in desk.settings.projects.values():
        try:
            compiler = desk.compiler(project)
            found = sweeping.old(desk, project, compiler)
            again.extend([*sweeping.forgotten(desk, project, compiler), *unsaid.works(desk, project, compiler)])
            outgoing.extend(unsaid.commands(desk, project))
            for check in unsaid.checks(desk, project):
                desk.ledger.outbox.add(check)  # at once: at the end of this work another run may have begun
        except Refusal as problem:  # one broken configuration must not keep the others from their turn
            log.warning("project_left_out", project=project.name, why=str(problem))
            continue
        for bug in found:
            key = keys.bug(bug.id)
            payload = {"project": project.name, "bug": bug.id}
            if not desk.ledger.work.listed(OPEN, "retest", key):
                retests.setdefault(key, NewWork("retest", key, project.name, payload, work.priority))
    forgotten = desk.ledger.deliveries.forget(datetime.now(UTC) - _DELIVERIES)
    with Runner(jobs=1) as runner:
        removed = Environments(runner).collect()
    todo = f"{len(retests)} old bugs to run again, {len(again) + len(outgoing)} to go on with"
    note = f"{todo}; {forgotten} deliveries and {len(removed)} environments removed"
    return Done(note, works=(*retests.values(), *again), outgoing=tuple(outgoing))
