"""An issue that is not where it was: deleted, moved to another repository, or made a discussion, and nobody told us.

GitHub tells of a removal by a webhook, of some kinds by none, and deliveries may be lost. So where it refuses to change
an issue, the bot looks whether it is still there, and leaves it alone from then on where it is not.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from bot.github.client import Client
from bot.github.errors import GitHubError, Refused
from bot.life import human
from triage.ledger import Ledger
from triage.ledger.records import Outgoing

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
    """What became of an issue, None where it is in its place or nothing of the repository can be seen."""
    client.default_branch()  # a repository that cannot be seen, or whose permissions were taken, proves nothing
    try:
        seen = client.issue(number)
    except Refused as refused:
        if refused.status not in _ELSEWHERE:
            raise
        return "it is not there any more"
    here = f"/{client.repository}/".lower() in seen.url.lower()
    return None if here or client.name().lower() != client.repository.lower() else f"moved to {seen.url}"
