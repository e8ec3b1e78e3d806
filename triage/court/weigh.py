"""From evidence to a verdict. Pure: the same evidence gives the same judgement (decision 004).

Its rules are asked in order; the first that applies decides and its sentence is the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fuzz.oracles import differential
from triage.court.evidence import Evidence, Judgement, Ruling, Side, find
from triage.court.thresholds import claims, thresholds

Decision = tuple[Ruling, str]
#: With whom a case was compared, by its kind.
REFERENCES = {"onnx": "onnx (reference evaluator)", "instance": "PyTorch (eager)", "keras": "Keras (eager)"}


def weigh(evidence: Sequence[Evidence]) -> Judgement:
    """The judgement on what was gathered; the charge must be among it."""
    charge = find(evidence, "charge")
    if charge is None:
        raise ValueError("no judgement without a charge")
    for rule in RULES:
        decision = rule(evidence)
        if decision is not None:
            verdict, reason = decision
            name = rule.__name__.strip("_")
            whose = _project(verdict, charge)
            return Judgement(verdict, reason, tuple(evidence), whose, name, claims()[name])
    raise AssertionError("the last rule always applies")


def _project(verdict: Ruling, charge: Evidence) -> str:
    if verdict is Ruling.COMPILER_BUG:
        return str(charge.figures["backend"])
    return REFERENCES[charge.figures["kind"]] if verdict is Ruling.REFERENCE_BUG else ""


def _figure(evidence: Sequence[Evidence], kind: str, name: str, default: Any = None) -> Any:
    found = find(evidence, kind)
    return default if found is None else found.figures.get(name, default)


def _settled(evidence: Sequence[Evidence]) -> Decision | None:
    """What one piece of evidence decides alone."""
    found = next((each for each in evidence if each.settles is not None), None)
    return None if found is None or found.settles is None else (found.settles, found.sentence)


def _uninitialised(evidence: Sequence[Evidence]) -> Decision | None:
    """No rounding and no freedom of the specification excuses reading what nobody wrote."""
    found = find(evidence, "memory")
    return (Ruling.COMPILER_BUG, found.sentence) if found and found.figures.get("depends") else None


def _erratic(evidence: Sequence[Evidence]) -> Decision | None:
    """Every run is wrong, each in its own way and by far more than rounding, and all others agree with the reference.

    In whole numbers there is no rounding.
    What is random by definition was settled before; so it races, or reads what nobody wrote, in whatever place filling
    fresh memory does not reach.
    """
    repeats, found = find(evidence, "repeats"), find(evidence, "float64")
    if repeats is None or not (repeats.figures.get("whole") or (found and found.side is Side.AGAINST)):
        return None
    each = repeats.figures["same"] == repeats.figures["runs"] and repeats.figures["values_vary"]
    far = found is None or _excess(found.figures["excess"]) >= thresholds().beyond
    alone = _figure(evidence, "votes", "reference", []) and not _figure(evidence, "votes", "compiler", [])
    said = f"{repeats.sentence}: {found.sentence if found else 'of whole numbers, which nothing rounds'}"
    return (Ruling.COMPILER_BUG, said) if each and far and alone else None


def _unsteady(evidence: Sequence[Evidence]) -> Decision | None:
    """What does not fail every time, or never twice with the same values, proves nothing yet."""
    found = find(evidence, "repeats")
    if found is None:
        return None
    about_values = _figure(evidence, "charge", "symptom") not in differential.FORMS
    if found.figures["same"] == found.figures["runs"] and not (found.figures["values_vary"] and about_values):
        return None
    return Ruling.NONDETERMINISTIC, found.sentence


def _died(evidence: Sequence[Evidence]) -> Decision | None:
    """A death that repeats is a bug, whatever the values."""
    symptom = str(_figure(evidence, "charge", "symptom"))
    if symptom.startswith("wrong:"):
        return None
    repeats = find(evidence, "repeats")
    return Ruling.COMPILER_BUG, f"{symptom}: {repeats.sentence}" if repeats else symptom


def _by_the_words(evidence: Sequence[Evidence]) -> Decision | None:
    """The compiler's result is what other code makes of the specification's words, the reference's is not."""
    found = find(evidence, "second")
    return (Ruling.REFERENCE_BUG, found.sentence) if found and found.figures.get("compiler") else None


