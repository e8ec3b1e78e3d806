"""Ending a check run that nobody needs any more."""

from __future__ import annotations

from dataclasses import replace

from bot.checks import words
from bot.checks.run import completed
from triage.ledger import Ledger
from triage.ledger.records import Check, NewOutgoing


def cancelled(ledger: Ledger, check: Check, why: str, title: str = "Cancelled") -> NewOutgoing:
    """Put the end of a check run into the outbox, then mark its row; what was put there.

    In this order, so that a kill in between leaves a row that is looked at again. `why` is told, and may be foreign.
    """
    said = completed(check, "cancelled", words.note(title, why))
    ledger.outbox.add(said)
    ledger.checks.put(replace(check, state="cancelled", conclusion="cancelled"))
    return said


def moved(newest: str) -> str:
    """Why a head is not checked: the pull request is at this one."""
    return f"The pull request is at {newest} now."
