"""Whether the case is a valid test at all: checker, shape inference, reference, stated preconditions."""

from __future__ import annotations

from fuzz import validity
from fuzz.oracles import crash
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong", "death")


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where it is invalid, except when the compiler dies of it: it should have refused."""
    broken = hearing.known.invalid or validity.violation(hearing.case, hearing.values)
    if not broken:
        return None
    died = crash.dies_on_invalid(hearing.outcome)
    if died:
        sentence = f"the case is invalid ({broken}); a compiler must refuse it and not die ({died})"
        return Evidence("validity", Side.AGAINST, sentence, {"invalid": broken, "dies": True})
    return Evidence(
        "validity", Side.FOR, f"the case is no valid test: {broken}", {"invalid": broken}, Ruling.INVALID_TEST
    )
