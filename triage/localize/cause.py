"""A guess at the root cause, in the words of the studies of compiler bugs, and what speaks for it.

The classes are those that OPERA (section IV-E) and HirGen (section 5.1) found among confirmed bugs. A guess is
made only where the symptom points to one class; most wrong values point to none.
"""

from __future__ import annotations

import re

from fuzz.case import Failure
from fuzz.judge import values
from fuzz.oracles import refusal
from triage import symptom
from triage.localize.location import Location
from triage.messages import core
from triage.symptom import Kind

SHAPE = "Tensor Shape Problem"
TYPE = "Type Problem"
LOGIC = "Incorrect Code Logic"
HANDLING = "Incorrect Exception Handling"
NUMERICAL = "Incorrect Numerical Computation"
MEMORY = "Memory Allocation Problem"

#: How a sentence begins that holds a guess: for the one who triages, not for a maintainer, who wants what is known.
GUESS = "perhaps "

#: What a wrong result points to.
_OF_KIND: dict[Kind, str] = {
    Kind.DTYPE: TYPE,
    Kind.WRAPPED: TYPE,
    Kind.SHAPE: SHAPE,
    Kind.COUNT: LOGIC,
    Kind.MISSING: LOGIC,
    Kind.UNINITIALISED: MEMORY,
    Kind.PERMUTED: LOGIC,
    Kind.SHIFTED: LOGIC,
    Kind.REPEATED: LOGIC,
    Kind.INVERTED: LOGIC,
    Kind.CONSTANT: LOGIC,
    Kind.SCALED: NUMERICAL,
    Kind.OFFSET: NUMERICAL,
    Kind.SIGN: NUMERICAL,
    Kind.ROUNDING: NUMERICAL,
    Kind.INACCURATE: NUMERICAL,
    Kind.SATURATED: NUMERICAL,
    Kind.UNSATURATED: NUMERICAL,
    Kind.NAN: NUMERICAL,
    Kind.INFINITE: NUMERICAL,
}
#: What an invalid model shows instead of an error.
_ON_INVALID = {
    refusal.DIES: "an invalid model ends the process where an error is right",
    refusal.ASSERTS: "an invalid model is met by an assertion where a clear error is right",
    refusal.ACCEPTS: "an invalid model is compiled and run where an error is right",
}
#: Exceptions that Python raises by itself, where nobody has checked anything.
_UNCHECKED = ("AttributeError", "KeyError", "IndexError", "NameError", "UnboundLocalError", "ZeroDivisionError")
_SHAPES = re.compile(r"\b(?:shapes?|ndims?|ranks?|dims?|dimensions?|broadcast\w*|axes|axis|size mismatch)\b", re.I)
_TYPES = re.compile(
    r"\b(?:d?types?|datatypes?|element.?types?|get_element_type|kDL\w+|MatchesCode|IsFloatType|is_integral)\b", re.I
)


def locate(failure: Failure, known: Location, perturbed: bool = False) -> Location:
    """The location with a guess at the root cause, where there is one.

    `perturbed`: the failure shows every time only with fresh memory filled.
    """
    cause, why = (MEMORY, "the result depends on what fresh memory holds") if perturbed else _guess(failure)
    return known.learn(f"{GUESS}{_spoken(cause)} ({why})", root_cause=cause) if cause else known


def _spoken(cause: str) -> str:
    """The class in the words of a sentence: ``a tensor shape problem``, ``incorrect code logic``."""
    plain = cause.lower()
    return f"a {plain}" if plain.endswith("problem") else plain


def _guess(failure: Failure) -> tuple[str, str]:
    kind, _, detail = failure.symptom.partition(":")
    if kind == "wrong" and failure.reference is not None:
        found = symptom.classify(values(failure.reference), values(failure.outcome))
        return (_OF_KIND.get(found.kind, ""), found.told) if found else ("", "")
    if kind in refusal.ON_INVALID:
        return HANDLING, _ON_INVALID[kind]
    if kind == "oom":
        return MEMORY, "memory runs out on a small case"
    return _of_exception(failure, detail) if kind == "exception" else ("", "")


def _of_exception(failure: Failure, detail: str) -> tuple[str, str]:
    name = detail.rpartition(".")[2]
    if name in _UNCHECKED:
        return LOGIC, f"a bare {name} of Python comes out, which nobody has raised on purpose"
    said = " ".join(core(failure.outcome.error.message).split())[:300] if failure.outcome.error else ""
    found = [(cause, match) for cause, match in ((TYPE, _TYPES.search(said)), (SHAPE, _SHAPES.search(said))) if match]
    if len(found) != 1:  # a message that speaks of both types and shapes points to neither
        return "", ""
    cause, match = found[0]
    return cause, f'the message speaks of "{match.group()}"'
