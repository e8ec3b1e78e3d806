"""A new release, or a look for one: every known bug is run on it. {project, version}; "" looks for the newest.

A release that is not to be had yet is looked for again for a day: a package may come hours after its announcement.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot import keys
from bot.desk import Desk
from bot.kinds import Answer, Done
from bot.kinds.retest import newest
from bot.life import sweeping
from triage.ledger.records import OPEN, NewWork, Work
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable

HEAVY = False
#: Between two looks for an announced release, and how many there are.
_AGAIN, _LOOKS = timedelta(hours=1), 24
#: Providers whose revisions are commits: pushes tell of those, one by one.
_COMMITS = frozenset({"overlay", "command"})


def run(work: Work, desk: Desk) -> Answer:
    """Queue a retest of each bug that an issue or a fix is known of."""
    project, told = desk.project(work), str(work.payload.get("version") or "")
    compiler = desk.compiler(project)
    if compiler.provider in _COMMITS:
        return Done("its revisions are commits: pushes tell of them")
    version = _found(compiler, told) if told else newest(compiler)
    if not version:
        return _later(work, told)
    switch = f"release:{project.name}"
    if desk.ledger.switches.get(switch) == version:
        return Done(f"{version} has been looked at")
    retests = _retests(work, desk, compiler, version)
    for one in retests:  # before the switch: killed in between, they are queued again
        desk.ledger.work.add(one)
    desk.ledger.switches.set(switch, version, by="graphwarden")
    return Done(f"{version}: {len(retests)} known bugs are run on it")


def _found(compiler: Compiler, told: str) -> str:
    """The release's name among the compiler's revisions, "" while it is not there. Tags often begin with a v."""
    for name in dict.fromkeys((told, told.removeprefix("v"))):
        try:
            return listing.find(compiler, name).version
        except (listing.UnknownRevision, GitError, IndexUnreachable):
            continue
    return ""


def _later(work: Work, told: str) -> Answer:
    looks = int(work.payload.get("looks") or 0) + 1
    if looks >= _LOOKS:
        return Done(f"{told[:80]} did not come")
    payload = {**work.payload, "looks": looks}
    later = NewWork(work.kind, work.key, work.project, payload, work.priority, datetime.now(UTC) + _AGAIN)
    return Done(f"{told[:80]} is not there yet", works=(later,))


def _retests(work: Work, desk: Desk, compiler: Compiler, version: str) -> list[NewWork]:
    payload = {"project": work.project, "revision": version}
    return [
        NewWork("retest", keys.bug(bug.id), work.project, {**payload, "bug": bug.id}, work.priority)
        for bug in sweeping.known(desk, desk.project(work), compiler)
        if bug.revision != version and not desk.ledger.work.listed(OPEN, "retest", keys.bug(bug.id))
    ]
