"""What passes between the campaign and other machines: requests and answers as frames of `fuzz.wire`.

Neither side evaluates what it reads. Answers repeat what compilers' processes said, so they are hostile data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fuzz import documents, wire
from fuzz.case import Case, Outcome, Target
from fuzz.limits import Limits
from fuzz.pools import Ran
from fuzz.wire import Value, WireError
from fuzz.zygote import BackendUnavailable

_EXPECTED = "expected:"
_INPUT = "input:"


class Unreadable(ValueError):
    """A parcel that the other side cannot have meant."""


@dataclass(frozen=True)
class Request:
    """What a machine is asked to do: `op` is ``batch``, ``alone`` (one case), or ``ask`` (no case).

    `limits` are the runner's, `own` those that take their place for one case. `file` is the digest of a backend that
    is named by a path.
    """

    op: str
    target: Target
    limits: Limits
    cases: tuple[Case, ...] = ()
    perturb: int | None = None
    own: Limits | None = None
    question: Mapping[str, Any] | None = None
    kind: str = ""
    file: str = ""

    def pack(self) -> bytes:
        """As bytes. Raises WireError for a case with a value that has no wire form."""
        told = {name: getattr(self, name) for name in ("op", "perturb", "question", "kind", "file")}
        own = asdict(self.own) if self.own else None
        header = told | {"target": asdict(self.target), "limits": asdict(self.limits), "own": own}
        return wire.pack(header, {}) + b"".join(map(_packed, self.cases))


def request_from(data: bytes) -> Request:
    """The request in bytes. Raises Unreadable."""
    try:
        first, *frames = wire.Unpacker().feed(data)
        told = dict(first.header)
        told["target"] = documents.target_from(told["target"])
        told["limits"] = Limits(**told["limits"])
        told["own"] = Limits(**told["own"]) if told["own"] else None
        return Request(**told, cases=tuple(map(_case, frames)))
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"a request that makes no sense: {error}") from error


def pack_ran(ran: Sequence[Ran]) -> bytes:
    """The answer to a batch or to one case."""
    return b"".join(part for each in ran for part in (_outcome(each), *map(_packed, each.before)))


def ran_from(data: bytes) -> list[Ran]:
    """The outcomes in an answer. Raises BackendUnavailable where it says so, and Unreadable."""
    frames = _frames(data)
    try:
        return list(_ran(iter(frames)))
    except (KeyError, TypeError, ValueError, StopIteration, RuntimeError) as error:
        raise Unreadable(f"an answer that makes no sense: {error}") from error


def pack_document(document: Mapping[str, Any]) -> bytes:
    """The answer to a question."""
    return wire.pack({"document": dict(document)}, {})


def document_from(data: bytes) -> Mapping[str, Any]:
    """The answer to a question. Raises BackendUnavailable where it says so, and Unreadable."""
    [frame] = _frames(data)
    document = frame.header.get("document")
    if not isinstance(document, dict):
        raise Unreadable("an answer without a document")
    return document


def pack_problem(problem: BackendUnavailable) -> bytes:
    """The answer of a machine on which the backend does not work."""
    return wire.pack({"unavailable": str(problem), "raised": problem.raised}, {})


def _frames(data: bytes) -> list[wire.Frame]:
    try:
        frames = list(wire.Unpacker().feed(data))
    except WireError as error:
        raise Unreadable(str(error)) from error
    if not frames:
        raise Unreadable("an empty answer")
    header = frames[0].header
    if "unavailable" in header:
        raise BackendUnavailable(str(header["unavailable"]), raised=header.get("raised") is True)
    return frames


def _packed(case: Case) -> bytes:
    values: dict[str, Value] = {_INPUT + name: value for name, value in case.inputs.items()}
    values |= {f"{_EXPECTED}{at}": value for at, value in enumerate(case.expected or ())}
    header = {"kind": case.kind, "origin": asdict(case.origin), "expects": case.expected is not None}
    return wire.pack(header, values, case.model)


def _case(frame: wire.Frame) -> Case:
    inputs = {name.removeprefix(_INPUT): each for name, each in frame.values.items() if name.startswith(_INPUT)}
    expected = tuple(each for name, each in frame.values.items() if name.startswith(_EXPECTED))
    header = frame.header
    origin = documents.origin_from(header["origin"])
    return Case(header["kind"], frame.blob, inputs, origin, expected if header["expects"] else None)


def _outcome(ran: Ran) -> bytes:
    outcome = ran.outcome
    header = documents.outcome_document(outcome) | {"tried": outcome.tried, "before": len(ran.before)}
    return wire.pack(header, {str(at): value for at, value in enumerate(outcome.values)})


def _ran(frames: Iterator[wire.Frame]) -> Iterator[Ran]:
    for frame in frames:
        outcome: Outcome = documents.outcome_from(frame.header, list(frame.values.values()))
        outcome = replace(outcome, tried=tuple(frame.header["tried"]))
        yield Ran(outcome, tuple(_case(next(frames)) for _ in range(frame.header["before"])))
