"""run(case, target) -> Outcome: a pool of warm workers, one lane per slot and target.

The pool is safe to use from several threads: each borrows a lane of its target and gives it back.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from weakref import WeakKeyDictionary

from fuzz import registry, unsupported, watching
from fuzz.case import Case, Error, Frame, Outcome, Stage, Status, Target
from fuzz.lane import Job, Lane, Limits, Recycling, Reply
from fuzz.zygote import BackendUnavailable, BaseZygote, Zygote, ZygoteGone

#: How many earlier cases of a worker are suspected when its death does not repeat.
SUSPECTS = 32
#: How often in a row a zygote may die under us before the backend counts as unavailable.
_MOST_LOSSES = 5
#: An operator as a backend's registry is asked for it: (domain, operator type, opset).
Operator = tuple[str, str, int]
_OUT_OF_MEMORY_TYPES = ("MemoryError", "numpy._core._exceptions._ArrayMemoryError")
#: How libraries word a failed allocation that they do not raise as MemoryError.
_OUT_OF_MEMORY_TEXTS = (
    "std::bad_alloc",
    "bad allocation",
    "can't allocate memory",
    "Cannot allocate memory",
    "Failed to allocate memory",
)


@dataclass(frozen=True)
class Interpreter:
    """Where a zygote runs: which backend source under which Python ("" means our own)."""

    backend: str
    python: str
    kind: str = ""  # the kind of case that it has imported more for
    confined: bool = False


class Runner:
    """Runs cases on targets in isolated workers. Use as a context manager; `close` ends all workers.

    `jobs` is how many workers may run at once (default: the cores this process may use).
    """

    def __init__(
        self, limits: Limits | None = None, jobs: int | None = None, recycling: Recycling | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self._recycling = recycling
        self._lock = threading.Lock()
        self._starting: dict[Interpreter, threading.Lock] = defaultdict(threading.Lock)
        self._bases: dict[Interpreter, BaseZygote] = {}
        self._idle: dict[Interpreter, list[Lane]] = defaultdict(list)
        self._converters: dict[tuple[str, Operator], str] = {}
        self._opsets: dict[str, int] = {}
        self._histories: WeakKeyDictionary[Lane, deque[Case]] = WeakKeyDictionary()
        self._predecessors: dict[tuple[str, str], tuple[Case, ...]] = {}

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker and zygote."""
        with self._lock:
            lanes = [lane for lanes in self._idle.values() for lane in lanes]
            bases = list(self._bases.values())
            self._idle.clear()
            self._bases.clear()
        for lane in lanes:
            lane.close()
        for base in bases:
            base.close()

    def forget(self, target: Target) -> None:
        """End the workers of a target's interpreter: a sweep over many revisions needs each only once."""
        python = target.revision.python
        with self._lock:
            done = [key for key in {*self._idle, *self._bases} if key.python == python]
            lanes = [lane for key in done for lane in self._idle.pop(key, [])]
            bases = [self._bases.pop(key) for key in done if key in self._bases]
        for lane in lanes:
            lane.close()
        for base in bases:
            base.close()

    # ------------------------------------------------------------ running

    def run(self, case: Case, target: Target) -> Outcome:
        """One case in a warm worker. A failure seen here is only a suspicion: see `run_fresh`.

        All methods that run cases raise BackendUnavailable when the backend cannot be imported.
        """
        [outcome] = self.run_batch([case], target)
        return outcome

    def run_batch(self, cases: Sequence[Case], target: Target) -> Iterator[Outcome]:
        """One Outcome per case, in order, all by one warm worker at a time."""
        for kind, alike in itertools.groupby(cases, key=lambda case: case.kind):
            yield from self._run_alike(list(alike), target, kind)

    def _run_alike(self, cases: Sequence[Case], target: Target, kind: str) -> Iterator[Outcome]:
        jobs = [_job(case, target) for case in cases]
        done = losses = 0
        prompt = False  # a parent that died took answers with it: each job must answer before the next
        while done < len(jobs):
            try:
                with self._lane(target, kind) as lane:
                    history = self._histories.setdefault(lane, deque(maxlen=SUSPECTS))
                    for reply in lane.run(jobs[done:], prompt):
                        if reply.death:
                            self._predecessors[cases[done].id, target.id] = tuple(history)
                            history.clear()
                        else:
                            history.append(cases[done])
                        done += 1
                        losses = 0
                        if reply.death == "orphaned":  # whose fault it was is seen alone
                            yield self.run_fresh(cases[done - 1], target)
                        else:
                            yield _outcome(reply, target)
            except ZygoteGone as problem:  # a case killed it: go on with another
                losses = _count_loss(losses, problem)
                prompt = True

    def run_fresh(
        self, case: Case, target: Target, *, perturb: int | None = None, limits: Limits | None = None
    ) -> Outcome:
        """One case in a process that has run nothing else, which must also exit in peace.

        With `perturb`, freed and fresh heap memory is filled with that byte (mallopt M_PERTURB), so
        that a result that reads uninitialised memory changes the same way each time. `limits` take the
        place of the runner's own.
        """
        header, model, inputs = _job(case, target)
        job = ({**header, "perturb": perturb}, model, inputs)
        return _outcome(self._run_alone(job, target, case.kind, limits), target)

    def _run_alone(self, job: Job, target: Target, kind: str, limits: Limits | None = None) -> Reply:
        losses = 0
        while True:
            try:
                with self._lane(target, kind) as lane:
                    return lane.run_alone(job, limits)
            except ZygoteGone as problem:
                losses = _count_loss(losses, problem)

    def predecessors(self, case: Case, target: Target) -> tuple[Case, ...]:
        """The cases that ran before `case` in the worker that died under it; each is told once."""
        return self._predecessors.pop((case.id, target.id), ())

    # ------------------------------------------------------------ asking

    def devices(self, target: Target) -> list[str]:
        """The backend's device names. Raises BackendUnavailable with the reason it gives."""
        reply = self._ask(target, {"op": "devices", "kind": "", "options": {}}, "")
        return [str(name) for name in reply["devices"]]

    def converters(self, target: Target, operators: Sequence[Operator]) -> list[str]:
        """Names of the functions that convert `operators` in this compiler, "" when unknown."""
        key = f"{target.backend}@{target.revision.version}"
        missing = [entry for entry in dict.fromkeys(operators) if (key, entry) not in self._converters]
        if missing:
            kind = {"torch": "instance", "keras": "keras"}.get(missing[0][0], "onnx")
            reply = self._ask(target, {"op": "converters", "kind": "", "options": {}, "operators": missing}, kind)
            self._converters |= {
                (key, entry): str(name) for entry, name in zip(missing, reply["converters"], strict=True)
            }
        return [self._converters[key, entry] for entry in operators]

    def newest_opset(self, target: Target) -> int:
        """The newest operator set of ONNX that this compiler knows, 0 where it does not say."""
        key = f"{target.backend}@{target.revision.version}"
        if key not in self._opsets:
            reply = self._ask(target, {"op": "opset", "kind": "", "options": {}}, "")
            self._opsets[key] = int(str(reply["opset"]))
        return self._opsets[key]

    def _ask(self, target: Target, header: dict[str, object], kind: str) -> dict[str, list[object]]:
        reply = self._run_alone((header, b"", {}), target, kind)
        if reply.death:
            raise BackendUnavailable(
                f"died when asked for its {header['op']}: {reply.death} {reply.stderr[-500:]}".strip()
            )
        if "error" in reply.header:
            error = reply.header["error"]
            raise BackendUnavailable(f"{error['type']}: {error['message']}")
        return reply.header

    # ------------------------------------------------------------ lanes

    @contextmanager
    def _lane(self, target: Target, kind: str) -> Iterator[Lane]:
        """Borrow a lane; one that failed is closed instead of given back."""
        backend = registry.backend(target.backend)
        warmed = backend.warmed(kind, dict(target.options))
        interpreter = Interpreter(backend.source, target.revision.python, warmed, target.revision.untrusted)
        with self._lock:
            lane = self._idle[interpreter].pop() if self._idle[interpreter] else None
        lane = lane or Lane(self._clone(interpreter), self.limits, self._recycling)
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


