"""How fast a suite and a gate are on built revisions, and how early the order shows what changed.

    python -m benchmarks.suite speed openvino 2026.3.1 2026.4.1     # 500 cases, whose builds are made before
    python -m benchmarks.suite order BASE.json HEAD.json            # outcomes of two real releases, replayed

The files are what ``graphwarden suite run --slice 100000 --budget none --json`` prints for a release each. Replayed is
the order of a gate from BASE to HEAD that knows BASE's outcomes of an earlier run, and of one that knows nothing; the
committed entries, which were chosen for their changes, take no part. A case costs what its first runs took on both
releases, and as much again where it failed, since failures are repeated.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import suitefile
from bot.suitefile import Wanted
from fuzz.case import FAILING, Status
from fuzz.runner import Runner
from triage.replay import Replay
from triage.revisions import config, listing
from triage.revisions.environments import Environments
from triage.suite import running
from triage.suite.compare import Change, change
from triage.suite.gate import Sides, gate
from triage.suite.journal import Journal
from triage.suite.memory import Past
from triage.suite.order import Order
from triage.suite.running import Ran
from triage.suite.turns import BATCH

#: Batches that are under way before the first one's outcomes are known.
UNDER_WAY = 2
#: What starting and judging a case costs beside the compiler's own work, in seconds.
OVERHEAD = 0.002
SHARE = 1 / 3


def speed(name: str, revisions: Sequence[str], cases: int) -> None:
    """Seconds of the suite on the last revision, and of the gate from the first one to it."""
    compiler = config.load(name)
    with Runner() as runner, tempfile.TemporaryDirectory() as folder:
        environments = Environments(runner)
        ready = [environments.ensure(compiler, listing.find(compiler, each)) for each in revisions]
        entries = suitefile.gather(Wanted(slice_size=cases), compiler.backend, runner)[-cases:]
        replay = Replay(runner, compiler)
        list(replay.run([entry.case for entry in entries[:2]], ready[0]))  # the reference's parent has started
        with Journal({"command": "bench"}, folder=Path(folder)) as journal:
            done = running.run(entries, Order(entries), replay, ready[-1], journal, jobs=runner.jobs)
        print(f"{name} {revisions[-1]}: {len(done.results)} cases in {done.seconds:.1f} s, {runner.jobs} workers")
        sides = Sides(Replay(runner, compiler), ready[0], ready[-1])
        with Journal({"command": "bench gate"}, folder=Path(folder)) as journal:
            judged = gate(entries, Order(entries), sides, journal, jobs=runner.jobs)
        ratio = judged.seconds / done.seconds
        print(f"gate {revisions[0]} to {revisions[-1]}: {judged.seconds:.1f} s, {ratio:.2f} times the suite")


@dataclass(frozen=True)
class Replayed:
    """A gate replayed from recorded outcomes."""

    changes: int
    seen: int  # within SHARE of the time
    seen_by_count: int  # within SHARE of the cases


def order(before: Path, after: Path, size: int) -> None:
    """The share of changes that each order shows within a third of the time, in a slice of `size` cases."""
    base, head = _outcomes(before), _outcomes(after)
    sliced = suitefile.slice_of(Wanted(slice_size=size))
    entries = [entry for entry in sliced if entry.id in base and entry.id in head]
    changed = [change(base[each.id], head[each.id]) in (Change.NEW_FAILURE, Change.FIXED) for each in entries]
    costs = [_cost(base[each.id]) + _cost(head[each.id]) for each in entries]
    failed = frozenset(each.id for each in entries if base[each.id].status in FAILING)
    refused = frozenset(each.id for each in entries if base[each.id].status is Status.UNSUPPORTED)
    fails = [each.id in failed | refused for each in entries]
    seconds = {each.id: _cost(base[each.id]) for each in entries}
    known = Past(failed, known=frozenset(base), refused=refused, seconds=seconds)
    print(f"{len(entries)} cases, {sum(changed)} changes, {len(failed)} fail on the base")
    for name, positions in {
        "history of the base": _learning(Order(entries, 0, known), changed, fails),
        "no history": _learning(Order(entries, 0), changed, fails),
        "shuffled": iter(random.Random(0).sample(range(len(entries)), len(entries))),
    }.items():
        done = _replayed(list(positions), changed, costs)
        told = f"{done.seen} of {done.changes} in a third of the time, {done.seen_by_count} in a third of the cases"
        print(f"{name}: {told} ({done.seen / max(1, done.changes):.0%})")


def _learning(order: Order, changed: Sequence[bool], fails: Sequence[bool]) -> Iterator[int]:
    """The positions in the order in which a gate would run them: it learns when a batch has ended."""
    pending: list[list[int]] = []
    while True:
        batch = list(itertools.islice(order, BATCH))
        if batch:
            yield from batch
            pending.append(batch)
        elif not pending:
            return
        if len(pending) >= UNDER_WAY or not batch:
            for at in pending.pop(0):
                order.learn(at, changed=changed[at], failed=fails[at])


def _replayed(positions: Sequence[int], changed: Sequence[bool], costs: Sequence[float]) -> Replayed:
    total, spent, seen, counted = sum(costs), 0.0, 0, 0
    for turn, at in enumerate(positions, 1):
        spent += costs[at]
        if changed[at]:
            seen += spent <= SHARE * total
            counted += turn <= SHARE * len(positions)
    return Replayed(sum(changed), seen, counted)


def _cost(one: Ran) -> float:
    return one.cost + OVERHEAD


def _outcomes(path: Path) -> Mapping[str, Ran]:
    told = json.loads(path.read_text(encoding="utf-8"))["outcomes"]
    return {
        each["id"]: Ran(each["case"], each["id"], each["letter"], Status(each["status"]), seconds=each["seconds"])
        for each in told
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    fast = commands.add_parser("speed")
    fast.add_argument("compiler")
    fast.add_argument("base")
    fast.add_argument("head")
    fast.add_argument("--cases", type=int, default=500)
    early = commands.add_parser("order")
    early.add_argument("base", type=Path)
    early.add_argument("head", type=Path)
    early.add_argument("--cases", type=int, default=100_000)
    given = parser.parse_args()
    started = time.monotonic()
    if given.command == "speed":
        speed(given.compiler, (given.base, given.head), given.cases)
    else:
        order(given.base, given.head, given.cases)
    print(f"({time.monotonic() - started:.0f} s in all)")


if __name__ == "__main__":
    main()
