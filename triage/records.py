"""What goes into the store and comes out of it: plain frozen values, and their stored forms. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypedDict

from fuzz import documents, wire
from fuzz.case import Case, Failure, Origin, Outcome, Stage, Status, Target
from fuzz.classes import Class, classify
from fuzz.ranking.history import Meaning
from fuzz.wire import Value
from triage.bisect.found import Bisected
from triage.court.evidence import Judgement, judgement_from
from triage.lifecycle import State
from triage.localize.location import Location, Part

#: Outputs of a failing case larger than this many bytes are not kept; the case can be run again.
OUTPUT_BYTES = 4 << 20


class Mark(StrEnum):
    """What was said of a campaign from outside the process that runs it."""

    NONE = ""
    PAUSED = "paused"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"  # its schedule hunts in a newer build now


class Wish(StrEnum):
    """What is wished of whoever runs a campaign."""

    GO_ON = ""
    PAUSE = "paused"
    END = "cancelled"


@dataclass(frozen=True)
class CampaignInfo:
    """A campaign: its id, whether it goes on from an earlier process, its parameters and start (UTC).

    `finished` is when its last case had been run or it was ended otherwise, None before. `name` is that of its
    schedule, "" for one begun by hand; `marked_by` and `marked` (UTC) are of the `mark`. `owner` is the process that
    hunts, `seen` when that last said so.
    """

    id: int
    resumed: bool
    parameters: Mapping[str, Any]
    started: datetime
    finished: datetime | None = None
    name: str = ""
    mark: Mark = Mark.NONE
    marked_by: str = ""
    marked: datetime | None = None
    owner: str = ""
    seen: datetime | None = None


@dataclass(frozen=True)
class Result:
    """What one case did on one target. `reason` says why it was skipped, unsupported or invalid."""

    case_id: str
    target_id: str
    origin: Origin
    status: Status
    stage: Stage = Stage.START
    reason: str = ""
    seconds: float = 0.0
    peak_mb: float = 0.0


@dataclass(frozen=True)
class Lesson:
    """Of what a result is: the compiler's name, and what its case stands for."""

    case_id: str
    target_id: str
    backend: str
    meaning: Meaning


@dataclass(frozen=True)
class Pruned:
    """That so many rows were taken away by a rule (`triage.pruning`), of one campaign or of none; `at` is UTC."""

    at: datetime
    rule: str
    campaign_id: int | None
    removed: int


@dataclass(frozen=True)
class NewFailure:
    """A failure and the bug it shows: the parts of its signature, `fingerprint` being the key."""

    failure: Failure
    fingerprint: str
    conversion_function: str = ""
    operators: tuple[str, ...] = ()
    message: str = ""
    why: str = ""


@dataclass(frozen=True)
class StoredFailure:
    """A failure as saved. Outputs that were too large to keep are missing from its outcomes."""

    id: int
    fingerprint: str
    failure: Failure


@dataclass(frozen=True)
class Progress:
    """What a campaign did in one of its minutes (-1: not known in which): results, and cases not seen in it before."""

    minute: int
    results: int
    cases: int


class Reachable(StrEnum):
    """Parts of compilers that a campaign reaches."""

    OPERATOR = "operator"
    FUNCTION = "conversion function"


@dataclass(frozen=True)
class Reached:
    """A part that was reached: an operator, or ``compiler:function``."""

    part: Reachable
    name: str


class Sighting(NamedTuple):
    """A bug that a campaign saw: how many of its failures, and first in which minute (-1: not known).

    A tuple, since a page makes ten thousand of them.
    """

    bug_id: int
    fingerprint: str
    state: State
    failures: int
    minute: int


@dataclass(frozen=True)
class Counts:
    """The numbers of one campaign.

    `ends` counts results (pairs of case and target) by status and stage, `cases` the different cases among them,
    `failures` the results with a saved failure, `bugs` their fingerprints, `drafts` those with a report.
    """

    ends: Mapping[tuple[Status, Stage], int]
    cases: int
    failures: int
    bugs: int
    drafts: int

    @property
    def statuses(self) -> Mapping[Status, int]:
        """How many results have a status."""
        found: Counter[Status] = Counter()
        for (status, _), number in self.ends.items():
            found[status] += number
        return found

    @property
    def classes(self) -> Mapping[Class, int]:
        """How many results are of a class of graph-based fuzzing, every class named."""
        found: Counter[Class] = Counter(dict.fromkeys(Class, 0))
        for (status, stage), number in self.ends.items():
            told = classify(status, stage)
            if told:
                found[told] += number
        return found