def _wrong_by_the_words(evidence: Sequence[Evidence]) -> Decision | None:
    """Other code for the specification's words contradicts the reference, but the compiler all the more."""
    second, found = find(evidence, "second"), find(evidence, "float64")
    if second is None or found is None or not second.figures.get("differ"):
        return None
    clear = found.side is not Side.FOR and _excess(found.figures["excess"]) >= thresholds().beyond
    if not clear or _figure(evidence, "votes", "compiler", []):
        return None
    return Ruling.COMPILER_BUG, f"{second.sentence}, and the compiler's result is a third one: {found.sentence}"


def _systematic(evidence: Sequence[Evidence]) -> Decision | None:
    """The noise would reach that far, but all elements err alike, and nobody else errs by a tenth of it."""
    found = find(evidence, "float64")
    if found is None or not found.figures.get("systematic") or not _figure(evidence, "second", "agree", []):
        return None
    others = len(_figure(evidence, "votes", "reference", [])) > 1 and not _figure(evidence, "votes", "compiler", [])
    exact = 10 * _excess(found.figures["reference_excess"]) <= _excess(found.figures["excess"])
    return (Ruling.COMPILER_BUG, found.sentence) if others and exact else None


def _contradicted_reference(evidence: Sequence[Evidence]) -> Decision | None:
    """The compiler agrees with float64, and the reference is off by more than rounding."""
    found = find(evidence, "float64")
    if found is None or found.side is not Side.FOR:
        return None
    off = _excess(found.figures["reference_excess"]) > thresholds().beyond
    if off and not _figure(evidence, "votes", "reference", []):
        return Ruling.REFERENCE_BUG, found.sentence
    return None


def _misplaced(evidence: Sequence[Evidence]) -> Decision | None:
    """A pick that no order of equal values explains, or that the specification's words forbid: no noise excuses it."""
    found = find(evidence, "ties")
    if found is None or not found.figures.get("breaks") or len(_figure(evidence, "votes", "compiler", [])) > 1:
        return None
    return Ruling.COMPILER_BUG, found.sentence


def _rounding(evidence: Sequence[Evidence]) -> Decision | None:
    """Honest rounding reaches the compiler's result."""
    found = find(evidence, "float64")
    return (Ruling.NOISE, found.sentence) if found and found.side is Side.FOR else None


def _outvoted_reference(evidence: Sequence[Evidence]) -> Decision | None:
    """At least two independent implementations, the accused one of them, agree against the reference."""
    votes = find(evidence, "votes")
    if votes is None or not votes.figures["compiler"] or not _may_be_outvoted(evidence):
        return None
    if not votes.figures["reference"]:
        return Ruling.REFERENCE_BUG, f"the reference stands alone: {votes.sentence}"
    return None


def _may_be_outvoted(evidence: Sequence[Evidence]) -> bool:
    """Not PyTorch, which defines its own functions; nor on an operator so new that others ignore what is new in it."""
    recent = _figure(evidence, "votes", "recent_opset", False)
    return _figure(evidence, "charge", "kind") != "instance" and not recent


def _split(evidence: Sequence[Evidence]) -> Decision | None:
    """More implementations side with the compiler than with the reference: evidently anybody may choose."""
    votes = find(evidence, "votes")
    if votes is None or not _may_be_outvoted(evidence):
        return None
    if len(votes.figures["compiler"]) > len(votes.figures["reference"]):
        return Ruling.UNDEFINED, f"implementations are split: {votes.sentence}"
    return None


def _reference_off(evidence: Sequence[Evidence]) -> Decision | None:
    """The compiler is nearer to float64 than the reference, whose own error is what is seen."""
    found = find(evidence, "float64")
    if found is None or found.side is not Side.NEUTRAL:
        return None
    mine, theirs = _excess(found.figures["excess"]), _excess(found.figures["reference_excess"])
    return (Ruling.NOISE, found.sentence) if mine < theirs and mine <= thresholds().beyond else None


def _near_miss(evidence: Sequence[Evidence]) -> Decision | None:
    """Within the oracle's tolerance only the clearest evidence counts."""
    if not _figure(evidence, "charge", "near", False):
        return None
    found = find(evidence, "float64")
    confirmed = len(_figure(evidence, "votes", "reference", []))
    if found is not None and found.side is Side.AGAINST and confirmed:
        excess, theirs = _excess(found.figures["excess"]), _excess(found.figures["reference_excess"])
        alone = confirmed > 1 and not _figure(evidence, "votes", "compiler", []) and 10 * theirs <= excess
        if excess >= (thresholds().outnumbered if alone else thresholds().beyond):
            return None
    return Ruling.NOISE, "the difference stays within the tolerance, and nothing shows that it is more than rounding"


