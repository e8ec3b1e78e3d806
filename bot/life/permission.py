"""What the limits of a project say to one more issue, closing or reopening: counted in the ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from bot.life import human
from bot.life.limits import DAY, Allowance, Past, allowance
from bot.settings import Project
from triage.ledger import Ledger
from triage.ledger.records import Counted, Outgoing, OutKind
from triage.records import Bug

#: How the keys of what is limited begin, and what it is.
_KINDS = {"issue:": OutKind.ISSUE, "known:": OutKind.COMMENT, "close:": OutKind.STATE, "reopen:": OutKind.STATE}


def asked(ledger: Ledger, project: Project, bug: Bug, prefix: str) -> Allowance:
    """Whether one more of its like, whose keys begin with `prefix`, may be said now."""
    now, kind = datetime.now(UTC), _KINDS[prefix]
    recent = ledger.outbox.since(now - DAY, kind, project.repository)
    same = [one for one in recent if one.key.startswith(prefix)]
    past = [Past(_component(ledger, one), one.created) for one in same]
    closed = [one for one in ledger.issues.listed(project.repository) if one.ours and not one.open]
    refused = sum(human.refused(one.human) for one in closed)
    allowed = allowance(project.filing, component(bug), past, refused, len(closed), now)
    if allowed.held or allowed.until:
        return allowed
    ids = frozenset(one.id for one in same)
    return replace(allowed, counted=Counted(kind, project.repository, prefix, now - DAY, ids))


def component(bug: Bug) -> str:
    """What maintainers would call the part of the compiler: the conversion function, else the operators."""
    return bug.conversion_function or " + ".join(bug.operators)


def _component(ledger: Ledger, one: Outgoing) -> str:
    return "" if one.bug_id is None else component(ledger.store.bug(one.bug_id))
