"""A known bug is run again on a build: {project, bug, revision?, answer?}; without `revision` on the newest one.

What it shows is told to whoever asked, and in the status comment; closing and reopening are work of their own.
"""

from __future__ import annotations

import re

import structlog

from bot import fetching, keys
from bot.desk import Desk
from bot.failures import Refusal
from bot.kinds import Answer, Done
from bot.life import ancestry, branch, saying
from bot.life.running import Rerun
from bot.life.seen import Does, Seen
from bot.rendering import render
from bot.settings import Project
from triage.ledger.records import NewOutgoing, NewWork, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable

HEAVY = True
_HASH = re.compile(r"[0-9a-f]{40}")
_OPEN = frozenset({State.DRAFTED, State.REPORTED, State.REGRESSED})
_GONE = frozenset({State.FIXED, State.CLOSED})

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Answer:
    """Run it there, three times in fresh processes."""
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    compiler = desk.compiler(project)
    asked = str(work.payload.get("revision") or "")
    _fetch(project, compiler, asked)
    name = asked or newest(compiler)
    with desk.runner(project) as runner:
        seen = Rerun(runner, compiler, desk.store, bug, desk.say).on(name)
    bug = desk.store.bug(bug.id)
    desk.store.amend(bug.id, bug.state, note=bug.note)  # news of it, for `collect`
    landed = branch.newest(desk, project, compiler, seen.revision) == seen.revision
    older = branch.older(compiler, seen.revision, bug.revision)
    works, next_step = _next(work, bug, seen, landed and not older)
    if landed:
        _remember_fix(desk, compiler, bug, seen)
    body = render("retest", bug=bug.id, seen=seen, next=next_step)
    outgoing = (*saying.answer(work, project.repository, body), *_status(desk, project, bug, seen))
    return Done(f"bug {bug.id} on {seen.revision}: {seen.told}", works=works, outgoing=outgoing)


def _fetch(project: Project, compiler: Compiler, name: str) -> None:
    """Have the branch as it is now, and the commit that is asked for; without them, what is there has to do."""
    try:
        fetching.update(compiler, project.fetch, project.branch)
        if _HASH.fullmatch(name):
            fetching.fetch(compiler, project.fetch, [name])
    except GitError as problem:
        log.warning("not_fetched", project=project.name, why=str(problem))


def newest(compiler: Compiler) -> str:
    """The newest revision of a compiler. Raises Refusal."""
    try:
        known = listing.revisions(compiler)
    except (GitError, IndexUnreachable) as problem:
        raise Refusal(str(problem)) from problem
    if not known:
        raise Refusal(f"{compiler.name} has no revisions (its configuration: {compiler.source})")
    return known[-1].version


def _next(work: Work, bug: Bug, seen: Seen, counts: bool) -> tuple[tuple[NewWork, ...], str]:
    """The work that follows, and the words for it. `counts`: the build is what the branch is now, and no older one."""
    payload = {"project": work.project, "bug": bug.id, "commit": seen.revision}
    if seen.does is Does.PASSES and bug.state in _OPEN:
        kind, words = "close", "Whether that is a fix is looked at now"
    elif seen.does is Does.FAILS and bug.state in _GONE:
        kind, words = "reopen", "Whether it is back is looked at now"
    else:
        return (), ""
    if not counts:
        return (), "Nothing follows from that: it is not what the watched branch is now"
    return (NewWork(kind, keys.bug(bug.id), work.project, payload, work.priority),), words


def _remember_fix(desk: Desk, compiler: Compiler, bug: Bug, seen: Seen) -> None:
    """Of a closed issue, a build that passes is the first that is known to hold the fix.

    That is of one that a person closed, and where the fix that was known is off the branch: a forced push has put
    another commit in its place.
    """
    issue = desk.ledger.issues.of_bug(bug.id)
    if not issue or bug.state is not State.CLOSED or seen.does is not Does.PASSES:
        return
    if not issue.fixed_by or ancestry.contains(compiler, seen.revision, issue.fixed_by) is False:
        log.info("fix_noted", bug=bug.id, fixed_by=seen.revision, before=issue.fixed_by)
        desk.ledger.issues.update(bug.id, fixed_by=seen.revision)


def _status(desk: Desk, project: Project, bug: Bug, seen: Seen) -> tuple[NewOutgoing, ...]:
    return saying.status(desk.ledger, bug.id, project.filing.moderation, [seen])
