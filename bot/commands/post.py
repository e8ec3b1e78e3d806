"""`graphwarden post`: the process of the bot that speaks with GitHub."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from bot import clock, dispatch, kinds, sending, working
from bot.commands import bot_arguments as arguments
from bot.desk import Desk
from triage.ledger.renaming import rename

log = structlog.get_logger()


def post(config: arguments.Config = arguments.DEFAULT, plain_logs: arguments.PlainLogs = False) -> None:
    """Turn deliveries into work, send what is to be said, keep the clock. `graphwarden serve` starts it itself.

    Only one should run: GitHub asks for one write at a time. May be killed at any moment.
    """
    with arguments.opened(config, "post", plain_logs) as (desk, stop):
        renamed(desk)
        together(_loops(desk, stop), stop)


def renamed(desk: Desk) -> None:
    """What is known of a repository under a former name goes on under its name of today."""
    for project in desk.settings.projects.values():
        for old in project.formerly:
            if number := rename(desk.store, old, project.repository):
                log.info("repository_renamed", old=old, new=project.repository, issues=number)


def _loops(desk: Desk, stop: threading.Event) -> dict[str, Callable[[], None]]:
    return {
        "clock": lambda: clock.keep(desk.settings, desk.ledger, stop),
        "dispatch": lambda: dispatch.run(desk.ledger, desk.settings, stop),
        "send": lambda: sending.send_all(desk, stop),
        "light": lambda: working.work_off(desk, kinds.of_weight(heavy=False), stop),
    }


def together(loops: dict[str, Callable[[], None]], stop: threading.Event) -> None:
    """Run loops in threads until `stop` is set. When one breaks all end, and so the process: it is started anew."""
    broken: list[BaseException] = []

    def watched(name: str, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:  # noqa: BLE001 handed to the main thread, which raises it
            log.error("loop_broke", loop=name, why=f"{type(error).__name__}: {error}")
            broken.append(error)
        finally:
            stop.set()

    threads = [threading.Thread(target=watched, args=each, name=each[0], daemon=True) for each in loops.items()]
    for thread in threads:
        thread.start()
    while not stop.wait(0.5):
        pass
    for thread in threads:
        thread.join(timeout=5)
    if broken:
        raise broken[0]
