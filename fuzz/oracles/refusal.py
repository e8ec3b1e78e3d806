"""The oracle for models with one deliberate violation (HirGen, sections 3.1.5 and 5.4): how the compiler refuses them.

A clear error is the right answer. To die is none, nor is an assertion of the compiler's own, nor to say nothing at all:
a model that breaks the standard, compiled and run without a word, gives a result that nobody can rely on.
"""

from __future__ import annotations

import tomllib
from functools import cache

from fuzz.case import Origin, Outcome, Status
from fuzz.data import data_path
from fuzz.oracles import crash
from fuzz.unsupported import Rule

#: How the variant of a case begins that breaks the standard on purpose; then comes what it breaks (`Kind`).
DISRUPTIVE = "disruptive-"
#: Symptoms, each before a colon and a detail; the third is `crash.dies_on_invalid`.
ACCEPTS, ASSERTS, DIES = "accepts-invalid", "asserts-on-invalid", "dies-on-invalid"
#: Those that an invalid model shows.
ON_INVALID = (ACCEPTS, ASSERTS, DIES)


def variant(kind: str) -> str:
    """The variant of a case that breaks something of that kind."""
    return f"{DISRUPTIVE}{kind}"


def broken(origin: Origin) -> str:
    """What a case breaks on purpose, "" where it breaks nothing."""
    return origin.variant.removeprefix(DISRUPTIVE) if origin.variant.startswith(DISRUPTIVE) else ""


def symptom(outcome: Outcome, kind: str) -> str:
    """The symptom of a compiler that does not refuse a model as it should, "" where it does. Pure.

    ``dies-on-invalid:…``, ``asserts-on-invalid:CLASS`` or ``accepts-invalid:KIND``; `kind` is what the model breaks.
    """
    died = crash.dies_on_invalid(outcome)
    if died:
        return died
    if outcome.status is Status.EXCEPTION and outcome.error and internal(outcome):
        return f"{ASSERTS}:{outcome.error.type}"
    return f"{ACCEPTS}:{kind}" if outcome.status is Status.OK else ""


def internal(outcome: Outcome) -> str:
    """Why the error of an outcome is no refusal but an assertion, or an exception that nobody raised; else ""."""
    if outcome.error is None:
        return ""
    error, stage = outcome.error, outcome.stage
    return next((rule.reason for rule in _rules() if rule.matches(error, stage)), "")


@cache
def _rules() -> tuple[Rule, ...]:
    with data_path("internal.toml").open("rb") as file:
        return tuple(Rule(**entry) for entry in tomllib.load(file)["rule"])
