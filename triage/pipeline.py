"""One step per state: what turns a NEW bug into a DRAFTED one. The row is the queue.

A step does its work, saves and returns; after a kill the bug is still in the state whose step has not
finished, and that step is done again. Steps of different bugs may run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from triage.lifecycle import State
from triage.records import Bug
from triage.steps import locating
from triage.steps.confirming import confirm
from triage.steps.desk import Desk, Step
from triage.steps.hearing import hear
from triage.steps.reducing import reduce_bug
from triage.steps.writing import draft
from triage.store import Conflict

#: What maintainers want to hear about first.
_URGENCY = ("crash", "hang", "oom", "wrong", "exception", "dies-on-invalid", "asserts-on-invalid", "accepts-invalid")


def _with_others(step: Callable[[Desk, Bug], Sequence[int]]) -> Step:
    """A step after which the new bugs go on by themselves that it came across."""

    def taken(desk: Desk, bug: Bug) -> None:
        for number in step(desk, bug):
            other = desk.store.bug(number)
            if other.state is State.NEW:
                advance(desk, other)

    return taken


#: The pipeline, shown once.
STEPS: Mapping[State, Step] = {
    State.NEW: confirm,
    State.CONFIRMED: _with_others(reduce_bug),
    State.REDUCED: _with_others(locating.locate),
    State.LOCATED: hear,
    State.JUDGED: draft,
    State.DUPLICATE: locating.rejoin,
}


def advance_all(desk: Desk, bugs: Sequence[Bug], tell: Callable[[Bug], None] = lambda bug: None) -> None:
    """Take every bug through its steps, urgent ones first, until all are done or the time is over."""
    seen: set[int] = set()
    waiting = sorted((bug for bug in bugs if bug.state in STEPS), key=_urgency)
    with ThreadPoolExecutor(desk.runner.jobs, "triage") as pool:
        while waiting:
            seen |= {bug.id for bug in waiting}
            for finished in pool.map(lambda bug: advance(desk, bug), waiting):
                tell(finished)
            found = desk.store.bugs([State.NEW])  # what the others' steps came across
            waiting = [] if desk.over() else sorted((bug for bug in found if bug.id not in seen), key=_urgency)


def advance(desk: Desk, bug: Bug, tell: Callable[[Bug], None] = lambda bug: None) -> Bug:
    """Take one bug through its steps until none is due or the time is over; `tell` hears of it before each.

    What `tell` raises comes through.
    """
    while bug.state in STEPS and not desk.over():
        tell(bug)
        before = bug.state
        try:
            _step(bug)(desk, bug)
        except Conflict:
            # Another process works on the same database and was faster with this bug.
            return desk.store.bug(bug.id)
        bug = desk.store.bug(bug.id)
        if bug.state is before:
            break
    return bug


def _step(bug: Bug) -> Step:
    """The step that is due. A reduced bug's may need no failure of its own: it may have been half merged."""
    lost = bug.best_failure_id is None and bug.state in (State.NEW, State.CONFIRMED, State.LOCATED, State.JUDGED)
    return put_aside if lost else STEPS[bug.state]


def put_aside(desk: Desk, bug: Bug) -> None:
    """Any state: a bug without a failure cannot be judged."""
    desk.store.advance(bug.id, bug.state, State.STALE, note="all its failures turned out to be another bug's")


def _urgency(bug: Bug) -> tuple[int, int, int]:
    kind = bug.symptom.partition(":")[0]
    return (_URGENCY.index(kind) if kind in _URGENCY else len(_URGENCY), -bug.count, bug.id)
