"""Whether the two ends of a range differ at all, and how. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triage.bisect.outcome import PASS, Ledger, Question, Record, Run, count

#: How often an end, and whoever is told to be the first or the last, is run: what fails in half of all runs must show.
#: Runs cost little beside an environment; a slow case is run twice.
CONFIRMED, SLOW_CONFIRMED = 5, 2
SLOW_SECONDS = 10.0
#: How often two ends that both pass are run before they are told to be alike: one may fail now and then.
ALIKE = 16
#: How often an end is run at most when it does not answer the same each time.
_MOST = 100
#: The probability, if both ends were alike, of a difference as large as the one that counts.
_DOUBT = 0.01


_PASSES = Question(PASS)


@dataclass(frozen=True)
class Ends:
    """What the ends say. While `wanted` names ends that must be run again, the rest means nothing.

    With `differ` the newer end shows what `question` asks for and the older one does not. Without it, neither does.
    """

    wanted: tuple[int, ...] = ()
    question: Question = _PASSES
    differ: bool = False


def compare(ledger: Ledger) -> Ends:
    """What is known of the first and the last revision of the ledger."""
    found = _compared(ledger)
    if not ledger.exact:
        return found
    ways = frozenset((run.letter, run.symptom) for at in (0, len(ledger) - 1) for run in ledger.runs(at))
    return replace(found, question=replace(found.question, among=ways))


def _compared(ledger: Ledger) -> Ends:
    last = len(ledger) - 1
    old, new = ledger.pooled(0), ledger.pooled(last)
    if last in ledger.twins(0) and (old.runs or new.runs):
        return Ends(question=Question(new.letter, but=True))
    few = tuple(at for at in (0, last) if unconfirmed(ledger.runs(at)))
    if few:
        return Ends(few)
    if _unanimous(old) and _unanimous(new):
        return _steady(old, new, last)
    return _unsteady(old, new, last)


def unconfirmed(runs: Sequence[Run]) -> bool:
    """Whether what these runs say must be seen again before it is told."""
    return len(runs) < (SLOW_CONFIRMED if _slow(runs) else CONFIRMED)


def _slow(runs: Sequence[Run]) -> bool:
    return any(run.seconds > SLOW_SECONDS for run in runs)


def _unanimous(record: Record) -> bool:
    return len({run.letter for run in record.runs}) == 1


def _steady(old: Record, new: Record, last: int) -> Ends:
    if old.letter != new.letter:
        return Ends(question=_question(old.letter, new.letter), differ=True)
    few = tuple(at for at, record in ((0, old), (last, new)) if len(record.runs) < ALIKE)
    if old.letter == PASS and few and not _slow((*old.runs, *new.runs)):
        return Ends(few)
    return Ends(question=Question(new.letter, but=True))


def _question(old: str, new: str) -> Question:
    """Where one end passes, passing is what matters; else the newer end's letter."""
    return Question(PASS, but=True) if old == PASS else Question(new)


def _unsteady(old: Record, new: Record, last: int) -> Ends:
    passes = any(run.letter == PASS for run in (*old.runs, *new.runs))
    asked = Question(PASS, but=True) if passes else Question(new.letter)
    before, after = count(old.runs, asked), count(new.runs, asked)
    more = after.shown * before.runs > before.shown * after.runs
    high, low = (after, before) if more else (before, after)
    if _alike(high.shown, high.runs, low.shown, low.runs) < _DOUBT:
        return Ends(question=asked if more else Question(asked.letter, but=not asked.but), differ=True)
    if max(len(old.runs), len(new.runs)) >= _MOST:
        return Ends(question=asked)
    return Ends((0,) if len(old.runs) < len(new.runs) else (last,))


def _alike(shown: int, runs: int, other_shown: int, other_runs: int) -> float:
    """Fisher's exact test, one-sided: how likely builds that are alike would differ so much."""
    total, marked = runs + other_runs, shown + other_shown
    ways = [math.comb(runs, k) * math.comb(other_runs, marked - k) for k in range(shown, min(runs, marked) + 1)]
    return sum(ways) / math.comb(total, marked)
