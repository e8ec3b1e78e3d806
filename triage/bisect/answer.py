"""What a bisection has found out, for scripts and in words. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from triage.bisect import ends
from triage.bisect.outcome import Ledger
from triage.bisect.sides import Flip, Gap, Sides


@dataclass(frozen=True)
class Change:
    """Neighbouring tested revisions with different outcomes, as status words."""

    before: str
    after: str
    from_status: str
    to_status: str

    @property
    def entry(self) -> list[str]:
        return [self.before, self.after, self.from_status, self.to_status]


@dataclass(frozen=True)
class Tested:
    """One tested revision. `failed` of `runs` runs did not pass; `same_build` is the revision that was run instead."""

    revision: str
    status: str
    runs: int
    failed: int
    same_build: str = ""


@dataclass(frozen=True)
class Merge:
    """A merge with which a change came to the branch. `itself`: it is to blame, and no commit in it.

    `why` is a part of a sentence: what speaks for that, or why nothing can be told of what is inside; "" where the
    commit inside was found.
    """

    revision: str
    itself: bool
    why: str

    @property
    def sentence(self) -> str:
        """The same for people."""
        if self.itself:
            return f"{self.revision} is a merge and did it itself: {self.why}"
        if self.why:
            return f"{self.revision} is a merge, and which commit in it did it cannot be told: {self.why}"
        return f"it came with the merge {self.revision}"


@dataclass(frozen=True)
class Answer:
    """What is known of the range between two revisions.

    `first` is the first revision known to have the newer end's outcome, `last_before` the last known not to have it;
    both None if the outcome flips more than once or not at all. `confidence` is the probability that the change came
    with `first` itself; of several flips, that each lies where it is told to; None if there is no flip. `changes` are
    those that do not matter to the question: from one failure to another, and inside a merge to and fro before the flip
    that is nearest to it. `between` are the revisions between `last_before` and `first`, which side with neither,
    `unseen` those nobody has looked at. `finished`: time did not run out before every flip was narrowed down as far as
    it can be. `merges` are those that the search went into, from the branch inwards. `instead` are ends that are on no
    list, each with the revision that was tested in its place.
    """

    oldest: Tested
    newest: Tested
    same_build: bool
    differ: bool
    first: str | None
    last_before: str | None
    confidence: float | None
    flips: tuple[Change, ...]
    changes: tuple[Change, ...]
    tested: tuple[Tested, ...]
    skipped: tuple[tuple[str, str], ...]
    between: tuple[str, ...]
    unseen: tuple[str, ...]
    finished: bool
    merges: tuple[Merge, ...] = ()
    instead: tuple[tuple[str, str], ...] = ()

    @property
    def brought(self) -> str:
        """The merge with which the change came to the branch, `first` where that did it itself; "" where none did."""
        if not self.merges:
            return ""
        innermost = self.merges[-1]
        return innermost.revision if innermost.itself else self.merges[0].revision

    @property
    def tested_between(self) -> bool:
        """Whether any of `between` was tested: it did not tell on which side it is."""
        return not {each.revision for each in self.tested}.isdisjoint(self.between)

    def document(self) -> dict[str, Any]:
        """The JSON document of `graphwarden bisect`."""
        return {
            "first": self.first,
            "last_before": self.last_before,
            "confidence": self.confidence,
            "flips": [change.entry for change in self.flips],
            "changes": [change.entry for change in self.changes],
            "tested": [
                {"revision": each.revision, "status": each.status, "runs": each.runs, "failed": each.failed}
                | ({"same_build_as": each.same_build} if each.same_build else {})
                for each in self.tested
            ],
            "skipped": [{"revision": name, "reason": reason} for name, reason in self.skipped],
            "between": list(self.between),
            "not_tested": list(self.unseen),
            "finished": self.finished,
            "merges": [{"revision": each.revision, "itself": each.itself, "reason": each.why} for each in self.merges],
            "instead": [{"asked": asked, "tested": tested} for asked, tested in self.instead],
        }

    def sentences(self, fix: bool) -> Iterator[str]:
        """The same for people, the answer first."""
        yield self._headline(fix)
        for asked, tested in self.instead:
            yield f"{asked} came to the branch inside a merge: {tested} was tested in its place"
        if self.between:
            why = self._doubt()
            yield f"between them lie {_listed(self.between)}, which {why}: the change may have come with any of these"
        for merge in self.merges:
            yield merge.sentence
        for change in self.changes:
            yield f"{change.after}: {change.to_status} where {change.before} was {change.from_status}"
        for name, reason in self.skipped:
            yield f"{name} could not be tested: {' '.join(reason.split())}"
        if self.unseen:
            total = len(self.tested) + len(self.skipped) + len(self.unseen)
            yield f"{len(self.unseen)} of {total} revisions were not looked at: a flip there and back is not seen"
        if not self.finished:
            yield "the time ran out: the same command goes on from here"

    def _doubt(self) -> str:
        """What is the matter with those between."""
        between = set(self.between)
        if between <= {name for name, _ in self.skipped}:
            return "could not be tested"
        if between <= {each.revision for each in self.tested}:
            return "were tested and do not tell it"
        return "could not be told apart or were not tested"

    def _headline(self, fix: bool) -> str:
        if not self.flips:
            return f"{self.oldest.revision} and {self.newest.revision} do not differ: {self._alike()}"
        if self.first is None:
            places = ", ".join(
                f"{each.before} -> {each.after} ({each.from_status} -> {each.to_status})" for each in self.flips
            )
            return f"the outcome flips {len(self.flips)} times, so no one revision is to blame: {places}"
        [flip] = self.flips
        kind = {("ok", False): "bad", ("ok", True): "good"}.get(
            (flip.to_status if fix else flip.from_status, fix), "other"
        )
        return (
            f"first {kind} revision: {self.first} ({flip.to_status}); last before: {self.last_before} "
            f"({flip.from_status}); confidence {self.confidence:.4f}"
        )

    def _alike(self) -> str:
        if self.same_build:
            return f"they are the same build ({self.newest.status})"
        if self.oldest.status == self.newest.status == "ok":
            return f"both pass ({self.oldest.runs} and {self.newest.runs} runs)"
        if self.oldest.status == self.newest.status:
            return f"{self.oldest.status} in both"
        old, new = self.oldest, self.newest
        return f"{old.failed} of {old.runs} runs fail in one and {new.failed} of {new.runs} in the other"


def told(ledger: Ledger, finished: bool = True) -> Answer:
    """The answer that a ledger gives, both of whose ends have been compared."""
    compared = ends.compare(ledger)
    sides = Sides(ledger, compared)
    last = len(ledger) - 1
    rows = sorted((row.flip if isinstance(row, Gap) else row for row in sides.rows()), key=lambda flip: flip.before)
    once = rows[0] if len(rows) == 1 else None
    seen = [at for at in range(last + 1) if ledger.tested(at)]
    tested = {at: _tested(sides, at) for at in seen}
    return Answer(
        oldest=tested[0],
        newest=tested[last],
        same_build=last in ledger.twins(0),
        differ=compared.differ,
        first=ledger.names[once.after] if once else None,
        last_before=ledger.names[once.before] if once else None,
        confidence=_confidence(sides, rows),
        flips=tuple(_change(tested[flip.before], tested[flip.after]) for flip in rows),
        changes=tuple(_changes(sides, tested)),
        tested=tuple(tested.values()),
        skipped=tuple((name, ledger[at].skipped) for at, name in enumerate(ledger.names) if ledger[at].skipped),
        between=tuple(ledger.names[once.before + 1 : once.after]) if once else (),
        unseen=tuple(ledger.names[at] for at in range(last + 1) if at not in tested and not ledger[at].skipped),
        finished=finished,
    )


def _confidence(sides: Sides, flips: list[Flip]) -> float | None:
    if not flips:
        return None
    found = sides.blame(flips[0]) if len(flips) == 1 else math.prod(flip.probability for flip in flips)
    return rounded(found)


def rounded(probability: float) -> float:
    """A confidence as it is told: rounded down, and never certain."""
    return min(math.floor(probability * 10**4), 10**4 - 1) / 10**4


def _tested(sides: Sides, at: int) -> Tested:
    ledger = sides.ledger
    own, pooled = ledger[at], ledger.pooled(at)
    twin = next((other for other in ledger.twins(at) if ledger[other].runs), at)
    status = "flaky" if sides.undecided(at) and 0 < pooled.failed < len(pooled.runs) else pooled.typical.status
    return Tested(ledger.names[at], status, len(own.runs), own.failed, ledger.names[twin] if not own.runs else "")


def _change(before: Tested, after: Tested) -> Change:
    return Change(before.revision, after.revision, before.status, after.status)


def _changes(sides: Sides, tested: dict[int, Tested]) -> Iterator[Change]:
    """Where neighbours are on the same side and fail in different ways."""
    known = [at for at in sides.known if at in tested]
    for left, right in pairwise(known):
        letters = {sides.ledger.pooled(at).letter for at in (left, right)}
        if sides.known[left] == sides.known[right] and len(letters) > 1:
            yield _change(tested[left], tested[right])


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
