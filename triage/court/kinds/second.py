"""A second evaluation in float64, by code written from the specification's words and not the reference's."""

from __future__ import annotations

from collections.abc import Mapping

from fuzz.wire import dtype_name
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing
from triage.court.measure import numbers
from triage.wording import enumerated

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """Absent without an evaluation in float64. Whether the reference's operators agree with another code for them."""
    if hearing.case.kind != "onnx" or hearing.widened is None:
        return None
    seconded = hearing.widened.said.get("seconded", {})
    differing = sorted(operator for operator, agrees in seconded.items() if not agrees)
    figures = {"agree": sorted(set(seconded) - set(differing)), "differ": differing}
    if differing:
        return _contradicted(hearing, differing, figures)
    if not seconded:
        sentence = "the evaluation in float64 runs the reference's own operators; no other code was asked for them"
        return Evidence("second", Side.NEUTRAL, sentence, figures)
    names = enumerated(sorted(seconded))
    sentence = f"other code for {names}, written from the specification, agrees with the reference in float64"
    return Evidence("second", Side.AGAINST, sentence, figures)


def _contradicted(hearing: Hearing, operators: list[str], figures: Mapping[str, object]) -> Evidence:
    names = enumerated(operators)
    if _is_that(hearing):
        sentence = f"computed in float64 from the specification's words, {names} gives the compiler's result"
        return Evidence("second", Side.FOR, sentence, {**figures, "compiler": True})
    sentence = f"computed in float64 from the specification's words, {names} differs from the reference"
    return Evidence("second", Side.NEUTRAL, sentence, figures)


def _is_that(hearing: Hearing) -> bool:
    """Whether the second evaluation is the compiler's result, up to the tolerance."""
    widened = hearing.widened
    if widened is None or len(widened.second) != len(hearing.actual):
        return False
    for got, second in zip(hearing.actual, widened.second, strict=True):
        mine, other = numbers(got), numbers(second)
        if mine is None or other is None or mine.shape != other.shape:
            return False
        if measure.beyond_tolerance(mine, other, dtype_name(got)).any():
            return False
    return True
