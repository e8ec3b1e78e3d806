"""An issue that was moved to another repository: followed where the bot watches that one for the same compiler."""

from __future__ import annotations

import re
from collections.abc import Callable

import structlog

from bot.github.client import Client
from bot.github.errors import Refused
from bot.life import owner
from bot.settings import Settings
from triage.ledger import Ledger
from triage.ledger.issues import Taken
from triage.ledger.records import Issue
from triage.ledger.renaming import move

log = structlog.get_logger()

_ADDRESS = re.compile(r"https?://[^/?#]+/(?P<repository>[^/?#]+/[^/?#]+)/issues/(?P<number>\d{1,9})")


def follow(issue: Issue, address: str, ledger: Ledger, settings: Settings, github: Callable[[str], Client]) -> str:
    """Let the bug's issue be the one at an address from now on; where that is (``owner/name#12``), "" if it is not.

    It is not where the bot does not watch that repository for the bug's compiler, cannot see the issue there, or has it
    as another bug's. Raises GitHubError, but for Refused; and Refusal for a compiler that cannot be read.
    """
    found = _ADDRESS.fullmatch(address)
    project = owner.project_of(settings, found["repository"], ledger.store.bug(issue.bug_id)) if found else None
    if found is None or project is None:
        return ""
    try:
        seen = github(project.repository).issue(int(found["number"]))
        move(ledger.store, issue, project.repository, seen.number)
    except (Refused, Taken) as problem:
        log.warning("issue_not_followed", bug=issue.bug_id, to=address, why=str(problem))
        return ""
    ledger.issues.update(issue.bug_id, open=seen.open)
    log.info("issue_followed", bug=issue.bug_id, number=issue.number, to=address)
    return f"{project.repository}#{seen.number}"
