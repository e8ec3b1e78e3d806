"""An issue that is not where it was: deleted, moved to another repository, or made a discussion, and nobody told us.

GitHub tells of a removal by a webhook, of some kinds by none, and deliveries may be lost. So where it refuses to change
an issue, the bot looks whether it is still there, and leaves it alone from then on where it is not.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from bot.github.client import Client
from bot.github.errors import GitHubError, Refused
from bot.github.shapes import IssueSeen
from bot.life import human
from triage.ledger import Ledger
from triage.ledger.records import Issue, Outgoing

log = structlog.get_logger()

#: Statuses that say that something is not there, or elsewhere.
_ELSEWHERE = frozenset({301, 404, 410})


def after_refusal(one: Outgoing, refused: Refused, ledger: Ledger, client: Client) -> None:
    """Note that a bug's issue is gone, if it is. Where GitHub cannot be asked now, the next refusal tells."""
    issue = None if one.bug_id is None else ledger.issues.of_bug(one.bug_id)
    if issue is None or refused.status not in _ELSEWHERE:
        return
    try:
        where = _where(client, issue.number)
    except GitHubError as problem:
        log.info("not_looked_for", bug=issue.bug_id, number=issue.number, why=str(problem))
        return
    said = human.read(issue.human)
    if where is None or said.gone:
        return
    gone = replace(said, gone=where, by="somebody")
    ledger.issues.update(issue.bug_id, human=gone.document(), open=False)
    log.warning("issue_is_gone", bug=issue.bug_id, number=issue.number, where=where)


def _where(client: Client, number: int) -> str | None:
    """What became of an issue, None where it is in its place, or where issues are switched off. Raises GitHubError."""
    if not client.has_issues():  # refused where the repository cannot be seen, or permissions were taken
        return None
    try:
        seen = client.issue(number)
    except Refused as refused:
        if refused.status not in _ELSEWHERE:
            raise
        return "it is not there any more"
    here = _here(client, seen)
    return None if here or client.name().lower() != client.repository.lower() else f"moved to {seen.url}"


def _here(client: Client, seen: IssueSeen) -> bool:
    return f"/{client.repository}/".lower() in seen.url.lower()


def found_again(issue: Issue, ledger: Ledger, client: Client) -> Issue:
    """The issue as the ledger has it; once people act in it and it is in its place, it counts as gone no longer.

    Raises GitHubError, but for Refused.
    """
    said = human.read(issue.human)
    if not said.gone:
        return issue
    try:
        seen = client.issue(issue.number)
    except Refused:
        return issue
    if not _here(client, seen):
        return issue
    ledger.issues.update(issue.bug_id, human=replace(said, gone="").document(), open=seen.open)
    log.info("issue_is_there_again", bug=issue.bug_id, number=issue.number)
    return ledger.issues.of_bug(issue.bug_id) or issue
