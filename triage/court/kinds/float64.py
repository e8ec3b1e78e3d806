"""Float64 evaluation: the compiler's error beside the reference's own, and the noise that rounding may make."""

from __future__ import annotations

import math
from dataclasses import replace

from fuzz.oracles import differential
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing, Widened
from triage.court.kinds import ties
from triage.court.measure import Worst
from triage.court.thresholds import thresholds

SYMPTOMS = ("wrong",)
#: More units in the last place are no measure: the values have nothing to do with each other.
_MOST_ULP = 1e8


def gather(hearing: Hearing) -> Evidence | None:
    """Absent where the case has no float64 form, or dtypes or shapes differ for which rounding is no reason.

    Absent, too, where equal values may stand in another order, but in none that gives the compiler's result: that is no
    matter of rounding.
    """
    if not measure.comparable(hearing.actual, hearing.expected):
        return _shapes(hearing)
    widened = hearing.widened
    if widened is None or len(widened.wide) != len(hearing.actual):
        return None
    found = measure.worst(hearing.actual, hearing.expected, widened.truth, widened.noise)
    if found is None or (math.isinf(found.noise) and ties.broken(hearing)):
        return None
    return _with_pattern(hearing, widened, found, _evidence(found, widened))


def _with_pattern(hearing: Hearing, widened: Widened, found: Worst, told: Evidence) -> Evidence:
    """Told as well: whether all elements of that output err by one factor, or one offset, as no trial made them."""
    if told.side is not Side.FOR or not math.isfinite(found.noise):
        return told
    usual = widened.said.get("coherence", {}).get(str(found.output))
    pattern = usual and measure.pattern(hearing.actual[found.output], widened.truth[found.output], usual)
    if not pattern:
        return told
    said = f"in {pattern}, as errors of rounding do not"
    sentence = f"{told.sentence}; all elements of output {found.output} err {said}"
    return replace(told, sentence=sentence, figures={**told.figures, "systematic": True})


def _shapes(hearing: Hearing) -> Evidence | None:
    """Rounding may decide how many elements there are: NonZero, Compress, NonMaxSuppression."""
    different = {
        at
        for at, (one, other) in enumerate(zip(hearing.actual, hearing.expected, strict=False))
        if getattr(one, "shape", None) != getattr(other, "shape", None)
    }
    same_count = len(hearing.actual) == len(hearing.expected)
    if hearing.symptom[0] != differential.SHAPE or not same_count or hearing.widened is None:
        return None
    if not different or not different <= set(hearing.widened.said.get("resized", [])):
        return None
    sentence = f"the case is ill-conditioned: rounding decides the shape of output {min(different)}"
    return Evidence(
        "float64", Side.FOR, sentence, {"excess": 0.0, "reference_excess": 0.0, "resized": sorted(different)}
    )


def _evidence(found: Worst, widened: Widened) -> Evidence:
    numbers = thresholds()
    figures = {
        "output": found.output,
        "index": list(found.index),
        "excess": _number(found.excess),
        "reference_excess": _number(found.reference_excess),
        "error_ulp": _number(found.error / found.ulp),
        "reference_error_ulp": _number(found.reference_error / found.ulp),
        "noise_ulp": _number(found.noise / found.ulp),
        "float64": _number(found.wide),
        "beyond_tolerance": found.beyond,
        "explained": found.explained,
        "trials": widened.said.get("trials", 0),
        "unwidened": widened.said.get("unwidened", []),
    }
    if found.excess <= numbers.explained:
        told = _explained(found) if found.reference_excess <= numbers.explained else _compared(found)
        return Evidence("float64", Side.FOR, told, figures)
    if found.reference_excess > numbers.explained:
        # Whether the reference errs or the model means something else in float64, others must tell.
        return Evidence("float64", Side.NEUTRAL, _compared(found), figures)
    return Evidence("float64", Side.AGAINST, _compared(found), figures)


def _explained(found: Worst) -> str:
    mine, theirs, noise = _amounts(found)
    if math.isinf(found.noise):
        why = "rounding decides whether it is this value or another"
    else:
        why = f"rounding may change it by {noise}"
    return (
        f"the case is ill-conditioned: computed in float64, {_place(found)} is {found.wide:.7g}, and {why}; the "
        f"compiler is off by {mine}, the reference by {theirs}"
    )


def _compared(found: Worst) -> str:
    if found.noise == found.reference_error == found.reference_excess == 0:
        return f"computed in float64, {_place(found)} is {found.wide:.9g}, which is what the reference gives"
    truth = f"computed in float64, {_place(found)} is {found.wide:.9g}"
    if not (math.isfinite(found.error) and math.isfinite(found.reference_error)):  # a distance would tell nothing
        return f"{truth}; the reference gives {found.expected:.9g}, the compiler {found.actual:.9g}"
    mine, theirs, noise = _amounts(found)
    off = f"the compiler is off by {mine}, the reference by {theirs}"
    return f"{truth}; {off}, and rounding alone can cause at most {noise}"


def _place(found: Worst) -> str:
    where = f"{list(found.index)} of output {found.output}"
    return f"element {where}" if found.index else f"output {found.output}"


def _amounts(found: Worst) -> tuple[str, str, str]:
    """The compiler's error, the reference's and the noise, all in units in the last place, or all as they are.

    Units say nothing of whole numbers, nor beside zero, nor of values that have nothing to do with each other.
    """
    amounts = (found.error, found.reference_error, found.noise)
    counts = [each / found.ulp for each in amounts]
    if found.whole or max((each for each in counts if math.isfinite(each)), default=0.0) >= _MOST_ULP:
        told = [f"{each:.3g}" for each in amounts]
    else:
        told = [f"{each:.3g} ulp" for each in counts]
    return told[0], told[1], told[2]


def _number(value: float) -> float | None:
    """JSON has no infinity: None."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
