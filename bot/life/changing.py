"""Closing an issue and opening it again: the words, then the state, under the keys of one turn (`bot.life.turns`)."""

from __future__ import annotations

from collections.abc import Mapping

from bot.life import saying, turns
from bot.life.limits import Allowance
from bot.life.turns import Turn
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, OutState

#: Whether the issue is open afterwards -> how the keys of the words and of the change itself begin.
KEYS: Mapping[bool, tuple[str, str]] = {False: ("fixed", "close"), True: ("regressed", "reopen")}


def change(
    ledger: Ledger, issue: Issue, revision: str, text: str, allowed: Allowance, *, is_open: bool, fixed_by: str = ""
) -> tuple[tuple[NewOutgoing, ...], str]:
    """What is put forward, or nothing and why: it was rejected. `revision` is the build that is the reason for it.

    What GitHub refused is tried again; refused too often, a moderator sees it each time. Words that have arrived before
    the change was refused are not said twice.
    """
    words, verb = KEYS[is_open]
    turn = turns.turn(ledger.outbox, f"{verb}:bug:{issue.bug_id}:{revision}")
    if turn.there is not None:
        return (), f"that is {turn.there.state} in the outbox ({turn.there.note})"
    held = allowed.held or bool(turn.note)
    state = saying.state(turn.key, issue, is_open, fixed_by, held, turn.note)
    if _said(ledger, turn, words):
        return (state,), ""
    return (saying.comment(f"{words}:{turn.key.removeprefix(f'{verb}:')}", issue, text, held), state), ""


def _said(ledger: Ledger, turn: Turn, words: str) -> bool:
    """Whether the words of a turn that was refused have arrived."""
    keys = (f"{words}:{one.key.partition(':')[2]}" for one in turn.refused)
    return any((one := ledger.outbox.by_key(key)) is not None and one.state is OutState.SENT for key in keys)
