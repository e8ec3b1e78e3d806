"""A judgement against the reference, told as its own maintainers need it: the reference stands accused. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triage.court.evidence import Evidence, Judgement, Side
from triage.projects import project
from triage.wording import enumerated


def against_reference(judgement: Judgement, witness: str) -> Judgement:
    """The judgement on `witness`, a compiler that the reference was held against and that turned out to be right.

    The evaluation in float64 runs the reference's own operators, so it is told only where it contradicts their
    narrow results. What was asked about the compiler's inside is left out.
    """
    told = [restated for each in judgement.evidence if (restated := _restated(each, witness)) is not None]
    votes = next((each for each in told if each.kind == "votes"), None)
    return replace(judgement, reason=votes.sentence if votes else judgement.reason, evidence=tuple(told))


def _restated(each: Evidence, witness: str) -> Evidence | None:
    tell = _TOLD.get(each.kind)
    return None if tell is None else tell(each, witness)


def _charge(each: Evidence, witness: str) -> Evidence:
    sentence = f"{project('reference')} and {project(witness)} give different results"
    return replace(each, sentence=sentence, figures={**each.figures, "backend": "reference"})


def _repeats(each: Evidence, witness: str) -> Evidence:
    runs = each.figures["runs"]
    return replace(each, sentence=f"{project(witness)} gives the same values in {runs} of {runs} fresh processes")


def _float64(each: Evidence, witness: str) -> Evidence | None:
    if each.side is not Side.FOR:
        return None
    return replace(each, side=Side.AGAINST, sentence=each.sentence.replace("the compiler", project(witness)))


def _votes(each: Evidence, witness: str) -> Evidence | None:
    agreeing = [witness, *each.figures["compiler"]]
    if each.figures["reference"] or len(agreeing) < 2:
        return None
    names = enumerated(list(map(project, agreeing)))
    sentence = f"{names} agree with each other, and not with {project('reference')}"
    return replace(each, side=Side.AGAINST, sentence=sentence)


def _second(each: Evidence, witness: str) -> Evidence | None:
    if each.side is not Side.FOR:
        return None
    told = each.sentence.replace("the compiler's result", f"the result of {project(witness)}")
    return replace(each, side=Side.AGAINST, sentence=told)


_TOLD: dict[str, Callable[[Evidence, str], Evidence | None]] = {
    "charge": _charge,
    "repeats": _repeats,
    "float64": _float64,
    "votes": _votes,
    "second": _second,
}
