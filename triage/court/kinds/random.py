"""Operators that are random by definition: no two results need be equal."""

from __future__ import annotations

from fuzz.oracles import undefined
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where a random operator reaches an output, or there is nothing to compare with.

    Not where elements differ that hang on no random number, nor where dtypes or shapes do.
    """
    case = hearing.case
    random = undefined.nondeterministic(case.kind, case.model, case.inputs)
    if random is not None and hearing.errs_in_form:
        sentence = f"{random.operator} is random by definition; but the numbers drawn have no part in dtypes and shapes"
        return Evidence("random", Side.AGAINST, sentence, {"operator": random.operator, "defined": True})
    if random is not None and hearing.errs_beside_random:
        sentence = f"{random.operator} is random by definition; but what does not hang on it differs, too"
        return Evidence("random", Side.AGAINST, sentence, {"operator": random.operator, "defined": True})
    if random is not None:
        sentence = f"{random.operator} is random by definition: {random.reason}"
        figures = {"operator": random.operator, "specification": random.spec}
        return Evidence("random", Side.FOR, sentence, figures, Ruling.NONDETERMINISTIC)
    if hearing.known.incomparable:
        sentence = f"there is nothing to compare with: {hearing.known.incomparable}"
        return Evidence("random", Side.FOR, sentence, {}, Ruling.UNSUPPORTED)
    return None
