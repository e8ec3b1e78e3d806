"""How bad a bug is, and its labels, each with the reason. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuzz.oracles import differential
from triage.conditions import Condition
from triage.projects import described
from triage.variants.values import ALL


@dataclass(frozen=True)
class Label:
    """A label and the reason for it, a clause; "" where a sentence of the report says it."""

    name: str
    reason: str = ""


#: By the kind of symptom, the worst first: (severity, why).
_SEVERITIES = {
    "crash": ("high", "the whole process dies, which no caller can catch"),
    "hang": ("high", "the process never comes back"),
    "oom": ("high", "the process takes all memory"),
    "wrong": ("high", "the result is wrong and nothing says so"),
    "exception": ("medium", "a valid model is refused with an error, nothing wrong is computed"),
    "dies-on-invalid": ("low", "only a model that is invalid triggers it"),
    "asserts-on-invalid": ("low", "only a model that is invalid triggers it, and an error is raised"),
    "accepts-invalid": ("low", "only a model that is invalid triggers it"),
}
_SPECIAL = ("medium", "the result is wrong and nothing says so, but only for special values or empty tensors")
#: What a condition on values must begin with to be special.
_SPECIAL_VALUES = ("NaN", "infinite", "-inf", "+inf", "empty")


def severity(symptom: str, conditions: Sequence[Condition] = (), *, harmless: bool = True) -> tuple[str, str]:
    """``high``, ``medium`` or ``low``, and the clause that says why.

    `harmless` says of a wrong type that the values are right once they are converted.
    """
    kind = symptom.partition(":")[0]
    special = any(
        (one.needed or one.refuted) and one.text.removeprefix(ALL).startswith(_SPECIAL_VALUES) for one in conditions
    )
    if symptom == differential.DTYPE and harmless:
        return "medium", "the result has another type than it should, and nothing says so"
    return _SPECIAL if kind == "wrong" and special else _SEVERITIES.get(kind, ("medium", f"the symptom is {symptom}"))


def labels(backend: str, kind: str, symptom: str, part: str = "") -> tuple[Label, ...]:
    """The labels that the project's own tracker has for such a bug; none where its data names none.

    `kind` is that of the case, `part` the part of the compiler at fault, a `triage.localize.Part`.
    """
    return tuple(Label(one.name, one.reason) for one in described(backend).labels if one.fits(kind, symptom, part))
