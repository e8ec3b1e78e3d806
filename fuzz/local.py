"""The pool of this machine: warm workers, one lane per slot and interpreter.

Safe to use from several threads: each borrows a lane of its target and gives it back.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from fuzz import registry
from fuzz.case import Case, Outcome, Target
from fuzz.lane import Lane
from fuzz.limits import Job, Limits, Recycling, Reply
from fuzz.outcomes import ended
from fuzz.pools import Ran
from fuzz.zygote import BackendUnavailable, BaseZygote, Zygote, ZygoteGone

#: How many earlier cases of a worker are suspected when its death does not repeat.
SUSPECTS = 32
#: How often in a row a zygote may die under us before the backend counts as unavailable.
_MOST_LOSSES = 5


@dataclass(frozen=True)
class Interpreter:
    """Where a zygote runs: which backend source under which Python ("" means our own)."""

    backend: str
    python: str
    kind: str = ""  # the kind of case that it has imported more for
    confined: bool = False


class LocalPool:
    """Runs cases in isolated workers of this machine, at most `jobs` at once (default: the cores it may use)."""

    def __init__(self, limits: Limits, jobs: int | None = None, recycling: Recycling | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self._limits, self._recycling = limits, recycling
        self._lock = threading.Lock()
        self._starting: dict[Interpreter, threading.Lock] = defaultdict(threading.Lock)
        self._bases: dict[Interpreter, BaseZygote] = {}
        self._idle: dict[Interpreter, list[Lane]] = defaultdict(list)
        self._histories: WeakKeyDictionary[Lane, deque[Case]] = WeakKeyDictionary()

    def close(self) -> None:
        """End every worker and zygote."""
        with self._lock:
            lanes = [lane for lanes in self._idle.values() for lane in lanes]
            bases = list(self._bases.values())
            self._idle.clear()
            self._bases.clear()
        _end(lanes, bases)

    def forget(self, target: Target) -> None:
        """End the workers of a target's interpreter."""
        python = target.revision.python
        with self._lock:
            done = [key for key in {*self._idle, *self._bases} if key.python == python]
            lanes = [lane for key in done for lane in self._idle.pop(key, [])]
            bases = [self._bases.pop(key) for key in done if key in self._bases]
        _end(lanes, bases)

    def batch(self, cases: Sequence[Case], target: Target) -> Iterator[Ran]:
        """What each case did, in order, all by one warm worker at a time."""
        for kind, alike in itertools.groupby(cases, key=lambda case: case.kind):
            yield from self._run_alike(list(alike), target, kind)

    def _run_alike(self, cases: Sequence[Case], target: Target, kind: str) -> Iterator[Ran]:
        jobs = [_job(case, target) for case in cases]
        done = losses = 0
        prompt = False  # a parent that died took answers with it: each job must answer before the next
        while done < len(jobs):
            try:
                with self._lane(target, kind) as lane:
                    history = self._histories.setdefault(lane, deque(maxlen=SUSPECTS))
                    for reply in lane.run(jobs[done:], prompt):
                        before = tuple(history) if reply.death else ()
                        if reply.death:
                            history.clear()
                        else:
                            history.append(cases[done])
                        done += 1
                        losses = 0
                        if reply.death == "orphaned":  # whose fault it was is seen alone
                            yield Ran(self.alone(cases[done - 1], target), before)
                        else:
                            yield Ran(ended(reply, target), before)
            except ZygoteGone as problem:  # a case killed it: go on with another
                losses = _count_loss(losses, problem)
                prompt = True

    def alone(self, case: Case, target: Target, perturb: int | None = None, limits: Limits | None = None) -> Outcome:
        """One case in a process that has run nothing else, which must also exit in peace."""
        header, model, inputs = _job(case, target)
        job = ({**header, "perturb": perturb}, model, inputs)
        return ended(self._run_alone(job, target, case.kind, limits), target)

    def ask(self, target: Target, question: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """A backend's answer to a question. Raises BackendUnavailable with the reason it gives.

        A process that dies over it is no answer yet: it may have been the machine, and an unanswered question gives a
        failure another signature.
        """
        job: Job = {**question, "kind": "", "options": {}}, b"", {}
        reply = self._run_alone(job, target, kind)
        if reply.death:
            reply = self._run_alone(job, target, kind)
        if reply.death:
            raise BackendUnavailable(
                f"died when asked for its {question['op']}: {reply.death} {reply.stderr[-500:]}".strip()
            )
        if "error" in reply.header:
            error = reply.header["error"]
            raise BackendUnavailable(f"{error['type']}: {error['message']}")
        return reply.header

    def _run_alone(self, job: Job, target: Target, kind: str, limits: Limits | None = None) -> Reply:
        losses = 0
        while True:
            try:
                with self._lane(target, kind) as lane:
                    return lane.run_alone(job, limits)
            except ZygoteGone as problem:
                losses = _count_loss(losses, problem)

    @contextmanager
    def _lane(self, target: Target, kind: str) -> Iterator[Lane]:
        """Borrow a lane; one that failed is closed instead of given back."""
        backend = registry.backend(target.backend)
        warmed = backend.warmed(kind, dict(target.options))
        interpreter = Interpreter(backend.source, target.revision.python, warmed, target.revision.untrusted)
        with self._lock:
            lane = self._idle[interpreter].pop() if self._idle[interpreter] else None
        lane = lane or Lane(self._clone(interpreter), self._limits, self._recycling)
        finished = False
        try:
            yield lane
            finished = lane.usable
        finally:
            # A batch that was abandoned half-way has left jobs in its worker's pipe.
            if finished:
                with self._lock:
                    self._idle[interpreter].append(lane)
            else:
                lane.close()

    def _clone(self, interpreter: Interpreter) -> Zygote:
        with self._starting[interpreter]:
            base = self._bases.get(interpreter)
            if base is not None:
                try:
                    return base.clone()
                except ZygoteGone:
                    base.close()
            base = BaseZygote(interpreter.backend, interpreter.python, interpreter.kind, interpreter.confined)
            with self._lock:
                self._bases[interpreter] = base
            return base.clone()


def _end(lanes: Sequence[Lane], bases: Sequence[BaseZygote]) -> None:
    for lane in lanes:
        lane.close()
    for base in bases:
        base.close()


def _count_loss(losses: int, problem: ZygoteGone) -> int:
    if losses >= _MOST_LOSSES:
        raise BackendUnavailable(f"its process dies again and again: {problem}") from problem
    return losses + 1


def _job(case: Case, target: Target) -> Job:
    header = {"op": "run", "kind": case.kind, "options": dict(target.options)}
    return header, case.model, dict(case.inputs)