@dataclass(frozen=True)
class Overview:
    """All that is told of one campaign, from one moment: its numbers, its bugs by id, and what it did when.

    `reached` is for each kind of parts how many were reached for the first time in a minute (-1: not known in which).
    """

    counts: Counts
    sightings: Sequence[Sighting]
    progress: Sequence[Progress]
    reached: Mapping[Reachable, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bug:
    """One bug without its report's text (`Store.draft` has that). `count` is how many (case, target) pairs fail so.

    `target` is the one it was first seen on; `created` and `updated` are UTC. `judgement` is the court's, None
    before its hearing; `perturb` the byte that fresh memory must be filled with for the bug to show every time.
    `bisected` is where it came and went.
    """

    id: int
    fingerprint: str
    target: Target
    state: State
    symptom: str
    conversion_function: str
    operators: tuple[str, ...]
    message: str
    why: str
    count: int
    best_failure_id: int | None
    reduced_case_id: str | None
    nodes: int | None
    report_path: str | None
    title: str | None
    note: str
    created: datetime
    updated: datetime
    judgement: Judgement | None = None
    perturb: int | None = None
    location: Location | None = None
    passes_with: str = ""
    bisected: Bisected = field(default_factory=dict)

    @property
    def backend(self) -> str:
        """The compiler's name."""
        return self.target.backend

    @property
    def revision(self) -> str:
        """The compiler's version."""
        return self.target.revision.version


@dataclass(frozen=True)
class StoredDraft:
    """The text of a bug's report: Markdown body and the reproducer, a Python script.

    `test` is the regression test as a file of its own; the store keeps it in the body only.
    """

    title: str
    body: str
    script: str
    labels: tuple[str, ...] = field(default=())
    test: str = ""


class BugFields(TypedDict, total=False):
    """What a step may save on a bug; absent keys stay as they are. `reduced` is saved as a case of its own."""

    best_failure_id: int
    target: Target
    reduced: Case
    nodes: int
    report_path: str
    draft: StoredDraft
    why: str
    conversion_function: str
    operators: Sequence[str]
    note: str
    judgement: Judgement
    perturb: int
    location: Location
    passes_with: str
    bisected: Bisected


def dump(document: object) -> str:
    """The stored form of a JSON document, the same for equal documents."""
    # ASCII: foreign text may hold lone surrogates, which have no UTF-8 form but do have a JSON escape.
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def clean(text: str) -> str:
    """Text that every database can hold: lone surrogates, which UTF-8 has none of, and zeros become ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def pack_inputs(inputs: Mapping[str, Value]) -> bytes:
    """Named values as one frame."""
    return wire.pack({}, dict(inputs))


def unpack_inputs(data: bytes) -> dict[str, Value]:
    """The values of a frame made by `pack_inputs`."""
    (frame,) = wire.Unpacker().feed(data)
    return frame.values


def pack_values(values: Sequence[Value]) -> bytes:
    """Values in order as one frame; output names need not be unique, so they are kept elsewhere."""
    return pack_inputs({str(index): value for index, value in enumerate(values)})


def unpack_values(data: bytes) -> tuple[Value, ...]:
    """The values of a frame made by `pack_values`."""
    return tuple(unpack_inputs(data).values())


def origin_json(origin: Origin) -> str:
    return dump(asdict(origin))


def origin_from(text: str) -> Origin:
    return documents.origin_from(json.loads(text))


def target_json(target: Target) -> str:
    return dump(asdict(target))


def target_from(text: str) -> Target:
    return documents.target_from(json.loads(text))


def location_json(location: Location) -> str:
    return dump(asdict(location))


def location_from(text: str) -> Location:
    document = json.loads(text)
    return Location(**dict(document, stage=Part(document["stage"]), evidence=tuple(document["evidence"])))


def judgement_json(judgement: Judgement) -> str:
    return dump(judgement.document())


def stored_judgement(text: str) -> Judgement:
    return judgement_from(json.loads(text))


def outcome_parts(outcome: Outcome) -> tuple[str, bytes | None]:
    """An outcome as JSON and a frame of its outputs, None where there are none or they exceed OUTPUT_BYTES."""
    frame = pack_values([value for _, value in outcome.outputs]) if outcome.outputs else None
    if frame is not None and len(frame) > OUTPUT_BYTES:
        frame = None
    return dump(documents.outcome_document(outcome)), frame


def outcome_from(text: str, frame: bytes | None) -> Outcome:
    return documents.outcome_from(json.loads(text), None if frame is None else unpack_values(frame))
