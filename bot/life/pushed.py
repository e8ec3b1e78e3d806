"""What had been pushed to the watched branch by now: whoever decides something now may have tried that."""

from __future__ import annotations

import structlog

from bot import fetching
from bot.desk import Desk
from bot.failures import Refusal
from bot.settings import Project
from triage.revisions import listing
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable

#: Suites of all projects that are looked at, the newest ones.
_LOOKED_AT = 200

log = structlog.get_logger()


def newest(desk: Desk, project: Project) -> str:
    """The commit of the newest push that the bot has heard of; of none, the newest build there is. "" if none is known.

    A project that runs no suite does not follow pushes, and before the first one after its installation the bot has
    heard of none: then the branch itself is looked at, or the list of releases.
    """
    suites = desk.ledger.work.listed(kind="suite", limit=_LOOKED_AT) if project.suite else ()
    heard = next((str(one.payload["commit"]) for one in suites if one.project == project.name), "")
    return heard or _there(desk, project)


def _there(desk: Desk, project: Project) -> str:
    try:
        compiler = desk.compiler(project)
        fetching.update(compiler, project.fetch, project.branch)
        known = listing.revisions(compiler)
    except (GitError, IndexUnreachable, Refusal) as problem:
        log.warning("newest_unknown", project=project.name, why=str(problem))
        return ""
    return known[-1].version if known else ""
