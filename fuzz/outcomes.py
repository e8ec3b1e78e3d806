"""A worker's reply as an Outcome: how cases end, honest refusals and failed allocations told apart."""

from __future__ import annotations

from dataclasses import replace

from fuzz import registry, unsupported, watching
from fuzz.case import Error, Frame, Outcome, Stage, Status, Target
from fuzz.limits import Reply

_OUT_OF_MEMORY_TYPES = ("MemoryError", "numpy._core._exceptions._ArrayMemoryError")
#: How libraries word a failed allocation that they do not raise as MemoryError.
_OUT_OF_MEMORY_TEXTS = (
    "std::bad_alloc",
    "bad allocation",
    "can't allocate memory",
    "Cannot allocate memory",
    "Failed to allocate memory",
)


def _tried(told: object) -> tuple[str, ...]:
    """What a worker says that its case reached for; a worker's words are anybody's."""
    return tuple(kind for kind in watching.KINDS if kind in told) if isinstance(told, list) else ()


def ended(reply: Reply, target: Target) -> Outcome:
    """What a case did, from what its worker said or how it died."""
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


#: A call that its library does not have (another release than the reference's) reaches no compiler.
_UNBUILT = "fuzz.instance_values.InstanceError"


def _exception_status(error: Error, stage: Stage, target: Target) -> Status:
    if error.type == "fuzz.wire.CannotFeed" or (error.type == _UNBUILT and target.backend != "reference"):
        return Status.SKIPPED
    if error.type in _OUT_OF_MEMORY_TYPES or any(text in error.message for text in _OUT_OF_MEMORY_TEXTS):
        return Status.OOM
    known = registry.backend(target.backend).refuses_as
    return Status.UNSUPPORTED if unsupported.reason(known, error, stage) else Status.EXCEPTION
