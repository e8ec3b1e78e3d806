"""What follows from something that GitHub will never take as it was sent."""

from __future__ import annotations

from collections.abc import Callable

from bot.github.client import Client
from bot.github.errors import Refused
from bot.life import gone
from bot.settings import Settings
from triage.ledger import Ledger
from triage.ledger.records import NewOutgoing, Outgoing, OutKind

#: How the keys begin of what somebody waits for who has asked.
_ANSWERS = ("answer:", "help:")


def after(
    one: Outgoing, refused: Refused, ledger: Ledger, github: Callable[[str], Client], settings: Settings | None
) -> bool:
    """Whether it is to be sent again at once, since its issue was moved. May be done again."""
    if one.kind is OutKind.COMMENT and one.key.startswith(_ANSWERS):
        _ask_a_moderator(one, refused, ledger)
    return gone.after_refusal(one, refused, ledger, github, settings)


def _ask_a_moderator(one: Outgoing, refused: Refused, ledger: Ledger) -> None:
    """An answer waits in the queue, to be tried again once a moderator has seen to what GitHub complains of.

    In a stream of its own: the answers to other commands do not wait for it.
    """
    key = f"{one.key}:again"
    again = (one.kind, key, one.repository, one.payload, key, one.number)
    ledger.outbox.add(NewOutgoing(*again, held=True, note=f"GitHub has refused it: {refused}"))
