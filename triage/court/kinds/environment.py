"""The machine's own failures: a full disk, missing tools, a compiler that runs nothing here, a limit too tight."""

from __future__ import annotations

import re
from dataclasses import replace

from fuzz import catalogue
from fuzz.case import Error, Status
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import environment_rules, thresholds

SYMPTOMS = ("death",)
#: Outcomes that the limits of a run decide, and what they are limits of.
_LIMITS = {Status.OOM: "memory", Status.TIMEOUT: "time"}


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where the error names a failure of the machine, or the case itself is too large for it.

    And where the compiler fails on a tiny model with the same words: then it does not work here at all.
    """
    return _told(hearing) or _too_large(hearing) or _too_short(hearing) or _broken_here(hearing)


def _told(hearing: Hearing) -> Evidence | None:
    error = hearing.outcome.error
    rule = next((rule for rule in environment_rules() if error and rule.matches(error)), None)
    if rule is None:
        return None
    return Evidence("environment", Side.FOR, f"{rule.reason}: not the compiler's fault", {}, Ruling.ENVIRONMENT)


def _broken_here(hearing: Hearing) -> Evidence | None:
    """Asked of exceptions only, and where the tiny model's own operator is not on trial."""
    outcome, case = hearing.outcome, hearing.case
    if outcome.status is not Status.EXCEPTION or outcome.error is None or hearing.hurried():
        return None
    if catalogue.TINY_OPERATOR.encode() in case.model.lower():
        return None
    tiny = hearing.runner.run_fresh(catalogue.tiny_case(case.kind), hearing.target, limits=hearing.limits())
    if tiny.status is not outcome.status or tiny.error is None or _words(tiny.error) != _words(outcome.error):
        return None
    sentence = "the compiler fails on a single Relu with the same words: it does not work here"
    return Evidence("environment", Side.FOR, sentence, {"tiny": _words(tiny.error)[:300]}, Ruling.ENVIRONMENT)


def _too_short(hearing: Hearing) -> Evidence | None:
    """A time-out where the case ends in a longer time, which is twice the limit even if the court's is over then.

    A machine that is busy with other things makes a hang of what is merely slow.
    """
    if hearing.outcome.status is not Status.TIMEOUT:
        return None
    usual = hearing.runner.limits
    limit = usual.seconds
    longer = replace(usual, seconds=max(2 * limit, min(thresholds().patience * limit, hearing.left() / 2)))
    outcome = hearing.runner.run_fresh(hearing.case, hearing.target, limits=longer)
    if outcome.status is Status.TIMEOUT:
        return None
    sentence = f"it ends when it is given {longer.seconds:.3g} s instead of {limit:.3g} s: the limit was too short"
    figures = {"limit_seconds": limit, "longer_seconds": longer.seconds}
    return Evidence("environment", Side.FOR, sentence, figures, Ruling.ENVIRONMENT)


def _words(error: Error) -> str:
    """What an error says, without what differs from run to run."""
    return f"{error.type}: {re.sub(r'0x[0-9a-f]+|[0-9]+', '#', error.message)}"


def _too_large(hearing: Hearing) -> Evidence | None:
    """A time-out or a lack of memory where the reference too needs a large part of the limit."""
    limits, reference = hearing.runner.limits, hearing.known.outcome
    numbers = thresholds()
    if hearing.outcome.status in _LIMITS and reference.status in _LIMITS:
        what = _LIMITS[reference.status]
        sentence = f"the reference itself does not get along with the {what} allowed, so that nobody knows who could"
        return Evidence("environment", Side.FOR, sentence, {"reference": str(reference.status)}, Ruling.ENVIRONMENT)
    if hearing.outcome.status is Status.TIMEOUT and reference.seconds > numbers.slow_reference * limits.seconds:
        sentence = f"the reference itself needs {reference.seconds:.3g} s of the {limits.seconds:.3g} s allowed"
        figures = {"reference_seconds": reference.seconds, "limit_seconds": limits.seconds}
        return Evidence("environment", Side.FOR, sentence, figures, Ruling.ENVIRONMENT)
    if hearing.outcome.status is Status.OOM and reference.peak_mb > numbers.large_reference * limits.memory_mb:
        sentence = f"the reference itself needs {reference.peak_mb:.0f} of the {limits.memory_mb} MiB allowed"
        figures = {"reference_mb": reference.peak_mb, "limit_mb": limits.memory_mb}
        return Evidence("environment", Side.FOR, sentence, figures, Ruling.ENVIRONMENT)
    return None
