"""The key of what may have to be said more than once: an issue is closed by a fix, reopened, closed by the same fix.

A key is used up for ever (`NewOutgoing.key`). What was said under it before, taken back, or refused by GitHub, belongs
to an earlier turn; the next one gets a number. Computed from the outbox alone, so work that is done again after a kill
gets the same key.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from triage.ledger.outbox import Outbox
from triage.ledger.records import Outgoing, OutState

#: How something of an earlier turn has ended. What a moderator rejected is not tried again.
_BEFORE = frozenset({OutState.SENT, OutState.WITHDRAWN, OutState.FAILED})
#: So often GitHub may refuse something before a moderator is asked, each time.
MOST_REFUSED = 3


@dataclass(frozen=True)
class Turn:
    """The `key` under which something is said now: ``KEY``, ``KEY:2`` and so on.

    `there` is what lies in the outbox under that, if anything; `refused` are the last turns in a row that GitHub
    refused.
    """

    key: str
    there: Outgoing | None
    refused: tuple[Outgoing, ...] = ()

    @property
    def note(self) -> str:
        """For a moderator: that GitHub has refused it too often, "" where it has not."""
        if len(self.refused) < MOST_REFUSED:
            return ""
        return f"GitHub has refused it {len(self.refused)} times: {self.refused[-1].note}"


def turn(outbox: Outbox, key: str, before: Collection[OutState] = _BEFORE) -> Turn:
    """The turn that something has now.

    For what is not on its way: the caller has looked whether it is (`bot.life.saying.pending`).
    """
    name, number = key, 1
    refused: list[Outgoing] = []
    while (one := outbox.by_key(name)) is not None and one.state in before:
        refused = [*refused, one] if one.state is OutState.FAILED else []
        number += 1
        name = f"{key}:{number}"
    return Turn(name, one, tuple(refused))