def _count_loss(losses: int, problem: ZygoteGone) -> int:
    if losses >= _MOST_LOSSES:
        raise BackendUnavailable(f"its process dies again and again: {problem}") from problem
    return losses + 1


def _job(case: Case, target: Target) -> Job:
    header = {"op": "run", "kind": case.kind, "options": dict(target.options)}
    return header, case.model, dict(case.inputs)


def _tried(told: object) -> tuple[str, ...]:
    """What a worker says that its case reached for; a worker's words are anybody's."""
    return tuple(kind for kind in watching.KINDS if kind in told) if isinstance(told, list) else ()


def _outcome(reply: Reply, target: Target) -> Outcome:
    """A worker's reply as an Outcome, honest refusals and failed allocations told apart."""
    outcome = Outcome(
        status=Status.OK,
        stage=Stage(reply.stage),
        seconds=reply.seconds,
        peak_mb=reply.peak_mb,
        tried=_tried(reply.header.get("tried")),
    )
    if reply.death:
        return _death(outcome, reply)
    if "error" in reply.header:
        return _exception(outcome, reply, target)
    if "unencodable" in reply.header:
        error = Error(type="fuzz.wire.WireError", message=reply.header["unencodable"])
        return replace(outcome, status=Status.SKIPPED, error=error)
    names = reply.header["names"]
    return replace(outcome, outputs=tuple(zip(names, reply.values.values(), strict=True)))


