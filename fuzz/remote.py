"""A pool of other machines: cases go out as bytes to an executor, outcomes come back as bytes.

A machine that ends takes requests along, and one of their cases may have ended it. So every case of a lost batch is run
in a request of its own while no other suspect runs, and if that machine ends too, while nothing else runs anywhere:
machines end for reasons of their own, and busy ones more often. One that ends that machine, too, is given up.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from typing import Any, Protocol

from fuzz import host, parcels, wire
from fuzz.case import Case, Error, Outcome, Stage, Status, Target
from fuzz.limits import Limits
from fuzz.parcels import Request, Unreadable
from fuzz.pools import Ran
from fuzz.turns import Turns
from fuzz.zygote import BackendUnavailable

#: Seconds between two looks at whether there is still a machine to wait for.
_LOOK = 5.0
#: Bytes of cases in one request, unless one case alone has more.
_MOST_BYTES = 4 << 20


class HostLost(RuntimeError):
    """The machine that had a request has ended; nobody knows whether because of it."""


class Hosts(Protocol):
    """Machines behind a `concurrent.futures.Executor` that calls `fuzz.host.perform`."""

    @property
    def slots(self) -> int:
        """How many requests they run at once, now."""

    def submit(self, request: bytes, tags: Sequence[str]) -> Future[bytes]:
        """Have a machine that offers all `tags` answer a request.

        The future raises HostLost, or CancelledError where the request was forgotten and may be submitted again.
        """

    def check(self, tags: Sequence[str]) -> None:
        """Raise BackendUnavailable where no machine ever offered `tags`, or none has been seen for too long."""

    def close(self) -> None:
        """Let the machines go."""


class RemotePool:
    """Runs cases in the isolated workers of other machines. `tags` are asked of every machine."""

    def __init__(self, hosts: Hosts, limits: Limits, tags: Sequence[str] = ()) -> None:
        self._hosts, self._limits, self._tags = hosts, limits, tuple(tags)
        self._suspects, self._turns = threading.Lock(), Turns()

    @property
    def jobs(self) -> int:
        """More than run at once: while the campaign reads an answer, the machine is at the next request."""
        return 2 * self._hosts.slots

    def batch(self, cases: Sequence[Case], target: Target) -> Iterator[Ran]:
        """What each case did, in order, those of one request by one warm worker at a time."""
        for together in _parcelled(cases):
            yield from self._batch(together, target)

    def _batch(self, cases: Sequence[Case], target: Target) -> list[Ran]:
        try:
            return _ran(self._answer_beside(self._request("batch", target, cases=tuple(cases))), len(cases))
        except HostLost:
            return [self._suspect(self._request("batch", target, cases=(case,))) for case in cases]
        except wire.WireError as error:
            if len(cases) > 1:
                return [ran for case in cases for ran in self._batch([case], target)]
            return [Ran(_skipped("fuzz.wire.WireError", str(error)))]

    def alone(self, case: Case, target: Target, perturb: int | None = None, limits: Limits | None = None) -> Outcome:
        """One case in a process that has run nothing else, on any machine."""
        request = self._request("alone", target, cases=(case,), perturb=perturb, own=limits)
        try:
            return _ran(self._answer_beside(request), 1)[0].outcome
        except HostLost:
            return self._suspect(request).outcome

    def ask(self, target: Target, question: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """A backend's answer to a question, from any machine."""
        request = self._request("ask", target, question=question, kind=kind)
        try:
            answer: bytes | None = self._answer_beside(request)
        except HostLost:
            answer = self._retried(request)
        if answer is None:
            raise BackendUnavailable(f"no host survives being asked for its {question['op']}")
        return parcels.document_from(answer)

    def forget(self, target: Target) -> None:
        """Nothing: machines keep the workers of few interpreters."""

    def close(self) -> None:
        """Let the machines go."""
        self._hosts.close()

    def _request(self, op: str, target: Target, **more: Any) -> Request:
        return Request(op, target, self._limits, file=host.digest(target.backend), **more)

    def _suspect(self, request: Request) -> Ran:
        """One case that may have ended a machine."""
        if (answer := self._retried(request)) is not None:
            return _ran(answer, 1)[0]
        told = "the last of three hosts that ended over it ran nothing else: run it alone to see"
        return Ran(_skipped("fuzz.remote.HostLost", told))

    def _retried(self, request: Request) -> bytes | None:
        """The answer to what may have ended a machine: while no other suspect runs, then while nothing else does."""
        with self._suspects:
            for turn in (self._turns.together, self._turns.alone):
                try:
                    with turn():
                        return self._answer(request)
                except HostLost:
                    continue
        return None

    def _answer_beside(self, request: Request) -> bytes:
        with self._turns.together():
            return self._answer(request)

    def _answer(self, request: Request) -> bytes:
        data, tags = request.pack(), self._wanted(request.target)
        while True:
            self._hosts.check(tags)
            waiting = self._hosts.submit(data, tags)
            try:
                return self._awaited(waiting, tags)
            except CancelledError:
                continue  # whoever had it in hand was restarted and remembers nothing

    def _awaited(self, waiting: Future[bytes], tags: Sequence[str]) -> bytes:
        while not wait([waiting], _LOOK).done:
            self._hosts.check(tags)
        return waiting.result()

    def _wanted(self, target: Target) -> tuple[str, ...]:
        own = host.tag(target)
        return (own, *self._tags) if own else self._tags


def _parcelled(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """The cases in their order, in parcels of a bearable size."""
    parcel, size = list[Case](), 0
    for case in cases:
        mine = len(case.model) + sum(map(wire.nbytes, itertools.chain(case.inputs.values(), case.expected or ())))
        if parcel and size + mine > _MOST_BYTES:
            yield parcel
            parcel, size = [], 0
        parcel.append(case)
        size += mine
    if parcel:
        yield parcel


def _ran(answer: bytes, expected: int) -> list[Ran]:
    try:
        found = parcels.ran_from(answer)
    except Unreadable as error:
        raise BackendUnavailable(f"a host talks nonsense: {error}") from error
    if len(found) != expected:
        raise BackendUnavailable(f"a host talks nonsense: {len(found)} answers to {expected} cases")
    return found


def _skipped(kind: str, why: str) -> Outcome:
    return Outcome(Status.SKIPPED, Stage.START, error=Error(kind, why))
