"""Fetches webhook deliveries that never arrived: GitHub does not repeat them by itself, but lists them for an App.

What the list names and the database does not have is fetched with its payload and stored as if it had arrived; from
there on it is one delivery among others. Where the list holds no payload, GitHub is asked to deliver again, once.
(docs.github.com, "Handling failed webhook deliveries".)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from bot.desk import Desk
from bot.github.app import App
from bot.github.errors import Refused, Unsure
from bot.github.shapes import DeliverySeen
from bot.kinds import Answer, Done
from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import NewDelivery, Work

log = structlog.get_logger()

HEAVY = False
#: The switch that holds up to when the list has been looked through.
CURSOR = "missed"
#: Looked at again each time: an attempt is listed only once it has ended.
OVERLAP = timedelta(minutes=30)
#: How long GitHub keeps deliveries; settled ones must be kept here for longer, or they would be fetched again.
KEPT = timedelta(days=3)
#: Deliveries fetched before they are stored together.
BATCH = 10
#: Statuses that say that this delivery cannot be had (any more); others concern all of them.
_GONE = (404, 410, 422)


class Fate(StrEnum):
    """What became of a delivery that was missed."""

    FETCHED = "fetched"
    ASKED_FOR = "asked for again"
    LOST = "lost"


def run(work: Work, desk: Desk) -> Answer:
    """Store what was missed since the last look. Raises Refused and Later; what was fetched before stays."""
    app = desk.app()
    if app is None:
        return Done("only an App has a list of deliveries: with a plain token, redeliver by hand what was missed")
    listed = list(app.deliveries(_since(desk.ledger)))
    missing = _missing(listed, desk.ledger)
    fates: Counter[Fate] = Counter()
    for at in range(0, len(missing), BATCH):
        fates += _fetch(missing[at : at + BATCH], app, desk.ledger)
        desk.say(f"{len(missing)} deliveries missed: {_told(fates)}")
    if listed:
        desk.ledger.switches.set(CURSOR, max(each.delivered for each in listed).isoformat())
    return Done(f"{len(listed)} attempts listed, {len(missing)} deliveries missed: {_told(fates) or 'none'}")


def _since(ledger: Ledger) -> datetime:
    """How far back to look; the first time to the first delivery that ever came, not to before the bot was there."""
    cursor = ledger.switches.get(CURSOR)
    begin = datetime.fromisoformat(cursor) if cursor else ledger.deliveries.first() or now()
    if cursor and begin < now() - KEPT:
        log.warning("deliveries_gone", since=cursor, why=f"GitHub keeps them for {KEPT.days} days")
    return begin - OVERLAP


def _missing(listed: Sequence[DeliverySeen], ledger: Ledger) -> list[DeliverySeen]:
    """The newest attempt of each delivery that is not stored, in the order in which they were first made."""
    newest: dict[str, DeliverySeen] = {}
    for each in sorted(listed, key=lambda seen: (seen.delivered, seen.id)):
        newest[each.guid] = each
    guids = list(newest)
    known: set[str] = set()
    for at in range(0, len(guids), 500):
        known |= ledger.deliveries.known(guids[at : at + 500])
    return [seen for guid, seen in newest.items() if guid not in known]


def _fetch(some: Sequence[DeliverySeen], app: App, ledger: Ledger) -> Counter[Fate]:
    fates: Counter[Fate] = Counter()
    found: list[NewDelivery] = []
    try:
        for seen in some:
            fetched, fate = _one(seen, app)
            fates[fate] += 1
            if fetched is not None:
                found.append(fetched)
            told = log.error if fate is Fate.LOST else log.info
            told("delivery_missed", delivery=seen.guid, event_name=seen.event, attempt=seen.id, fate=fate.value)
    finally:  # GitHub may let us ask no more: what was had by then is kept
        ledger.deliveries.add_many(found)
    return fates


def _one(seen: DeliverySeen, app: App) -> tuple[NewDelivery | None, Fate]:
    try:
        _, payload = app.delivery(seen.id)
        if isinstance(payload, dict):
            return NewDelivery(seen.guid, seen.event, json.dumps(payload).encode()), Fate.FETCHED
        if seen.redelivery:  # it was asked for before, and did not arrive either
            return None, Fate.LOST
        app.redeliver(seen.id)
    except Refused as refused:
        if refused.status not in _GONE:
            raise
        return None, Fate.LOST
    except Unsure:
        pass  # a redelivery that was asked for twice is stored once
    return None, Fate.ASKED_FOR


def _told(fates: Counter[Fate]) -> str:
    return ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
