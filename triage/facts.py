"""All that a report says of a bug, gathered before the first word is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fuzz.case import Case, Outcome, Target
from triage.conditions import Condition
from triage.court.evidence import Judgement
from triage.localize import Part
from triage.regression import Regression


@dataclass(frozen=True)
class Facts:
    """All that a report says. Sizes of `reduced_from` and the reduced model are numbers of nodes.

    `tests` is how many tests fail this way, `examples` names of some of these (generated models have none).
    `snippet` is the backend's ``reproduce()`` text. `versions` are packages, `machine` what else is said of the
    environment (os, cpu, python). `private` are words that must not appear: host and user names. `environment` are
    variables without which the bug does not show.
    `timeout` is in seconds, `memory_mb` in MiB. `conditions` are what neighbours of the case answered,
    `min_good` the sentence that tells the smallest failing model from the largest passing one,
    `findings` further sentences of that sort: the guilty pass, the stage, the first bad revision; `part` is the part
    of the compiler at fault, as far as it is known.
    `listed` are sentences on what the project's own suite says of these tests.
    `regression` is a test that was seen to fail the way the bug does. `judgement` is the court's, with the evidence.
    """

    case: Case
    target: Target
    outcome: Outcome
    reference: Outcome | None
    symptom: str
    detail: str
    fingerprint: str
    snippet: str
    conversion_function: str = ""
    operators: tuple[str, ...] = ()
    tests: int = 1
    examples: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    reduced_from: int = 0
    timeout: float = 60.0
    memory_mb: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    min_good: str = ""
    findings: tuple[str, ...] = ()
    part: Part = Part.UNKNOWN
    listed: tuple[str, ...] = ()
    regression: Regression | None = None
    judgement: Judgement | None = None
