"""The key of what may have to be said more than once: an issue is closed by a fix, reopened, closed by the same fix.

A key is used up for ever (`NewOutgoing.key`). What was said under it before, or taken back, belongs to an earlier turn;
the next one gets a number. Computed from the outbox alone, so work that is done again after a kill gets the same key.
"""

from __future__ import annotations

from collections.abc import Collection

from triage.ledger.outbox import Outbox
from triage.ledger.records import Outgoing, OutState

#: How something of an earlier turn has ended. What a moderator rejected or GitHub refused is not tried again.
_BEFORE = frozenset({OutState.SENT, OutState.WITHDRAWN})


def turn(outbox: Outbox, key: str, before: Collection[OutState] = _BEFORE) -> tuple[str, Outgoing | None]:
    """The key under which it is said now, ``KEY``, ``KEY:2`` and so on; and what lies in the outbox under that, if any.

    For what is not on its way: the caller has looked whether it is (`bot.life.saying.pending`).
    """
    name, number = key, 1
    while (one := outbox.by_key(name)) is not None and one.state in before:
        number += 1
        name = f"{key}:{number}"
    return name, one
