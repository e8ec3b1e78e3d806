"""An issue that is not where it was: deleted, moved to another repository, or made a discussion, and nobody told us.

GitHub tells of a removal by a webhook, of some kinds by none, and deliveries may be lost. So where it refuses to change
an issue, the bot looks whether it is still there. One that was moved to a repository that it watches is followed; any
other one that is gone is left alone from then on, and a moderator is told once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from bot.failures import Refusal
from bot.github.client import Client
from bot.github.errors import GitHubError, Refused
from bot.github.shapes import IssueSeen
from bot.life import human, moving
from bot.settings import Settings
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, Outgoing, OutKind

log = structlog.get_logger()

#: Statuses that say that something is not there, or elsewhere.
_ELSEWHERE = frozenset({301, 404, 410})


@dataclass(frozen=True)
class Away:
    """What became of an issue that is not in its place; `address` is where it lies now, "" where nobody knows."""

    what: str
    address: str = ""


def after_refusal(
    one: Outgoing, refused: Refused, ledger: Ledger, github: Callable[[str], Client], settings: Settings | None
) -> bool:
    """Follow a bug's issue where it was moved (then True), or note that it is gone, if it is.

    Where GitHub cannot be asked now, the next refusal tells. Without `settings` nothing is followed.
    """
    issue = None if one.bug_id is None else ledger.issues.of_bug(one.bug_id)
    if issue is None or refused.status not in _ELSEWHERE:
        return False
    try:
        away = _where(github(one.repository), issue.number)
        if away is None or human.read(issue.human).gone:
            return False
        if settings is not None and moving.follow(issue, away.address, ledger, settings, github):
            return True
    except (GitHubError, Refusal) as problem:
        log.info("not_looked_for", bug=issue.bug_id, number=issue.number, why=str(problem))
        return False
    gone = replace(human.read(issue.human), gone=away.what, by="somebody")
    ledger.issues.update(issue.bug_id, human=gone.document(), open=False)
    tell(ledger, issue, away.what)
    return False


def tell(ledger: Ledger, issue: Issue, what: str) -> None:
    """Let whoever moderates know, once, that an issue is left alone from now on."""
    name = f"{issue.repository}#{issue.number}"
    log.warning("issue_is_gone", bug=issue.bug_id, issue=name, what=what)
    key = f"notice:gone:{issue.bug_id}:{name}"
    body = f"{name}, the issue of bug {issue.bug_id}, is left alone from now on: {what}."
    ledger.outbox.add(NewOutgoing(OutKind.NOTICE, key, issue.repository, {"body": body}, key, issue.number, held=True))


def _where(client: Client, number: int) -> Away | None:
    """What became of an issue, None where it is in its place, or where issues are switched off. Raises GitHubError."""
    if not client.has_issues():  # refused where the repository cannot be seen, or permissions were taken
        return None
    try:
        seen = client.issue(number)
    except Refused as refused:
        if refused.status not in _ELSEWHERE:
            raise
        return Away("it is not there any more")
    here = _here(client, seen)
    renamed = client.name().lower() != client.repository.lower()
    return None if here or renamed else Away(f"moved to {seen.url}", seen.url)


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
