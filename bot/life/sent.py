"""What follows once something has arrived at GitHub. May be done often: only the first changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

from bot.life import saying
from triage.ledger import Ledger
from triage.ledger.issues import Taken
from triage.ledger.records import Issue, Outgoing, OutKind
from triage.lifecycle import State
from triage.store import Conflict

log = structlog.get_logger()

#: How the key of a comment begins that says in somebody else's issue that the bug is known there.
KNOWN = "known:"


def after(one: Outgoing, result: Mapping[str, Any], ledger: Ledger) -> None:
    """Note what has arrived: a bug's issue is linked and the bug moves on. `result` is what GitHub gave."""
    follows = _FOLLOWS.get(one.kind)
    if follows is not None and one.bug_id is not None:
        follows(one, one.bug_id, result, ledger)


def _issue(one: Outgoing, bug_id: int, result: Mapping[str, Any], ledger: Ledger) -> None:
    if _link(Issue(bug_id, one.repository, int(result["number"]), ours=True), ledger):
        _move(ledger, bug_id, State.DRAFTED, State.REPORTED)


def _comment(one: Outgoing, bug_id: int, result: Mapping[str, Any], ledger: Ledger) -> None:
    """The issue is somebody else's: the bot remembers it, and never closes, reopens or edits it."""
    if not one.key.startswith(KNOWN) or one.number is None:
        return
    if _link(Issue(bug_id, one.repository, one.number, ours=False), ledger):
        _move(ledger, bug_id, State.DRAFTED, State.REPORTED)


def _state(one: Outgoing, bug_id: int, result: Mapping[str, Any], ledger: Ledger) -> None:
    if ledger.issues.of_bug(bug_id) is None:
        return
    is_open = bool(one.payload["open"])
    ledger.issues.update(bug_id, open=is_open, fixed_by=one.payload.get("fixed_by"))
    if not is_open:
        _move(ledger, bug_id, State.FIXED, State.CLOSED)
    for said in saying.status(ledger, bug_id, held=True):
        if ledger.outbox.by_key(said.key):  # what is there already is brought up to date
            ledger.outbox.add(said)


def _link(issue: Issue, ledger: Ledger) -> bool:
    try:
        ledger.issues.link(issue)
    except Taken as taken:
        log.warning("issue_not_linked", bug=issue.bug_id, number=issue.number, why=str(taken))
        return False
    return True


def _move(ledger: Ledger, bug_id: int, old: State, new: State) -> None:
    """A bug that is elsewhere by now stays there: a person or another process has moved it."""
    if ledger.store.bug(bug_id).state is not old:
        return
    try:
        ledger.store.advance(bug_id, old, new)
    except Conflict as conflict:
        log.info("bug_moved_meanwhile", bug=bug_id, why=str(conflict))


_FOLLOWS: Mapping[OutKind, Callable[[Outgoing, int, Mapping[str, Any], Ledger], None]] = {
    OutKind.ISSUE: _issue,
    OutKind.COMMENT: _comment,
    OutKind.STATE: _state,
}
