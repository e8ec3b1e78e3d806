"""A hunt: a campaign whose verdicts are recorded as they come, so that a kill loses nothing.

Resuming means beginning the same campaign again: pairs that have a result are not run twice, and bugs
wait in their state for the next step (triage/pipeline.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from fuzz import validity
from fuzz.campaign import Campaign, Policy
from fuzz.case import Case, Failure, Origin, Stage, Status, Target, Verdict
from fuzz.generators import Skip
from fuzz.judge import Judge
from fuzz.ranking.history import Meaning, meaning
from fuzz.runner import Runner
from triage import recognising
from triage.jury import Jury
from triage.localize import order
from triage.reaching import Reach
from triage.recognising import Recognised
from triage.records import CampaignInfo, Lesson, NewFailure, Result
from triage.signing import Signer
from triage.store import Store

#: What a result without a failure is recognised by.
_NOTHING = Recognised("", ())


@dataclass(frozen=True)
class Progress:
    """How far a hunt has come: results so far (pairs of case and target) and failures among them."""

    results: int
    failures: int


def hunt(
    store: Store,
    campaign: CampaignInfo,
    source: Iterable[Case | Skip],
    targets: Sequence[Target],
    reference: Target,
    runner: Runner,
    policy: Policy,
    tell: Callable[[Progress], None] = lambda progress: None,
    learn: Callable[[str, Status, str, Collection[str]], None] = lambda case_id, status, key, suspects: None,
    keep: Callable[[], None] = lambda: None,
    recognise: Callable[[NewFailure], Recognised] = recognising.fingerprint,
    mean: Callable[[Case], Meaning] = meaning,
) -> bool:
    """Run the source on the targets and record every chunk; true when the source was exhausted.

    `learn` is told of every result: the case's id, its status, by what a failure is recognised, and its suspects.
    `keep` is called once all results of a chunk were told: an interrupted process may have seconds to end. `mean` tells
    what a case stands for, which is kept for later campaigns with its results.
    """
    done = store.done(campaign.id)
    signer, judge, reach = Signer(runner), Judge(runner, reference), Reach(runner)
    results, failures = len(done), 0
    for chunk in Campaign(runner, targets, reference, policy).run(source, lambda c, t: (c, t) in done):
        rows = [row for entry in chunk for row in _results(entry, targets)]
        found = [entry.failure for entry in chunk if isinstance(entry, Verdict) and entry.failure]
        found += _against_reference(chunk, Jury(runner, reference))
        shown = [order.minimised(judge, failure, policy.deadline) for failure in found]
        described = [signer.describe(failure) for failure in shown]
        shorter = [new for new, old in zip(shown, found, strict=True) if new.target != old.target]
        written = [*rows, *map(_with_fewer_passes, shorter)]
        reached = reach.of(each for each in chunk if isinstance(each, Verdict))
        store.record(campaign.id, written, described, lessons=_lessons(chunk, mean), reached=reached)
        bugs = {(old.case.id, old.target.id): recognise(new) for old, new in zip(found, described, strict=True)}
        for row in rows:
            known_by = bugs.get((row.case_id, row.target_id), _NOTHING)
            learn(row.case_id, row.status, known_by.key, known_by.operators)
        keep()
        results += len(rows)
        failures += len(found)
        tell(Progress(results, failures))
    return not policy.over()


def _lessons(chunk: Sequence[Verdict | Skip], mean: Callable[[Case], Meaning]) -> list[Lesson]:
    """What the chunk's verdicts are about. A mutant stands for itself: it may differ in what it shows."""
    verdicts = [entry for entry in chunk if isinstance(entry, Verdict) and entry.outcome is not None]
    meanings = {case.id: mean(case) for case in {entry.case.id: entry.case for entry in verdicts}.values()}
    return [Lesson(each.case.id, each.target.id, each.target.backend, meanings[each.case.id]) for each in verdicts]


def _against_reference(chunk: Sequence[Verdict | Skip], jury: Jury) -> list[Failure]:
    """Failures of the reference: cases that only its evaluator cannot take, and two compilers can."""
    refused = {
        entry.case.id: entry.case
        for entry in chunk
        if isinstance(entry, Verdict) and not entry.failure and entry.reason.startswith(validity.REJECTED)
    }
    found = [jury.examine(case, jury.reference).failure for case in refused.values()]
    return [failure for failure in found if failure is not None]


def _results(entry: Verdict | Skip, targets: Sequence[Target]) -> list[Result]:
    if isinstance(entry, Skip):
        key = skip_id(entry.origin)
        return [Result(key, target.id, entry.origin, Status.SKIPPED, Stage.START, entry.reason) for target in targets]
    outcome = entry.outcome
    return [
        Result(
            case_id=entry.case.id,
            target_id=entry.target.id,
            origin=entry.case.origin,
            status=entry.status,
            stage=outcome.stage if outcome else Stage.START,
            reason=entry.reason,
            seconds=outcome.seconds if outcome else 0.0,
            peak_mb=outcome.peak_mb if outcome else 0.0,
        )
    ]


def _with_fewer_passes(failure: Failure) -> Result:
    """What a case does after the guilty passes alone: its failure is kept so, not after the sequence that was drawn."""
    case, outcome = failure.case, failure.outcome
    told = (case.origin, outcome.status, outcome.stage, "", outcome.seconds, outcome.peak_mb)
    return Result(case.id, failure.target.id, *told)


def skip_id(origin: Origin) -> str:
    """The id under which a test without a case is counted: 16 hex digits, as for cases."""
    return hashlib.sha256(f"skip\0{origin.generator}\0{origin.test}\0{origin.variant}".encode()).hexdigest()[:16]
