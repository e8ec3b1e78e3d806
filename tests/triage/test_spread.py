"""Work over a list in several processes, tried in a new one: beside the test runner's threads none would be forked."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from tests.triage import synthetic
from triage.evidence import Report
from triage.group import Grouping, group
from triage.spread import spread
from triage.trace_listed import listed

ITEMS = list(range(5_001))
PARENT = os.getpid()


def tenfold(items: Sequence[int]) -> list[int]:
    return [10 * item for item in items]


def where(items: Sequence[int]) -> list[int]:
    return [os.getpid() for _ in items]


def tenfold_in_the_first(items: Sequence[int]) -> list[int]:
    if os.getpid() != PARENT:
        os._exit(3)
    return tenfold(items)


def dying_while_it_sends(items: Sequence[int]) -> list[int]:
    """More than a pipe holds, so that a process waits for the first one, which is late, and is killed meanwhile."""
    if os.getpid() == PARENT:
        time.sleep(2)
    else:
        signal.setitimer(signal.ITIMER_REAL, 1)  # its signal kills
    return [(10**4000) * item for item in items]


def refusing(items: Sequence[int]) -> list[int]:
    raise ValueError(f"cannot read {items[0]}")


def rest(item: int) -> str:
    return str(item % 101)


def first_digit(item: int) -> str:
    return str(item)[0]


def length(item: int) -> int:
    return 1_000 if item < 100 else 1


def only_the_first(item: int) -> int:
    return int(item == 0)


def alike(item: int) -> str:
    return ""


def set_of_processes(count: int, jobs: int) -> set[int]:
    """The processes that did items of which the first alone takes any time."""
    return set(spread(where, ITEMS[:count], jobs, alike, only_the_first))


def shares(count: int, jobs: int) -> list[int]:
    """How many items each process did, the first process first."""
    done = Counter(spread(where, ITEMS[:count], jobs))
    return [done.pop(os.getpid()), *sorted(done.values())]


def shares_beside_a_thread() -> list[int]:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        return shares(5_001, 2)
    finally:
        done.set()
        thread.join()


def groupings() -> list[Grouping]:
    """One batch of synthetic failures, grouped in one process and in three."""
    lines = [line for style in synthetic.STYLES for line, _ in synthetic.failures(3, 800, style)]
    batch = [Report(**{**line, "id": str(at), "frames": listed(line.get("frames"))}) for at, line in enumerate(lines)]
    return [group(batch), group(batch, jobs=3)]


def new_process(work: Callable[..., Any], *given: object) -> Any:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
def test_the_results_are_in_the_order_of_the_items(jobs: int) -> None:
    assert new_process(spread, tenfold, ITEMS, jobs) == tenfold(ITEMS)


def test_each_process_does_a_share() -> None:
    own, other = new_process(shares, 5_001, 2)
    assert own + other == 5_001
    assert other <= own < 1.1 * other


def test_items_that_are_alike_go_to_one_process() -> None:
    done = new_process(spread, where, ITEMS, 2, rest)
    processes = Counter((rest(at), pid) for at, pid in zip(ITEMS, done, strict=True))
    assert len(processes) == 101


def test_no_process_is_started_for_nothing() -> None:
    assert len(new_process(set_of_processes, 5_001, 5)) == 2


def test_a_process_does_not_get_all_that_is_large() -> None:
    done = new_process(spread, where, ITEMS, 2, first_digit, length)
    load = Counter[int]()
    for at in ITEMS:
        load[done[at]] += length(at)
    assert max(load.values()) < 1.1 * min(load.values())


def test_few_items_are_not_worth_a_process() -> None:
    assert new_process(shares, 1_500, 2) == [1_500]


def test_beside_other_threads_no_process_is_forked() -> None:
    assert new_process(shares_beside_a_thread) == [5_001]


def test_what_a_process_that_died_left_undone_is_done_here() -> None:
    assert new_process(spread, tenfold_in_the_first, ITEMS, 3) == tenfold(ITEMS)


def test_what_a_process_that_died_did_not_send_to_its_end_is_done_here() -> None:
    assert new_process(spread, dying_while_it_sends, ITEMS[:2_000], 2) == [10**4000 * item for item in ITEMS[:2_000]]


def test_an_error_is_raised_here() -> None:
    with pytest.raises(ValueError, match="cannot read 0"):
        new_process(spread, refusing, ITEMS, 2)


def test_failures_are_grouped_alike_in_any_number_of_processes() -> None:
    one, three = new_process(groupings)
    assert one == three and len(one.groups) > 100
