"""What the court deals in: evidence, and the judgement that follows from it. Frozen; also as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Ruling(StrEnum):
    """The verdicts of issue 3. Only the first two are filed."""

    COMPILER_BUG = "compiler bug"
    REFERENCE_BUG = "reference bug"  # of the evaluator that the compiler was compared with
    UNDEFINED = "undefined behaviour"
    NOISE = "numeric noise"
    NONDETERMINISTIC = "nondeterministic"
    UNSUPPORTED = "unsupported"
    INVALID_TEST = "invalid test"
    ENVIRONMENT = "environment"


#: What is worth a report.
FILED = frozenset({Ruling.COMPILER_BUG, Ruling.REFERENCE_BUG})


class Side(StrEnum):
    """Whom a piece of evidence speaks for."""

    AGAINST = "against the compiler"
    FOR = "for the compiler"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Evidence:
    """One thing that was found out.

    `kind` is the name of the file in ``triage/court/kinds``; `sentence` tells a person, with numbers;
    `figures` are the same for programs (JSON values). `settles` is the verdict that this evidence alone
    decides on, None for evidence that is weighed with the rest.
    """

    kind: str
    side: Side
    sentence: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    settles: Ruling | None = None

    def document(self) -> dict[str, Any]:
        """As a JSON document."""
        return {
            "kind": self.kind,
            "side": str(self.side),
            "sentence": self.sentence,
            "figures": dict(self.figures),
            "settles": None if self.settles is None else str(self.settles),
        }


@dataclass(frozen=True)
class Judgement:
    """The verdict, why in one sentence, and on what evidence.

    `verdict` is None where there is nothing to judge: the case does not fail. `project` is whose bug it is.
    `rule` names the rule of `weigh` that decided, `confidence` is the probability of a bug worth a report that
    ``data/court.toml`` claims for that rule; `graphwarden calibrate` holds the claims against labelled cases.
    """

    verdict: Ruling | None
    reason: str
    evidence: tuple[Evidence, ...] = ()
    project: str = ""
    rule: str = ""
    confidence: float = 0.0

    def document(self) -> dict[str, Any]:
        """As a JSON document, the answer of `graphwarden court --json`."""
        return {
            "verdict": None if self.verdict is None else str(self.verdict),
            "reason": self.reason,
            "project": self.project,
            "rule": self.rule,
            "confidence": self.confidence,
            "evidence": [each.document() for each in self.evidence],
        }


def judgement_from(document: Mapping[str, Any]) -> Judgement:
    """The judgement of such a document. Raises KeyError or ValueError for another one."""
    return Judgement(
        None if document["verdict"] is None else Ruling(document["verdict"]),
        document["reason"],
        tuple(_evidence_from(each) for each in document["evidence"]),
        document["project"],
        document["rule"],
        document["confidence"],
    )


def _evidence_from(document: Mapping[str, Any]) -> Evidence:
    settles = document["settles"]
    return Evidence(
        document["kind"],
        Side(document["side"]),
        document["sentence"],
        document["figures"],
        None if settles is None else Ruling(settles),
    )


def find(evidence: Sequence[Evidence], kind: str) -> Evidence | None:
    """The piece of one kind, if it was gathered."""
    return next((each for each in evidence if each.kind == kind), None)
