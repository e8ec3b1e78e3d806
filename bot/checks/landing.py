"""What follows from a commit that landed: new bugs to work on, issues to close, issues to open again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot import keys
from bot.checks.known import ByCase
from fuzz.case import FAILING, Failure, Status
from triage.ledger.records import NewWork
from triage.lifecycle import State
from triage.records import Bug, Result
from triage.signing import Signer
from triage.store import Store
from triage.suite.running import Ran

#: States of a bug that has a report; it may turn out to be fixed.
_REPORTED = frozenset({State.DRAFTED, State.REPORTED, State.REGRESSED})
#: States of a bug that is held for fixed; it may turn out to be back.
_FIXED = frozenset({State.FIXED, State.CLOSED})
#: Work on what landed; smaller is more urgent.
_CLOSE, _REOPEN, _TRIAGE = 30, 30, 40


@dataclass(frozen=True)
class Landed:
    """A commit, and the build before it that it was compared with ("": none). `forced`: it has replaced others."""

    project: str
    commit: str
    before: str
    forced: bool = False


def follow(landed: Landed, ran: Sequence[Ran], bugs: ByCase, cases: ByCase, met: Iterable[Bug]) -> list[NewWork]:
    """The work that follows. Pure; whoever does it looks again before anything is said.

    `ran` is what cases did on the commit, `bugs` the known bugs by their reduced cases, `cases` by all cases that they
    were seen in, `met` the bugs of new failures. A reported bug whose case passes, and that shows in no other case any
    more, may be fixed; a fixed one that fails as it did, or whose signature is met again, is back; what nobody has seen
    before is worked on. A fixed one whose case the suite did not come to is run by itself; so is one that passes where
    a forced push may have taken the fix that is known off the branch.
    """
    found: dict[tuple[str, int], NewWork] = {}
    alive = {bug.id for each in ran for bug in cases.get(each.id, ()) if _shows(each, bug)}
    for kind, bug, priority in (*_known(ran, bugs, alive), *_met(met)):
        found.setdefault((kind, bug.id), _work(kind, bug, priority, landed))
    for bug in (*_left_out(ran, bugs), *(_still_fixed(ran, bugs) if landed.forced else ())):
        if ("reopen", bug.id) not in found:
            payload = {"bug": bug.id, "revision": landed.commit}
            found["retest", bug.id] = NewWork("retest", keys.bug(bug.id), landed.project, payload, _REOPEN)
    return list(found.values())


def _shows(ran: Ran, bug: Bug) -> bool:
    return ran.status in FAILING and ran.symptom == bug.symptom


def _known(ran: Iterable[Ran], bugs: ByCase, alive: Collection[int]) -> Iterator[tuple[str, Bug, int]]:
    for each, bug in ((one, bug) for one in ran for bug in bugs.get(one.id, ())):
        if each.status is Status.OK and bug.state in _REPORTED and bug.id not in alive:
            yield "close", bug, _CLOSE
        elif _shows(each, bug) and bug.state in _FIXED:
            yield "reopen", bug, _REOPEN


def _left_out(ran: Iterable[Ran], bugs: ByCase) -> Iterator[Bug]:
    """Fixed bugs of which the suite says nothing: its time was over before, or the runs disagreed."""
    told = {each.id for each in ran}
    for case, some in bugs.items():
        yield from (bug for bug in some if case not in told and bug.state in _FIXED)


def _still_fixed(ran: Iterable[Ran], bugs: ByCase) -> Iterator[Bug]:
    for each in ran:
        if each.status is Status.OK:
            yield from (bug for bug in bugs.get(each.id, ()) if bug.state in _FIXED)


def _met(met: Iterable[Bug]) -> Iterator[tuple[str, Bug, int]]:
    for bug in met:
        if bug.state in _FIXED:
            yield "reopen", bug, _REOPEN
        elif bug.state is State.NEW:
            yield "triage", bug, _TRIAGE


def _work(kind: str, bug: Bug, priority: int, landed: Landed) -> NewWork:
    payload = {"bug": bug.id, "commit": landed.commit, "before": landed.before}
    if kind == "triage":
        payload = {"bug": bug.id, "good": landed.before, "bad": landed.commit}
    return NewWork(kind, keys.bug(bug.id), landed.project, payload, priority)


def record(store: Store, signer: Signer, landed: Landed, failures: Sequence[Failure]) -> list[Bug]:
    """Save new failures as a hunt does, under a campaign of this commit; the bugs that they show.

    The same again changes nothing.
    """
    if not failures:
        return []
    campaign = store.begin_campaign({"suite": landed.project, "commit": landed.commit, "before": landed.before})
    results = [
        Result(
            case_id=failure.case.id,
            target_id=failure.target.id,
            origin=failure.case.origin,
            # A run that came to its end is a failure by its values.
            status=failure.outcome.status if failure.outcome.status in FAILING else Status.WRONG,
            stage=failure.outcome.stage,
            reason=failure.detail,
            seconds=failure.outcome.seconds,
            peak_mb=failure.outcome.peak_mb,
        )
        for failure in failures
    ]
    store.record(campaign.id, results, [signer.describe(failure) for failure in failures])
    store.finish_campaign(campaign.id)
    return store.bugs(campaign_id=campaign.id)


def apart(
    store: Store, ran: Sequence[Ran], bugs: ByCase, cases: ByCase, failures: Sequence[Failure], met: Iterable[Bug]
) -> list[Bug]:
    """The bugs that new failures are, where a signature that is known has another cause this time.

    A bug that has its report, and whose reduced case passes on this very commit, is not what fails there: that is
    another bug which was seen in the same case, or else a new one, made here. `bugs` and `cases` as in `follow`, read
    after `record`; it may be done again.
    """
    found: dict[int, Bug] = {}
    passing = {bug.id for each in ran if each.status is Status.OK for bug in bugs.get(each.id, ())}
    for bug in met:
        if bug.state in _REPORTED | _FIXED and bug.id in passing:
            found.update((one.id, one) for one in _others(store, bug, cases, failures))
        else:
            found[bug.id] = bug
    return list(found.values())


def _others(store: Store, bug: Bug, cases: ByCase, failures: Sequence[Failure]) -> Iterator[Bug]:
    seen = {(one.case.id, one.target.id): one for one in failures}
    strangers = []
    for number in store.failure_ids(bug.id):
        stored = store.failure(number).failure
        if (stored.case.id, stored.target.id) not in seen:
            continue
        known = [one for one in cases.get(stored.case.id, ()) if one.id != bug.id and one.symptom == stored.symptom]
        yield from known
        strangers += [] if known else [number]
    if strangers:
        yield store.bug(store.split(bug.id, strangers, "its reduced case passes on the same commit"))
