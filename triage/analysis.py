"""What was found out about a bug, as the sentences of a report: conditions, place, severity, labels. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fuzz.case import Case, Error
from fuzz.wire import Raw, Value
from triage import severity
from triage.conditions import CUT
from triage.construct_meaning import parsed
from triage.differ import differing_beyond_type
from triage.facts import Facts
from triage.ignored_beside import KIND as IGNORED_BESIDE
from triage.localize import Part
from triage.older import KIND as OLDER
from triage.older import is_recent
from triage.schemas import needed_opset
from triage.unmoved import KIND as UNMOVED
from triage.unsupported import KIND as UNSUPPORTED

_MOST_EXAMPLES = 5
#: The kinds of conditions that are told though the failure does not need them.
_TOLD = ("dtype", UNSUPPORTED, CUT, IGNORED_BESIDE, UNMOVED)
#: How backends call functions that are not a frontend's, which a fault behind the frontend does not clear.
_BEHIND = ("kernel ", "lowering ")


def recent_opset(case: Case) -> int:
    """The opset that the model needs, where that is one of the newest; else 0."""
    needed = needed_opset(parsed(case.model)) if case.kind == "onnx" else 0
    return needed if is_recent(needed) else 0


def labels(facts: Facts) -> tuple[severity.Label, ...]:
    """The labels of the bug, each with its reason."""
    return severity.labels(facts.target.backend, facts.case.kind, facts.symptom, facts.part)


def _converter(facts: Facts) -> Iterator[str]:
    """The function that converts the operator, and whether it is at fault: only what was seen."""
    name = facts.conversion_function
    if not name or name in " ".join(facts.findings) or facts.target.backend == "reference":
        return  # the reference evaluator converts nothing
    error = facts.outcome.error
    if error is not None and error.conversion_function == name and _is_inside(error, name):
        yield f"The failing call is inside {name}."
    elif error is not None and error.conversion_function == name:
        yield f"The frontend converts the operator in {name}; the error is raised by what it gives."
    elif facts.part is Part.FRONTEND:
        yield f"The frontend converts the operator in {name}."
    elif facts.part is Part.UNKNOWN:
        yield f"This compiler handles the operator in {name}; whether the fault lies there is not known."
    elif name.startswith(_BEHIND):
        yield f"This compiler handles the operator in {name}."


def _is_inside(error: Error, name: str) -> bool:
    """Whether a function is in the traceback, as far as there is one in Python."""
    functions = {frame.function.rpartition(".")[2] for frame in error.frames}
    return not functions or "." not in name or "/" in name or name.rpartition(".")[2] in functions


def _grade(facts: Facts) -> tuple[str, str]:
    return severity.severity(facts.symptom, facts.conditions, harmless=not _harmful(facts))


def _harmful(facts: Facts) -> bool:
    """Whether a wrong type comes with wrong values or shapes, of whichever output."""
    if facts.reference is None:
        return False
    pairs = zip(facts.reference.outputs, facts.outcome.outputs, strict=False)
    return any(_is_harmful(want, got) for (_, want), (_, got) in pairs)


def _is_harmful(want: Value, got: Value) -> bool:
    if (
        isinstance(want, np.ndarray | Raw)
        and isinstance(got, np.ndarray | Raw)
        and tuple(want.shape) != tuple(got.shape)
    ):
        return True
    mask = differing_beyond_type(want, got)
    return mask is not None and bool(mask.any())


def graded(facts: Facts) -> str:
    """The severity, and why, as a sentence."""
    level, why = _grade(facts)
    return f"Severity: {level}, since {why}."


def sentences(facts: Facts) -> Iterator[str]:
    """What was found out about the bug, a sentence or two each."""
    yield from (one.sentence for one in facts.conditions if one.needed)
    others = (one for one in facts.conditions if not one.needed)
    yield from (one.sentence for one in others if one.kind in _TOLD or one.refuted)
    known = any(one.needed for one in facts.conditions)
    yield from filter(None, ("" if known else facts.min_good, *facts.findings))
    if "MALLOC_PERTURB_" in facts.environment:
        yield (
            "The result changes with the content of fresh memory: `MALLOC_PERTURB_` makes glibc fill every new "
            "allocation with a byte, and with it set the failure shows in every run."
        )
    opset = recent_opset(facts.case)
    older = [one.sentence for one in facts.conditions if one.kind == OLDER] if opset else []
    yield from older
    if opset and not older:
        yield f"The model needs opset {opset}, one of the newest: the answer may be that it is not supported yet."
    yield from _converter(facts)
    yield from _tests(facts)
    yield graded(facts)
    marked = [f"`{one.name}`" + (f" ({one.reason})" if one.reason else "") for one in labels(facts)]
    if marked:
        yield f"Labels: {', '.join(marked)}."


def _tests(facts: Facts) -> Iterator[str]:
    """Which tests fail, and what the project itself says of them."""
    if facts.examples:
        listed = ", ".join(facts.examples[:_MOST_EXAMPLES])
        more = facts.tests > _MOST_EXAMPLES
        among = f"at least {facts.tests} tests, among them {listed}" if more else listed
        yield f"Fails in {among}."
    yield from facts.listed
