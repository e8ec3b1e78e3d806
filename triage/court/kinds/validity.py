"""Whether the case is a valid test at all: checker, shape inference, reference, stated preconditions."""

from __future__ import annotations

from fuzz import validity
from fuzz.case import Status
from fuzz.oracles import crash, refusal
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong", "death")


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where it is invalid, except when the compiler dies of it: it should have refused.

    A case that breaks the standard on purpose asks for a clear error; without one it is no invalid test.
    """
    broken = hearing.known.invalid or validity.violation(hearing.case, hearing.values)
    if not broken:
        return None
    on_purpose = hearing.known.broken
    died = refusal.symptom(hearing.outcome, on_purpose) if on_purpose else crash.dies_on_invalid(hearing.outcome)
    if died and not on_purpose and (trap := validity.trapping(hearing.case, hearing.values, hearing.outcome)):
        sentence = f"the case is no valid test, and {trap} ({broken})"
        return Evidence("validity", Side.FOR, sentence, {"invalid": broken}, Ruling.INVALID_TEST)
    if died and not on_purpose and _dies_alike(hearing):
        sentence = f"the case is no valid test: the reference itself dies of it in the same way ({broken})"
        return Evidence("validity", Side.FOR, sentence, {"invalid": broken}, Ruling.INVALID_TEST)
    if died:
        wanted = "must refuse it with a clear error" if on_purpose else "must refuse it and not die"
        sentence = f"the case is invalid ({broken}); a compiler {wanted}"
        return Evidence("validity", Side.AGAINST, sentence, {"invalid": broken, "dies": True})
    return Evidence(
        "validity", Side.FOR, f"the case is no valid test: {broken}", {"invalid": broken}, Ruling.INVALID_TEST
    )


def _dies_alike(hearing: Hearing) -> bool:
    """Whether the reference ends by the same signal: then the compiler does what it copies."""
    mine, theirs = hearing.outcome, hearing.known.outcome
    signals = [each.error.signal for each in (mine, theirs) if each.error is not None and each.status is Status.SIGNAL]
    return len(signals) == 2 and signals[0] == signals[1]