def _proven(evidence: Sequence[Evidence]) -> Decision | None:
    """The error is far beyond rounding, or beyond it and nobody else makes it.

    The evaluation in float64 runs the reference's own operators, so alone it proves nothing: another implementation,
    other code, or a library that defines its own functions must stand behind it.
    """
    found = find(evidence, "float64")
    if found is None or found.side is not Side.AGAINST:
        return None
    if _figure(evidence, "votes", "reference", []):
        return Ruling.COMPILER_BUG, found.sentence
    own = _figure(evidence, "charge", "kind") != "onnx"
    far = _excess(found.figures["excess"]) >= thresholds().beyond
    return (Ruling.COMPILER_BUG, found.sentence) if far and (own or _has_independent_code(evidence)) else None


def _doubtful(evidence: Sequence[Evidence]) -> Decision | None:
    """Somewhat more than rounding explains, and no other implementation confirms the reference."""
    found = find(evidence, "float64")
    if found is None or found.side is not Side.AGAINST or _excess(found.figures["excess"]) >= thresholds().beyond:
        return None
    return Ruling.NOISE, f"{found.sentence}; that is too little to be sure, and nobody confirms the reference"


def _scattered(evidence: Sequence[Evidence]) -> Decision | None:
    """Three implementations with three results, and no evidence that one of them is right."""
    votes = find(evidence, "votes")
    if votes is None or not votes.figures["neither"] or _figure(evidence, "votes", "reference", []):
        return None
    if _has_independent_code(evidence) or _figure(evidence, "charge", "kind") != "onnx":
        return None
    return Ruling.UNDEFINED, f"every implementation gives another result: {votes.sentence}"


def _has_independent_code(evidence: Sequence[Evidence]) -> bool:
    """Whether float64 speaks against the compiler in code that is not the reference's own."""
    found, second = find(evidence, "float64"), find(evidence, "second")
    against = found is not None and found.side is Side.AGAINST
    return against and second is not None and bool(second.figures.get("agree")) and not second.figures.get("differ")


def _outvoted_compiler(evidence: Sequence[Evidence]) -> Decision | None:
    """Without float64, what others say decides."""
    votes = find(evidence, "votes")
    if votes is not None and votes.figures["reference"]:
        return Ruling.COMPILER_BUG, votes.sentence
    return None


def _undecided(evidence: Sequence[Evidence]) -> Decision | None:
    """Others have the compiler's result, nobody has the reference's, which float64 does not confirm either.

    On the newest operators others may overlook what is new, so nobody outvotes the reference; yet nothing backs it.
    """
    votes, found = find(evidence, "votes"), find(evidence, "float64")
    if votes is None or found is None or found.side is Side.AGAINST:
        return None
    if not votes.figures["compiler"] or votes.figures["reference"] or _figure(evidence, "charge", "kind") != "onnx":
        return None
    return Ruling.UNDEFINED, f"nothing but the reference contradicts the compiler: {votes.sentence}; {found.sentence}"


def _alone(evidence: Sequence[Evidence]) -> Decision:
    """Nobody else can tell: the reference's word against the compiler's."""
    charge, found = find(evidence, "charge"), find(evidence, "float64")
    assert charge is not None
    if found is not None and found.side is Side.AGAINST:
        return Ruling.COMPILER_BUG, f"the reference alone contradicts it: {found.sentence}"
    return Ruling.COMPILER_BUG, f"the reference alone contradicts it: {charge.sentence}"


def _excess(value: float | None) -> float:
    """Figures have None for infinity."""
    return float("inf") if value is None else value


RULES: tuple[Callable[[Sequence[Evidence]], Decision | None], ...] = (
    _settled,
    _uninitialised,
    _erratic,
    _unsteady,
    _died,
    _by_the_words,
    _wrong_by_the_words,
    _misplaced,
    _systematic,
    _contradicted_reference,
    _rounding,
    _outvoted_reference,
    _split,
    _reference_off,
    _near_miss,
    _proven,
    _doubtful,
    _outvoted_compiler,
    _scattered,
    _undecided,
    _alone,
)
