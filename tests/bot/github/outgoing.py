"""Filling an outbox and emptying it without waiting: shared by the tests of the sender."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlmodel import update

from bot.github.auth import Access
from bot.github.client import Client
from bot.github.pace import Pace
from bot.github.sender import Sender
from tests.github.support import World
from triage.ledger import Ledger
from triage.ledger.records import NewOutgoing, Outgoing, OutKind, OutState
from triage.ledger.rows import OutgoingRow
from triage.rows import BugRow
from triage.store import open_store

HEAD = "a" * 40


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Post:
    """An outbox with its sender, whose waiting times pass at once."""

    def __init__(self, world: World, ledger: Ledger) -> None:
        self.world = world
        self.ledger = ledger
        self.clock = Clock()
        self.pace = Pace(self.clock)
        self.access = Access(world.settings())
        self.sender = self.sender_with(self.access.client)

    def sender_with(self, client: Callable[[str], Client]) -> Sender:
        """Another sender, as after a restart."""
        return Sender(self.ledger, client, self.pace, settled=0)

    def put(
        self, kind: OutKind, key: str, payload: dict[str, Any], number: int | None = None, bug_id: int | None = None
    ) -> int:
        """Put something in; its id."""
        new = NewOutgoing(kind, key, self.world.repository, payload, stream=key, number=number, bug_id=bug_id)
        return self.ledger.outbox.add(new)

    def empty(self) -> int:
        """Send until nothing is left to send; the number of steps."""
        for steps in range(200):
            wait = self.sender.step()
            if wait is None:
                if not self.ledger.outbox.listed([OutState.READY, OutState.SENDING]):
                    return steps
                hurry(self.ledger)
            else:
                self.clock.now += wait
            # A sender waits until what it asked for has taken place or never will: here that is known.
            while not self.world.proxy.idle():
                time.sleep(0.01)
        raise AssertionError(f"never empty: {self.ledger.outbox.listed([OutState.READY, OutState.SENDING])}")

    def deliver(
        self, kind: OutKind, key: str, payload: dict[str, Any], number: int | None = None, bug_id: int | None = None
    ) -> Outgoing:
        """Put it in, send everything, and what became of it."""
        outgoing_id = self.put(kind, key, payload, number, bug_id)
        self.empty()
        return self.ledger.outbox.get(outgoing_id)


def hurry(ledger: Ledger) -> None:
    """Whatever was to be tried later is to be tried now."""
    with ledger.store.writing() as session:
        session.exec(update(OutgoingRow).values(not_before=None))


@contextmanager
def ledger_in(folder: Path) -> Iterator[Ledger]:
    """A ledger in a new database."""
    with open_store(folder / "graphwarden.db", create=True) as store:
        yield Ledger(store)


def bugs(ledger: Ledger, count: int) -> list[int]:
    """The ids of `count` bugs, which are nothing but that."""
    told: dict[str, Any] = dict.fromkeys(
        ("backend", "revision", "symptom", "conversion_function", "message", "why"), ""
    )
    moment = datetime.now(UTC)
    with ledger.store.writing() as session:
        rows = [
            BugRow(
                fingerprint=f"bug {number}",
                state="drafted",
                target="{}",
                operators="[]",
                created=moment,
                updated=moment,
                **told,
            )
            for number in range(count)
        ]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows if row.id is not None]


def check_payload(external_id: str, count: int = 120, **more: Any) -> dict[str, Any]:
    """A finished check run with `count` annotations."""
    annotations = [
        {"path": "a.py", "start_line": line, "end_line": line, "annotation_level": "failure", "message": f"line {line}"}
        for line in range(1, count + 1)
    ]
    told = {"head_sha": HEAD, "name": "graphwarden", "external_id": external_id, "status": "completed"}
    told |= {"conclusion": "failure", "title": "3 new failures", "summary": "so"}
    return {**told, "annotations": annotations, **more}
