"""The gate: the suite on two builds in turns, and what the newer one changes.

Both run on the same machine in the same minutes, small batches by turns, so that what the machine does to one it does
to the other. A difference counts only when it repeats in fresh processes on both sides. A build that fails on nearly
everything that the other passes is taken for a broken environment: that is no news of a compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fuzz.case import FAILING, Revision, Status, Verdict
from triage.suite.compare import Change, change, differs
from triage.suite.entries import Entry
from triage.suite.journal import Journal
from triage.suite.order import Order
from triage.suite.running import Ran, Replayed, Replays, ran, read
from triage.suite.turns import Deadline, turns

#: Fresh runs of each side, beyond those that showed a difference.
REPEATS = 2
#: What fresh memory is filled with where a result must not depend on it: two bytes that differ in every bit.
FILLED = (85, 170)
#: From so many cases that pass on base, of so many operators, and such a share of them failing on head on, the head's
#: environment is suspected rather than its code.
SUSPICIOUS_CASES, SUSPICIOUS_OPERATORS, SUSPICIOUS_SHARE = 30, 8, 0.9


class Conclusion(StrEnum):
    """What a check says of a change; the words are those of GitHub's checks."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Pair:
    """One case on both builds. `verdict` is of the failing side, for a report; a resumed run has none."""

    base: Ran
    head: Ran
    change: Change
    why: str = ""
    verdict: Verdict | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """The content id of the case."""
        return self.base.id

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.base.name


@dataclass(frozen=True)
class Result:
    """What a gate has seen. `reason` says why it is neutral; `seconds` counts what ran before an interruption, too."""

    pairs: tuple[Pair, ...]
    of: int
    seconds: float
    conclusion: Conclusion
    reason: str = ""

    def of_change(self, wanted: Change) -> list[Pair]:
        """The pairs with this change, in the order in which they were found."""
        return [pair for pair in self.pairs if pair.change is wanted]


@dataclass(frozen=True)
class Sides:
    """The two builds, both with an environment, and what runs cases on them."""

    replay: Replays
    base: Revision
    head: Revision

    def pairs(self, number: int, entries: Sequence[Entry]) -> list[Pair]:
        """A batch on both builds; which one comes first changes from batch to batch."""
        cases = [entry.case for entry in entries]
        order = [self.base, self.head] if number % 2 == 0 else [self.head, self.base]
        found = {revision.version: list(self.replay.run(cases, revision)) for revision in order}
        both = zip(found[self.base.version], found[self.head.version], strict=True)
        return [self._pair(entry, base, head) for entry, (base, head) in zip(entries, both, strict=True)]

    def _pair(self, entry: Entry, base: Replayed, head: Replayed) -> Pair:
        found, why = change(base, head), ""
        if differs(base, head):
            found, why = self._confirmed(entry, base, head)
        failing = base if found is Change.FIXED else head
        verdict = failing.verdict if found in (Change.FIXED, Change.NEW_FAILURE) else None
        return Pair(ran(entry, base), ran(entry, head), found, why, verdict)

    def _confirmed(self, entry: Entry, base: Replayed, head: Replayed) -> tuple[Change, str]:
        """The change, if fresh processes on both sides show it again and again; else flaky, with what they showed.

        A result that depends on what fresh memory holds may be right by chance, and as often as one asks: so the side
        that passes must do so with memory filled, too. Else no new failure is new, and nothing is fixed.
        """
        wanted = change(base, head)
        shown = [(base.letter, head.letter)]
        for _ in range(REPEATS):
            again = self.replay.once(entry.case, self.base), self.replay.once(entry.case, self.head)
            shown.append((again[0].letter, again[1].letter))
            if change(*again) is not wanted or (again[0].status, again[1].status) != (base.status, head.status):
                told = ", ".join(f"{one}→{other}" for one, other in shown)
                return Change.FLAKY, f"runs disagree (base→head: {told})"
        by_chance = self._by_chance(entry, wanted)
        return (Change.FLAKY, by_chance) if by_chance else (wanted, "")

    def _by_chance(self, entry: Entry, wanted: Change) -> str:
        """How the side that passes fails with fresh memory filled; "" where it passes, or where no side does."""
        passing = {Change.NEW_FAILURE: self.base, Change.FIXED: self.head}.get(wanted)
        if passing is None:
            return ""
        for byte in FILLED:
            filled = self.replay.once(entry.case, passing, byte)
            if filled.status in FAILING:
                side = "base" if passing is self.base else "head"
                return f"{side} passes by chance: {filled.letter} with fresh memory filled with byte {byte}"
        return ""


