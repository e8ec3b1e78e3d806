"""The newest build on which a bug was last judged to be fixed: whoever reopens its issue contradicts that judgement.

A fix may be named in many ways: a merge, a commit inside it, a later build. The build that was judged holds them all.
"""

from __future__ import annotations

from triage.ledger import Ledger
from triage.records import Bug


def note(ledger: Ledger, bug: Bug, revision: str) -> None:
    """The bug passes on this build, and counts as fixed. Noted before what people decided is looked at."""
    ledger.facts.judge(bug.id, revision)


def last(ledger: Ledger, bug: Bug) -> str:
    """The build, "" where the bug was never judged to be fixed."""
    return ledger.facts.judged(bug.id)