def _death(outcome: Outcome, reply: Reply) -> Outcome:
    kind, _, detail = reply.death.partition(":")
    if kind == "signal":
        status = Status.OOM if any(text in reply.stderr for text in _OUT_OF_MEMORY_TEXTS) else Status.SIGNAL
        return replace(outcome, status=status, error=Error(signal=detail, stderr=reply.stderr))
    if kind in ("timeout", "oom"):
        return replace(outcome, status=Status(kind), error=Error(message=_OVERSTEPPED[kind], stderr=reply.stderr))
    message = f"the process exited with status {detail}" if kind == "exit" else _OVERSTEPPED[kind]
    return replace(outcome, status=Status.EXCEPTION, error=Error("Exit", message, stderr=reply.stderr))


_OVERSTEPPED = {
    "timeout": "did not end within the time limit",
    "oom": "used more memory than the limit",
    "processes": "started too many processes",
    "garbage": "wrote over the worker's result pipe",
    "orphaned": "killed the worker's parent process",
}


def _exception(outcome: Outcome, reply: Reply, target: Target) -> Outcome:
    told = reply.header["error"]
    error = Error(
        type=told["type"],
        message=told["message"],
        frames=tuple(Frame(file, line, function) for file, line, function in told["frames"]),
        stderr=reply.stderr,
        operator=told["operator"],
        conversion_function=told["function"],
    )
    return replace(outcome, status=_exception_status(error, outcome.stage, target), error=error)


def _exception_status(error: Error, stage: Stage, target: Target) -> Status:
    if error.type == "fuzz.wire.CannotFeed":
        return Status.SKIPPED
    if error.type in _OUT_OF_MEMORY_TYPES or any(text in error.message for text in _OUT_OF_MEMORY_TEXTS):
        return Status.OOM
    name = registry.backend(target.backend).name
    return Status.UNSUPPORTED if unsupported.reason(name, error, stage) else Status.EXCEPTION