def gate(
    entries: Sequence[Entry],
    order: Order,
    sides: Sides,
    journal: Journal,
    *,
    budget: float | None = None,
    jobs: int = 1,
    tell: Callable[[Pair], None] = lambda pair: None,
) -> Result:
    """Run the entries on both builds until they or `budget` (seconds) end.

    What the journal holds is not run again. Raises triage.revisions.environments.Untestable where a build cannot be
    imported any more.
    """
    pairs = {record["base"]["id"]: pair_of(record) for record in journal.records}
    spent = max((float(record["after"]) for record in journal.records), default=0.0)
    started = time.monotonic()
    places = {entry.id: at for at, entry in enumerate(entries)}
    watch = Watch(order, places)
    for pair in pairs.values():
        watch.see(pair)
    todo = (at for at in order if entries[at].id not in pairs and not watch.suspicious)

    def work(number: int, positions: Sequence[int]) -> list[Pair]:
        return sides.pairs(number, [entries[at] for at in positions])

    deadline = Deadline.after(None if budget is None else budget - spent)
    for pair in turns(todo, work, jobs, deadline):
        journal.add(record_of(pair, spent + time.monotonic() - started))
        pairs[pair.id] = pair
        watch.see(pair)
        tell(pair)
    found = tuple(pair for case, pair in pairs.items() if case in places)
    conclusion, reason = concluded(found, watch.suspicion)
    return Result(found, len(entries), spent + time.monotonic() - started, conclusion, reason)


@dataclass
class Watch:
    """Looks at pairs as they come: the order learns from them, and a broken environment is noticed."""

    order: Order
    places: dict[str, int]
    passed: int = 0
    lost: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)

    def see(self, pair: Pair) -> None:
        """Take a pair in."""
        at = self.places.get(pair.id)
        if at is None:
            return
        failed = pair.base.status in FAILING or pair.base.status is Status.UNSUPPORTED
        self.order.learn(at, changed=pair.change in (Change.NEW_FAILURE, Change.FIXED), failed=failed)
        if pair.base.status is Status.OK:
            self.passed += 1
            if pair.change is Change.NEW_FAILURE:
                self.lost.add(pair.id)
                self.operators.add(self.order.operator(at))

    @property
    def suspicious(self) -> bool:
        """Whether head fails on nearly everything that base passes, whatever the operator."""
        return (
            self.passed >= SUSPICIOUS_CASES
            and len(self.operators) >= SUSPICIOUS_OPERATORS
            and len(self.lost) >= SUSPICIOUS_SHARE * self.passed
        )

    @property
    def suspicion(self) -> str:
        """The sentence that says so, "" where there is no such suspicion."""
        if not self.suspicious:
            return ""
        return (
            f"head fails {len(self.lost)} of the {self.passed} cases that base passes, over {len(self.operators)} "
            "operators: its environment is suspected rather than its code"
        )


def concluded(pairs: Sequence[Pair], suspicion: str = "") -> tuple[Conclusion, str]:
    """What the pairs amount to, and why it is neutral if it is. Pure."""
    if suspicion:
        return Conclusion.NEUTRAL, suspicion
    known = [pair for pair in pairs if pair.change is not Change.NOTHING]
    if not known:
        reason = "no case could be judged on both builds" if pairs else "the budget ended before anything was known"
        return Conclusion.NEUTRAL, reason
    failed = any(pair.change is Change.NEW_FAILURE for pair in known)
    return (Conclusion.FAILURE if failed else Conclusion.SUCCESS), ""


def record_of(pair: Pair, after: float) -> dict[str, object]:
    """The line of a journal; `after` is the seconds of running until then."""
    return {
        "base": pair.base.record,
        "head": pair.head.record,
        "change": pair.change.value,
        "why": pair.why,
        "after": round(after, 3),
    }


def pair_of(record: dict[str, object]) -> Pair:
    """What a line of a journal says; the verdict is not kept."""
    base, head = record["base"], record["head"]
    assert isinstance(base, dict) and isinstance(head, dict)
    return Pair(read(base), read(head), Change(str(record["change"])), str(record["why"]))
