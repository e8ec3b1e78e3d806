"""The types that flow through Graphwarden: Case, Revision, Target, Outcome, Failure.

All are frozen. Values are described in `fuzz.wire`; outputs and inputs are never mutated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from fuzz import wire
from fuzz.wire import Value


class Stage(StrEnum):
    """How far a case came inside a backend (docs/architecture.md)."""

    START = "start"  # the worker, before the backend was entered
    LOAD = "load"  # reading the model or instance
    CONVERT = "convert"  # the compiler's frontend
    COMPILE = "compile"  # graph optimisation and code generation
    RUN = "run"  # executing the compiled code


class Status(StrEnum):
    """What a case did on a target. SKIPPED: nothing to judge, and the reason is always given."""

    OK = "ok"
    WRONG = "wrong"
    EXCEPTION = "exception"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    OOM = "oom"
    UNSUPPORTED = "unsupported"
    INVALID = "invalid"
    SKIPPED = "skipped"
    FLAKY = "flaky"  # failed once, not again in a fresh process


#: Statuses that count as failures of the compiler, once confirmed in a fresh process.
FAILING = frozenset({Status.WRONG, Status.EXCEPTION, Status.SIGNAL, Status.TIMEOUT, Status.OOM})


_KINDS = {"onnx": "ONNX models", "instance": "operator instances", "keras": "Keras layers"}


@dataclass(frozen=True)
class Origin:
    """Where a case comes from: generator, its seed, the source test and the parents' ids."""

    generator: str
    test: str = ""
    variant: str = "plain"
    seed: int = 0
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One test: a model, its inputs and its origin.

    `kind` is ``"onnx"`` (`model` is a serialised ModelProto, `inputs` are by graph input name) or, for an
    operator instance, ``"instance"`` (PyTorch) or ``"keras"``: `model` is then its JSON, see
    docs/instances.md, its tensors are part of the JSON, so `inputs` is empty. `expected` holds outputs
    that the source test ships, in graph output order: a second opinion beside the reference evaluator.
    """

    kind: str
    model: bytes
    inputs: Mapping[str, Value]
    origin: Origin
    expected: tuple[Value, ...] | None = field(default=None, compare=False)

    @property
    def kind_name(self) -> str:
        """The kind in the plural, as it is told to people."""
        return _KINDS.get(self.kind, self.kind)

    @cached_property
    def id(self) -> str:
        """Stable content id: 16 hex digits over kind, model and inputs (not the origin).

        Suites live for years, so this depends on no other format than what stands here.
        """
        digest = hashlib.sha256()
        for part in (self.kind.encode(), self.model, *_content(dict(self.inputs))):
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Revision:
    """One build of a compiler and the interpreter that has it ("" means our own).

    `untrusted`: its code may be anybody's, so its workers are confined (`fuzz.confine`).
    """

    version: str
    python: str = ""
    commit: str = ""
    date: str = ""
    parent: str = ""
    untrusted: bool = False


@dataclass(frozen=True)
class Target:
    """A backend at a revision with options (optimisation level, frontend, device, threads)."""

    backend: str
    revision: Revision
    options: tuple[tuple[str, str], ...] = ()

    @cached_property
    def id(self) -> str:
        """Human-readable stable id, e.g. ``onnxruntime@1.31.1[opt=off]``."""
        options = ",".join(f"{key}={value}" for key, value in sorted(self.options))
        return f"{self.backend}@{self.revision.version}" + (f"[{options}]" if options else "")


@dataclass(frozen=True)
class Frame:
    """One stack frame, outermost first in a list. `function` is the qualified name where known."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Error:
    """Why an outcome is not a result.

    `type` is the exception class with its module (``tvm.error.OpNotImplemented``), ``""`` for
    signals. `stderr` is the tail of what the native code printed during this case (≤ 16 KiB).
    `operator` and `conversion_function` are what the backend itself could name, else ``""``.
    """

    type: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    signal: str = ""
    stderr: str = ""
    operator: str = ""
    conversion_function: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one case did on one target. Always returned: a segmentation fault is data.

    `outputs` are (name, value) in the model's order; `seconds` is the time inside the backend,
    `peak_mb` the worker's peak resident memory in MiB while it ran this case. `tried` are the kinds of things that it
    reached for and a confined build must not have (`fuzz.watching.KINDS`).
    """

    status: Status
    stage: Stage
    seconds: float = 0.0
    peak_mb: float = 0.0
    outputs: tuple[tuple[str, Value], ...] = ()
    error: Error | None = None
    tried: tuple[str, ...] = field(default=(), compare=False)

    @property
    def values(self) -> list[Value]:
        """The output values in order, without their names."""
        return [value for _, value in self.outputs]


@dataclass(frozen=True)
class Failure:
    """A case, its outcome on the target, the reference's, the oracle that objects and why.

    `symptom` is the class used for grouping (``crash:SIGSEGV``, ``exception:ValueError``,
    ``wrong:values``, ``hang``, ``oom``, ``dies-on-invalid:SIGSEGV``); `detail` is one sentence.
    """

    case: Case
    target: Target
    outcome: Outcome
    reference: Outcome | None
    oracle: str
    symptom: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What a campaign concluded about one case on one target.

    `reason` says why for every status but OK; `failure` is set for the FAILING statuses only, and
    for a case that killed a compiler although it is invalid (status INVALID).
    """

    case: Case
    target: Target
    status: Status
    reason: str
    outcome: Outcome | None = None
    failure: Failure | None = None


def _content(value: Value | dict[str, Value]) -> Iterator[bytes]:
    """The parts of a value that its identity depends on; lengths are added by the caller."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield name.encode()
            yield from _content(each)
    elif isinstance(value, list):
        yield b"sequence %d" % len(value)
        for item in value:
            yield from _content(item)
    elif value is None:
        yield b"none"
    else:
        yield f"{wire.dtype_name(value)}{list(value.shape)}".encode()
        yield _bytes(value)


def _bytes(value: np.ndarray | wire.Raw) -> bytes:
    if isinstance(value, wire.Raw):
        return value.data
    if wire.dtype_name(value) == "string":
        return json.dumps(
            [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in value.ravel()]
        ).encode()
    return value.astype(value.dtype.newbyteorder("<")).tobytes()


def options_from(pairs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Options in the canonical order that `Target` wants."""
    return tuple(sorted(pairs.items()))


def canonical_json(document: object) -> bytes:
    """JSON with sorted keys and no spaces: the form whose bytes are hashed."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
