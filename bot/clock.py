"""The clock: says when something is due, and does nothing itself. What is due becomes a row (issue 6).

One process of all that share a database has the clock: two would do everything twice. The others look again and again
whether it is free. A server that is restarted forgets who had it, so whoever has it looks, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot import cron
from bot.settings import Settings
from triage.ledger import Ledger
from triage.ledger.records import NewWork, Planned
from triage.store import StoreError
from triage.store_locks import Holds

log = structlog.get_logger()

#: What was missed while nobody ran is the most likely to matter: the first look comes so soon after the start.
SOON = timedelta(seconds=5)
#: Seconds between two looks at who has the clock: fewer than until a new owner's first ring.
LOOK = 2.0
#: Regular work gives way to what somebody waits for.
_PRIORITY = 90


def due(settings: Settings) -> list[tuple[BaseTrigger, NewWork]]:
    """What happens regularly, and when."""
    found: list[tuple[BaseTrigger, NewWork]] = [
        (_every(settings.github.poll_minutes), NewWork("missed", "missed", "", {}, _PRIORITY)),
        (_every(24 * 60), NewWork("collect", "collect", "", {}, _PRIORITY)),
    ]
    for project in settings.projects.values():
        look = NewWork("release", project.name, project.name, {"version": ""}, _PRIORITY)
        found.append((_every(6 * 60), look))
    return found


def planned(settings: Settings) -> list[Planned]:
    """The regular campaigns of the configuration."""
    return [Planned(each.name, each.project, each.cron, each.budget, each.sources) for each in settings.schedule]


def keep(settings: Settings, ledger: Ledger, stop: threading.Event) -> None:
    """Ring whenever nobody else has the clock, until `stop` is set."""
    elsewhere = False
    while not stop.is_set():
        before = elsewhere
        try:
            elsewhere = not _kept(settings, ledger, stop)
        except StoreError as error:
            log.warning("clock_in_trouble", why=str(error))
        if elsewhere and not before:
            log.info("clock_is_elsewhere")
        stop.wait(LOOK)


def _kept(settings: Settings, ledger: Ledger, stop: threading.Event) -> bool:
    """Ring as long as the clock is ours; whether it ever was. Raises StoreError."""
    with running(settings, ledger) as holds:
        if not holds():
            return False
        log.info("clock_is_ours")
        while not stop.wait(LOOK):
            if not holds():
                log.warning("clock_lost")
                break
        return True


@contextmanager
def running(settings: Settings, ledger: Ledger) -> Iterator[Holds]:
    """The clock runs inside; not where another process has it already. Raises StoreError."""
    with ledger.store.sole("clock") as holds:
        if not holds():
            yield holds
            return
        scheduler = BackgroundScheduler(timezone=UTC)
        for trigger, work in due(settings):
            # What is due in a moment is due at once where starting took longer than that, and not a whole turn later.
            first = {"next_run_time": trigger.start_date} if isinstance(trigger, IntervalTrigger) else {}
            scheduler.add_job(_ring, trigger, (ledger, work), coalesce=True, misfire_grace_time=3600, **first)
        for each in ledger.schedules.agree(planned(settings)):
            trigger, now = cron.trigger(each.planned.cron), datetime.now(UTC)
            # What was due while nobody had the clock is due now, and once however often that was.
            late = each.rung is not None and cron.missed(each.planned.cron, each.rung, now)
            first = {"next_run_time": now if late else trigger.get_next_fire_time(None, now)}
            ring = (_campaign, trigger, (ledger, each.planned.name))
            scheduler.add_job(*ring, coalesce=True, misfire_grace_time=None, **first)
        scheduler.start()
        try:
            yield holds
        finally:
            scheduler.shutdown(wait=False)


def _ring(ledger: Ledger, work: NewWork) -> None:
    number = ledger.work.add(work)
    log.info("due", kind=work.kind, key=work.key, work=number)


def _campaign(ledger: Ledger, name: str) -> None:
    log.info("campaign_due", schedule=name, answer=str(ledger.schedules.ring(name)))


def _every(minutes: float) -> IntervalTrigger:
    return IntervalTrigger(minutes=minutes, start_date=datetime.now(UTC) + SOON, timezone=UTC)
