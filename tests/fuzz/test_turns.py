"""Many work at once, or one alone, and whoever waits to be alone is not passed by those who come later."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait

from fuzz.turns import Turns


def test_one_alone_waits_for_those_at_work_and_goes_before_those_who_come_later() -> None:
    turns, order = Turns(), list[str]()
    first, end = threading.Event(), threading.Event()

    def work(name: str, started: threading.Event | None = None) -> None:
        with turns.together():
            if started:
                started.set()
                assert end.wait(60)
            order.append(name)

    def alone() -> None:
        with turns.alone():
            order.append("alone")

    with ThreadPoolExecutor(3) as threads:
        at_work = threads.submit(work, "first", first)
        assert first.wait(60)
        waiting = threads.submit(alone)
        while not turns._asked:
            threading.Event().wait(0.01)
        later = threads.submit(work, "later")
        assert not wait([waiting, later], timeout=0.2).done
        end.set()
        wait([at_work, waiting, later], timeout=60)
    assert order == ["first", "alone", "later"]


def test_whoever_fails_alone_or_beside_others_holds_nobody_up() -> None:
    turns = Turns()
    for turn in (turns.alone, turns.together, turns.alone):
        try:
            with turn():
                raise KeyError
        except KeyError:
            pass
    with ThreadPoolExecutor(1) as threads:
        with turns.alone():
            kept = threads.submit(turns.together().__enter__)
            assert not wait([kept], timeout=0.1).done
        assert kept.result(timeout=60) is None
