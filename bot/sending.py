"""Sends what the outbox holds, one thing after the other, and does what follows from its arrival (issue 6)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import structlog

from bot.github.client import Client
from bot.github.errors import GitHubError, Later, Refused, Unsure
from bot.github.sender import send
from bot.life import sent
from triage.ledger import Ledger
from triage.ledger.records import Outgoing, OutKind

log = structlog.get_logger()

#: Seconds between two looks into an empty outbox.
IDLE = 0.2
#: Seconds before something is looked for, and sent again if it is not there: by attempts.
_BACKOFF = (2.0, 10.0, 30.0, 120.0, 600.0)
_NEEDS_NUMBER = frozenset({OutKind.COMMENT, OutKind.EDIT_COMMENT, OutKind.STATE, OutKind.LABELS})


def send_all(ledger: Ledger, github: Callable[[str], Client], stop: threading.Event) -> None:
    """Send things as they become ready, until `stop` is set."""
    while not stop.is_set():
        one = ledger.outbox.next()
        if one is None:
            stop.wait(IDLE)
        else:
            send_one(one, ledger, github)


def send_one(one: Outgoing, ledger: Ledger, github: Callable[[str], Client]) -> None:
    """Send one thing that is marked as being sent."""
    told = log.bind(outgoing=one.id, kind=one.kind.value, key=one.key, repository=one.repository)
    try:
        whole = _addressed(one, ledger)
        result = send(whole, github(one.repository))
        # Before it counts as sent: what follows is done again if we die in between, and changes nothing then.
        sent.after(whole, result, ledger)
    except Refused as problem:
        ledger.outbox.refused(one, str(problem))
        told.error("refused", why=str(problem))
    except Later as problem:
        ledger.outbox.later(one, problem.seconds, str(problem))
        told.warning("put_off", seconds=problem.seconds, why=str(problem))
    except (Unsure, GitHubError) as problem:
        seconds = _BACKOFF[min(one.attempts, len(_BACKOFF) - 1)]
        ledger.outbox.later(one, seconds, str(problem))
        told.warning("not_sure_to_have_arrived", seconds=seconds, why=str(problem))
    else:
        ledger.outbox.sent(one, result)
        told.info("sent", number=result.get("number", whole.number))


def _addressed(one: Outgoing, ledger: Ledger) -> Outgoing:
    """With the number of the bug's issue where it is for that. Raises Refused where there is none."""
    if one.number is not None or one.bug_id is None or one.kind not in _NEEDS_NUMBER:
        return one
    issue = ledger.issues.of_bug(one.bug_id)
    if issue is None:
        raise Refused(f"bug {one.bug_id} has no issue")
    return replace(one, repository=issue.repository, number=issue.number)
