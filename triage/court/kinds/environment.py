"""The machine's own failures: a full disk, missing libraries, a limit that the case alone reaches."""

from __future__ import annotations

from fuzz.case import Status
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import environment_rules, thresholds

SYMPTOMS = ("death",)


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where the error names a failure of the machine, or the case itself is too large for it."""
    return _told(hearing) or _too_large(hearing)


def _told(hearing: Hearing) -> Evidence | None:
    error = hearing.outcome.error
    text = f"{error.message}\n{error.stderr}" if error else ""
    rule = next((rule for rule in environment_rules() if rule.says.search(text)), None)
    if rule is None:
        return None
    return Evidence("environment", Side.FOR, f"{rule.reason}: not the compiler's fault", {}, Ruling.ENVIRONMENT)


def _too_large(hearing: Hearing) -> Evidence | None:
    """A time-out or a lack of memory where the reference too needs a large part of the limit."""
    limits, reference = hearing.runner.limits, hearing.known.outcome
    numbers = thresholds()
    if hearing.outcome.status is Status.TIMEOUT and reference.seconds > numbers.slow_reference * limits.seconds:
        sentence = f"the reference itself needs {reference.seconds:.3g} s of the {limits.seconds:.3g} s allowed"
        figures = {"reference_seconds": reference.seconds, "limit_seconds": limits.seconds}
        return Evidence("environment", Side.FOR, sentence, figures, Ruling.ENVIRONMENT)
    if hearing.outcome.status is Status.OOM and reference.peak_mb > numbers.large_reference * limits.memory_mb:
        sentence = f"the reference itself needs {reference.peak_mb:.0f} of the {limits.memory_mb} MiB allowed"
        figures = {"reference_mb": reference.peak_mb, "limit_mb": limits.memory_mb}
        return Evidence("environment", Side.FOR, sentence, figures, Ruling.ENVIRONMENT)
    return None
