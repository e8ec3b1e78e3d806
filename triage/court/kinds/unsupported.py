"""An honest refusal: the compiler says that it does not take the operator or type."""

from __future__ import annotations

from fuzz import registry, unsupported
from fuzz.case import Status
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("death",)


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case for refusals that ``data/unsupported`` recognises, and for values that cannot be handed over."""
    outcome = hearing.outcome
    if outcome.status not in (Status.UNSUPPORTED, Status.SKIPPED) or outcome.error is None:
        return None
    name = registry.backend(hearing.target.backend).name
    why = unsupported.reason(name, outcome.error, outcome.stage) or outcome.error.message.strip()[:300]
    return Evidence("unsupported", Side.FOR, f"{name} refuses the case honestly: {why}", {}, Ruling.UNSUPPORTED)
