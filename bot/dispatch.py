"""Turns stored deliveries into work: each exactly once, in the order in which they came (issue 6, docs/bot.md).

The work and the delivery's end are saved in one transaction, so the process may be killed at any moment. What waited
when the process began may have ended the one before: that it is begun is noted first, and if it is found begun it is
handled alone, so that it is given up in the end and takes no other down with it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import structlog

from bot import events, same
from bot.events import Event, Unreadable
from bot.settings import Project, Settings
from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import Delivery, DeliveryState, NewWork, Settled
from triage.records import dump
from triage.store import StoreError

log = structlog.get_logger()

#: Deliveries handled in one transaction; the web server waits while it lasts.
BATCH = 10
#: Seconds between two looks, and before the next one where the database failed.
IDLE, TROUBLE = 0.2, 2.0
#: Seconds between two checkpoints while deliveries come.
CHECKPOINT = 1.0
#: A handler that raises is called so often; a delivery whose handling never came to an end is begun so often.
TRIES, BEGINNINGS = 3, 6
#: Events that concern the App, and name no repository at their head.
WIDE = ("installation", "installation_repositories", "ping")


def run(ledger: Ledger, settings: Settings, stop: threading.Event) -> None:
    """Handle deliveries as they come, until `stop` is set."""
    since, moved = now(), time.monotonic()
    while not stop.is_set():
        try:
            if not once(ledger, settings, since):
                stop.wait(IDLE)
            elif time.monotonic() - moved > CHECKPOINT:
                ledger.store.checkpoint()  # else the web server does it while GitHub waits
                moved = time.monotonic()
        except StoreError as error:
            log.error("deliveries_not_handled", error=str(error))
            stop.wait(TROUBLE)


def once(ledger: Ledger, settings: Settings, since: datetime | None = None) -> int:
    """Handle the deliveries that have waited longest; how many came to an end. Raises StoreError.

    `since` is when this process began (UTC): what came later cannot have ended the one before.
    """
    return sum(
        _handle(batch, ledger, settings, suspect)
        for suspect, batch in _batches(ledger.deliveries.waiting(BATCH), since)
    )


def _batches(waiting: Iterable[Delivery], since: datetime | None) -> Iterator[tuple[bool, list[Delivery]]]:
    """Runs of deliveries that nobody has begun, and whether one of them may end the process; each other one alone."""
    for begun, some in itertools.groupby(waiting, lambda each: each.attempts > 0):
        if begun:
            yield from ((True, [each]) for each in some)
        else:
            batch = list(some)
            yield since is None or batch[0].received <= since, batch


def _handle(batch: Sequence[Delivery], ledger: Ledger, settings: Settings, suspect: bool) -> int:
    attempts = {each.id: each.attempts + 1 for each in batch}
    if suspect:
        attempts = ledger.deliveries.begun_many(list(attempts))
    settled = [found for each in batch if (found := _outcome(each, attempts[each.id], ledger, settings)) is not None]
    once_more = attempts.keys() - {each.id for each in settled}
    if once_more and not suspect:
        ledger.deliveries.begun_many(sorted(once_more))
    if not settled:
        return 0
    ours = ledger.deliveries.settle(settled)
    for each in settled:
        if each.id in ours:
            told = log.error if each.state is DeliveryState.FAILED else log.info
            told(f"delivery_{each.state}", delivery=each.id, note=each.note, works=len(each.works))
    return len(settled)


def _outcome(delivery: Delivery, attempt: int, ledger: Ledger, settings: Settings) -> Settled | None:
    """How a delivery ends; None where its handler is to be called once more. Raises StoreError."""
    if attempt > BEGINNINGS:
        note = f"given up: its handling was begun {BEGINNINGS} times and never came to an end"
        return Settled(delivery.id, DeliveryState.FAILED, note)
    try:
        return _settled(delivery, ledger, settings)
    except Unreadable as error:
        return Settled(delivery.id, DeliveryState.FAILED, str(error))
    except StoreError:  # the database's trouble, not the delivery's fault
        raise
    except Exception as error:
        log.exception("delivery_broke", delivery=delivery.id, event_name=delivery.event, attempt=attempt)
        note = f"internal error, {attempt} times: {type(error).__name__}: {error}"
        return Settled(delivery.id, DeliveryState.FAILED, note) if attempt >= TRIES else None


def _settled(delivery: Delivery, ledger: Ledger, settings: Settings) -> Settled:
    """What a delivery means for the projects that it concerns. Raises Unreadable, StoreError."""
    if delivery.event not in events.names():
        return _ignored(delivery, f"the event {delivery.event} means nothing here")
    event = events.read(delivery)
    called = _projects(event, settings)
    if not called:
        return _ignored(delivery, f"no project has the repository {event.repository[:200]!r}")
    projects = called if event.name in WIDE else same.repositories(ledger, event, called)
    if not projects:
        log.warning("another_repository", delivery=delivery.id, repository=event.repository[:200])
        return _ignored(delivery, f"{event.repository[:200]!r} is not known to be the project's repository: by its id")
    handler = events.load(delivery.event)
    works: list[NewWork] = []
    notes: list[str] = []
    for project in projects:
        answer = handler.handle(event, project)
        if isinstance(answer, str):
            notes.append(answer)
        else:
            works += answer
    for each in works:
        dump(each.payload)  # what cannot be saved is this delivery's fault, not that of all that are saved with it
    note = "; ".join(dict.fromkeys(notes))
    if not works:
        return _ignored(delivery, note or "nothing follows from it")
    return Settled(delivery.id, DeliveryState.HANDLED, note, tuple(works))


def _projects(event: Event, settings: Settings) -> list[Project]:
    if event.name in WIDE:
        return list(settings.projects.values())
    return settings.of_repository(event.repository)


def _ignored(delivery: Delivery, why: str) -> Settled:
    return Settled(delivery.id, DeliveryState.IGNORED, why)
