"""Bugs that are one because one place behind the frontends raises both: the same words from the same stack.

TVM's Pow of ONNX, its torch.pow and whatever norm becomes a power end in one check of one function, by one way. The
converters that led there have no part in it. In a frontend it is the other way round: a check that many converters run
into tells nothing, and what they handed over does.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from fuzz.case import Failure, Frame, Stage, Status
from triage.lifecycle import WITH_DRAFT, State
from triage.records import Bug
from triage.signature import Signature
from triage.store import Store

_LOCATED = (State.LOCATED, State.JUDGED, *WITH_DRAFT)
#: So many innermost frames must be the same; where fewer are known, as of an error without a stack, nothing is told.
_FRAMES = 6
#: What the place is written in that raises: an interpreter's own frames are the same for every error.
_NATIVE = (".c", ".cc", ".cpp", ".h", ".hpp")
_UNKNOWN = "<unknown>"


def twin(store: Store, bug: Bug, signature: Signature, failure: Failure) -> Bug | None:
    """An older bug with the same symptom and words, raised by the same stack of the same revision.

    No person has decided that the two are apart.
    """
    stack = _stack(failure)
    if not stack:
        return None
    decided = store.decisions()
    for other in store.bugs(_LOCATED, backend=bug.backend):
        apart = other.id == bug.id or decided.are_apart(bug.fingerprint, other.fingerprint)
        alike = (other.symptom, other.message) == (signature.symptom, signature.message)
        same_build = other.target.revision == failure.target.revision
        if apart or not alike or not same_build or other.best_failure_id is None:
            continue
        if _stack(store.failure(other.best_failure_id).failure) == stack:
            return other
    return None


def why(other: Bug) -> str:
    """The sentence that explains why a bug is the same as the `other`."""
    return f"same as bug {other.id} because one place behind the frontends raises both, by the same stack"


def _stack(failure: Failure) -> tuple[tuple[str, int], ...]:
    """The innermost frames by file and line; none where the frontend raises, or too few are known."""
    outcome = failure.outcome
    if outcome.status is not Status.EXCEPTION or outcome.error is None or outcome.stage is Stage.CONVERT:
        return ()
    known = [frame for frame in outcome.error.frames if frame.file != _UNKNOWN]
    if len(known) < _FRAMES or not known[-1].file.endswith(_NATIVE):
        return ()
    return tuple(_place(frame) for frame in known[-_FRAMES:])


def _place(frame: Frame) -> tuple[str, int]:
    """Without the folder that the compiler is installed in."""
    return "/".join(PurePosixPath(frame.file).parts[-2:]), frame.line
