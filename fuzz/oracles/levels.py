"""Oracle 2 of HirGen (section 3.3.2): a model, the same model optimised, and the model rewritten give the same.

They are held against each other two by two, on one compiler: in their outputs, and in how they end. Where the original
runs, the others must. Pure.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from fuzz.case import Outcome, Status
from fuzz.oracles import crash, metamorphic

#: What is held against each other. A rewritten model may be optimised, too.
ORIGINAL, OPTIMISED, MUTATED, BOTH = FORMS = ("original", "optimised", "mutated", "mutated and optimised")


@dataclass(frozen=True)
class Parting:
    """Two forms that part: `form` does not do what `like` does.

    `symptom` is that of a death or of a deviation; `distance` is the largest difference of two elements.
    """

    like: str
    form: str
    symptom: str
    detail: str
    distance: float = float("inf")


def partings(outcomes: Mapping[str, Outcome], delta: float = metamorphic.DELTA) -> list[Parting]:
    """The pairs that part, in the order of `FORMS`; none where the original does not run.

    What a compiler takes for unsupported has given no answer.
    """
    known = outcomes.get(ORIGINAL)
    if known is None or known.status is not Status.OK:
        return []
    found = [
        Parting(ORIGINAL, form, crash.symptom(outcome), crash.said(outcome))
        for form, outcome in outcomes.items()
        if crash.symptom(outcome)
    ]
    ran = [form for form in FORMS if form in outcomes and outcomes[form].status is Status.OK]
    for like, form in itertools.combinations(ran, 2):
        deviation = metamorphic.compare(outcomes[form].values, outcomes[like].values, delta)
        if deviation is not None:
            found.append(Parting(like, form, deviation.symptom, deviation.detail, deviation.distance))
    return sorted(found, key=lambda each: (FORMS.index(each.form), FORMS.index(each.like)))
