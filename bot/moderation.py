"""What a moderator says to what the bot wants to say: the same for the command line and the pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from bot.github.deliver import marked
from bot.life import saying, sent
from bot.settings import Project
from triage.ledger import Ledger
from triage.ledger.outbox import NotHeld
from triage.ledger.records import Issue, NewWork, Outgoing, OutKind, OutState

#: What waits may be as long as this.
_ALL = 10_000
_TEXTS = frozenset({OutKind.ISSUE, OutKind.COMMENT, OutKind.EDIT_COMMENT})

#: The projects of a repository, by its name.
Projects = Callable[[str], Sequence[Project]]


def approve(ledger: Ledger, outgoing_id: int, by: str, version: int | None = None) -> list[Outgoing]:
    """Let a thing go, with whatever must go out before it in the same issue; what was approved, in order.

    `version` is the one that was looked at, None for any. Raises Unknown, NotHeld.
    """
    one = ledger.outbox.get(outgoing_id)
    before = [other for other in _held(ledger) if other.stream == one.stream and other.id < one.id]
    # First the one that was looked at: whoever is too late for it lets nothing else go. It waits for those before it.
    ledger.outbox.approve(one.id, by, version)
    return [*(other for other in before if _let_go(ledger, other, by)), one]


def _held(ledger: Ledger) -> list[Outgoing]:
    return ledger.outbox.listed([OutState.HELD], limit=_ALL)


def _let_go(ledger: Ledger, one: Outgoing, by: str) -> bool:
    """False where another moderator was faster, which is as good."""
    try:
        ledger.outbox.approve(one.id, by)
    except NotHeld:
        return False
    return True


def reject(
    ledger: Ledger, projects: Projects, outgoing_id: int, by: str, reason: str, version: int | None = None
) -> Outgoing:
    """Do not say a thing, for good. A bug that a comment would have called known is put forward as an issue of its own.

    `version` is the one that was looked at, None for any. Raises Unknown, NotHeld.
    """
    one = ledger.outbox.get(outgoing_id)
    ledger.outbox.reject(one.id, by, reason, version, _instead(one, projects))
    return one


def _instead(one: Outgoing, projects: Projects) -> list[NewWork]:
    found = projects(one.repository)
    if not says_known(one) or one.bug_id is None or not found:
        return []
    return [saying.to_file(one.bug_id, found[0].name)]


def says_known(one: Outgoing) -> bool:
    """Whether it is a comment in somebody else's issue that calls a bug known there."""
    return one.key.startswith(sent.KNOWN)


def places(listed: Sequence[Outgoing], ledger: Ledger) -> dict[int, str]:
    """Where these would stand, by id: ``owner/name`` or ``owner/name#7``."""
    issues = ledger.issues.of_bugs({one.bug_id for one in listed if one.bug_id is not None})
    return {one.id: _place(one, issues.get(one.bug_id or 0)) for one in listed}


def _place(one: Outgoing, issue: Issue | None) -> str:
    number = one.number or (issue.number if issue and one.kind is not OutKind.FILE else None)
    return one.repository + (f"#{number}" if number else "")


def headline(one: Outgoing) -> str:
    """What it says, in a line."""
    told = one.payload
    why = f" ({one.note})" if one.state is OutState.HELD and one.note else ""
    if one.kind is OutKind.COMMENT and why:
        return f"{one.note}; {told['body']}"
    if one.kind is OutKind.STATE:
        return f"{'reopen' if told['open'] else 'close'} as {told.get('reason', '')}{why}"
    return str(told.get("title") or told.get("path") or told.get("body") or json.dumps(dict(told)))


def posted(one: Outgoing) -> str:
    """The request's content: a text as it will stand there, anything else as JSON."""
    if one.kind is OutKind.NOTICE:
        return str(one.payload["body"])
    if one.kind not in _TEXTS:
        return json.dumps(dict(one.payload), indent=2)
    head = ""
    if one.kind is OutKind.ISSUE:
        head = f"# {one.payload['title']}\n\nlabels: {', '.join(one.payload.get('labels', ())) or 'none'}\n\n"
    return head + marked(one)
