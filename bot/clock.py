"""The clock: says when something is due, and does nothing itself. What is due becomes a row (issue 6).

One process of all that share a database has the clock: two would do everything twice.
"""

from __future__ import annotations

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

log = structlog.get_logger()

#: What was missed while nobody ran is the most likely to matter: the first look comes so soon after the start.
SOON = timedelta(seconds=5)
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


@contextmanager
def running(settings: Settings, ledger: Ledger) -> Iterator[bool]:
    """The clock runs inside; False where another process has it already."""
    with ledger.store.sole("clock") as mine:
        if not mine:
            log.info("clock_is_elsewhere")
            yield False
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
            yield True
        finally:
            scheduler.shutdown(wait=False)


def _ring(ledger: Ledger, work: NewWork) -> None:
    number = ledger.work.add(work)
    log.info("due", kind=work.kind, key=work.key, work=number)


def _campaign(ledger: Ledger, name: str) -> None:
    log.info("campaign_due", schedule=name, answer=str(ledger.schedules.ring(name)))


def _every(minutes: float) -> IntervalTrigger:
    return IntervalTrigger(minutes=minutes, start_date=datetime.now(UTC) + SOON, timezone=UTC)
