"""Failure -> Signature: the key by which failures are the same bug (OPERA section IV-E).

One bug = the function that converts the failing operator + the symptom class + the normalised message.
Where no conversion function is known, normalised stack frames take its place; where a process died and its native stack
is known, the function that it died in does, whatever the operator (decision 023). Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fuzz import registry, sequences
from fuzz.case import Error, Failure
from fuzz.runner import Operator
from triage import crash_site, stack
from triage.messages import LONGEST_MESSAGE, core, normalise, part

__all__ = ["LONGEST_MESSAGE", "Signature", "normalise", "sign"]

#: The kind of the place that `triage.crash_site` tells.
CRASH_SITE = "crash site"
#: A function that converts many operators, and the one that it was called for.
_FOR_ONE = re.compile(r"(?P<function>.+)\((?P<operator>\w+)\)")


@dataclass(frozen=True)
class Signature:
    """The deduplication key, and the sentence that explains it.

    `place` is where the process died, the conversion function, the telling stack frames, or the operators; `kind` says
    which. `passes` are those of a drawn sequence without which it does not show (HirGen, oracle 2).
    """

    backend: str
    place: str
    kind: str
    symptom: str
    message: str
    why: str
    passes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hex digits over backend, place, symptom, message and passes."""
        key = "\0".join((self.backend, self.place, self.symptom, self.message, *self.passes))
        return hashlib.sha256(key.encode()).hexdigest()[:16]

    @property
    def conversion_function(self) -> str:
        """The conversion function, "" when the place is something else."""
        return self.place if self.kind == "conversion function" else ""


def sign(
    failure: Failure, operators: Sequence[Operator], converters: Sequence[str], names: Collection[str] = ()
) -> Signature:
    """The signature of a failure.

    `operators` are those that may be at fault (all of the model's, or the one that was localised) and
    `converters` their conversion functions in the same order, "" where the compiler's registry has none.
    `names` are those of the case's values and nodes.
    """
    error = failure.outcome.error or Error()
    backend = registry.backend(failure.target.backend).name
    place, kind, source = _place(failure, error, operators, converters)
    wrong = failure.oracle == "inconsistency"
    message = "" if wrong else normalise(core(part(error.message, error.operator)), names)
    place, message = _of_all_operators(place, message)
    passes = sequences.of(failure.target)
    why = f"same because {source}, the symptom is {_spoken(failure.symptom)}" + (
        f' and the message reads "{message[:120]}" once numbers, shapes and names are taken out' if message else ""
    )
    why += f", after {' and '.join(passes)}" if passes else ""
    return Signature(backend, place, kind, failure.symptom, message, why, passes)


def _place(
    failure: Failure, error: Error, operators: Sequence[Operator], converters: Sequence[str]
) -> tuple[str, str, str]:
    """(place, kind, the clause that says how it is known)."""
    if error.signal and (site := crash_site.place(error.stderr)):
        return site, CRASH_SITE, f"the process dies in {site}"
    if error.conversion_function:
        named = error.conversion_function
        return named, "conversion function", f"the failing call is inside {named}"
    suspects = _in_fault(error, operators, converters)
    functions = sorted({function for _, function in suspects if function})
    if len(functions) == 1 and all(function for _, function in suspects):
        types = ", ".join(sorted({operator[1] for operator, _ in suspects}))
        return functions[0], "conversion function", f"this compiler handles {types} in {functions[0]}"
    telling = stack.telling(stack.frames(error))
    site = stack.native_site(error.message)
    if failure.oracle == "crash" and (telling or site):
        shown = " < ".join([*([site] if site else []), *telling])
        return shown, "stack", f"the telling frames are {shown}"
    types = "+".join(sorted({operator[1] for operator, _ in suspects})) or "model"
    return types, "operators", f"the model's operators are {types}"


def _of_all_operators(place: str, message: str) -> tuple[str, str]:
    """Place and message without the operator, where one function converts many and the message is about any of them.

    ``convert(log)`` with "relax.log requires floats" is one bug with ``convert(tan)`` and "relax.tan requires floats".
    """
    named = _FOR_ONE.fullmatch(place)
    if named is None or not message:
        return place, message
    spelled = re.compile(rf"(?<!\w){re.escape(named['operator'])}(?!\w)")
    return (named["function"], spelled.sub("OP", message)) if spelled.search(message) else (place, message)


def _in_fault(error: Error, operators: Sequence[Operator], converters: Sequence[str]) -> list[tuple[Operator, str]]:
    """The operators that may be at fault: the one that the error names, else all, each once."""
    pairs = list(dict.fromkeys(zip(operators, converters, strict=True)))
    named = [pair for pair in pairs if error.operator and pair[0][1] == error.operator]
    return named or pairs


def _spoken(symptom: str) -> str:
    kind, _, detail = symptom.partition(":")
    spoken = {
        "exception": f"exception {detail}",
        "crash": f"a crash with {detail}",
        "hang": "a hang",
        "oom": "memory running out",
        "wrong": f"a wrong result ({detail})",
        "dies-on-invalid": f"dying on an invalid model ({detail})",
        "asserts-on-invalid": f"{detail} on an invalid model",
        "accepts-invalid": f"accepting an invalid model ({detail})",
    }
    return spoken.get(kind, symptom)
