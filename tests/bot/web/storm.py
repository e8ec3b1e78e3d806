"""Many deliveries, while the server and the dispatcher are killed at random moments, and a GitHub that lists them."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot import settings
from bot.desk import Desk
from bot.github.access import PerThread
from bot.kinds import Done, missed
from bot.settings import Settings
from tests.bot.web.support import Connections, Program, configured, headers, payload, raw
from tests.github.fake import Fake
from tests.github.proxy import Proxy, running
from tests.ports import unused
from triage.ledger import Ledger
from triage.ledger.records import DeliveryState, NewWork
from triage.store import open_store

#: Deliveries that are sent at a time; seconds before a sender goes on, and before one does that got no answer.
SENDERS, PAUSE, DOWN = 20, 0.03, 1.0


@dataclass
class Place:
    """A folder with a configuration, a GitHub that lists deliveries, and the two programs."""

    config: Path
    port: int
    github: Proxy
    fake: Fake
    statuses: dict[str, int] = field(default_factory=dict)
    kills: int = 0

    def __post_init__(self) -> None:
        self.server = Program("serve", self.config, self.port)
        self.dispatcher = Program("dispatch", self.config)

    @property
    def settings(self) -> Settings:
        return settings.load(self.config)

    def refused(self) -> int:
        """How many deliveries got no answer so far."""
        return list(self.statuses.values()).count(0)

    def listed(self, guid: str, number: int, status: int) -> None:
        """GitHub's list has one attempt more."""
        entry: dict[str, Any] = {"id": len(self.fake.deliveries) + 1, "guid": guid, "event": "planted"}
        entry |= {"payload": json.loads(payload(number)), "redelivery": False, "status_code": status}
        entry["delivered_at"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.fake.deliveries.append(entry)
        self.statuses[guid] = status


@contextmanager
def place(folder: Path, database: str = "bot.db") -> Iterator[Place]:
    """Everything but the programs runs."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "app.pem").write_bytes(key.private_bytes(*form))
    with running(Proxy()) as github:
        github.fake = Fake(github.url)
        port = unused()
        config = configured(folder, port, database, api=github.url, app_id=1, private_key_file="app.pem")
        made = Place(config, port, github, github.fake)
        try:
            yield made
        finally:
            for program in (made.server, made.dispatcher):
                program.kill()


def rage(where: Place, deliveries: int, seed: int, kills: int) -> None:
    """Send deliveries, and kill the server and the dispatcher in turn, `kills` times in all; at the end both run.

    Each kill has its place among the deliveries, not in time: no machine is so fast or so slow that it is spared one.
    """
    chance = random.Random(seed)
    room = deliveries // 20
    places = sorted(chance.sample(range(deliveries // 10, deliveries * 9 // 10), kills))
    failed: list[BaseException] = []

    def kill() -> None:
        for place in places:
            while len(where.statuses) < place:
                time.sleep(0.005)
            time.sleep(chance.uniform(0.0, 0.05))
            program = where.dispatcher if where.kills % 2 else where.server
            refused = where.refused()
            program.kill()
            where.kills += 1
            time.sleep(chance.uniform(0.0, 0.3))
            while program is where.server and where.refused() == refused:
                time.sleep(0.005)  # nobody has come meanwhile
            program.start()

    def killing() -> None:
        try:
            kill()
        except BaseException as error:
            failed.append(error)
            raise

    def may_go_out(number: int) -> bool:
        """Not before the kill whose place is long past: it may be late."""
        due = sum(place + room <= number for place in places)
        return where.kills >= due or bool(failed)

    where.server.start()
    where.dispatcher.start()
    killer = threading.Thread(target=killing, daemon=True)
    killer.start()
    asyncio.run(_send(where, deliveries, may_go_out))
    killer.join()
    assert not failed, failed


async def _send(where: Place, deliveries: int, may_go_out: Callable[[int], bool]) -> None:
    numbers = iter(range(deliveries))

    async def sender() -> None:
        connections = Connections(where.port)
        for number in numbers:
            while not may_go_out(number):
                await asyncio.sleep(0.005)
            guid, body = str(uuid.uuid4()), payload(number)
            status = await connections.send(raw(body, headers(body, guid)))
            where.listed(guid, number, status)
            await asyncio.sleep(PAUSE if status else DOWN)
        connections.close()

    await asyncio.gather(*(sender() for _ in range(SENDERS)))


def fetch(where: Place) -> str:
    """Fetch what was missed, as the bot does; its note."""
    told = where.settings
    with open_store(told.database, create=False) as store:
        ledger = Ledger(store)
        access = PerThread(told)
        ledger.work.add(NewWork("missed", "missed", ""))
        work = ledger.work.claim(["missed"])
        assert work is not None
        answer = missed.run(work, Desk(told, ledger, access.client, access.app))
        assert isinstance(answer, Done)
        ledger.work.done(work, answer.note)
        return answer.note


@dataclass(frozen=True)
class Found:
    """What the database holds at the end: deliveries by state, and how often each became work, by its number."""

    states: dict[DeliveryState, int]
    works: Counter[int]


def found(where: Place, seconds: float = 900.0) -> Found:
    """Once the dispatcher has done all."""
    deadline = time.monotonic() + seconds
    with open_store(where.settings.database, create=False) as store:
        ledger = Ledger(store)
        while ledger.deliveries.oldest() is not None and time.monotonic() < deadline:
            time.sleep(0.1)
        rows = ledger.work.listed(kind="planted", limit=1_000_000)
        return Found(ledger.deliveries.counts(), Counter(each.payload["number"] for each in rows))


def known(where: Place) -> set[str]:
    """Which of the deliveries that were sent are stored."""
    with open_store(where.settings.database, create=False) as store:
        guids = list(where.statuses)
        deliveries = Ledger(store).deliveries
        return set().union(*(deliveries.known(guids[at : at + 500]) for at in range(0, len(guids), 500)))
