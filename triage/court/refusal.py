"""The reference cannot evaluate a valid model: heard through two implementations that can, and agree."""

from __future__ import annotations

from fuzz.case import Case, Status, Target
from fuzz.runner import Runner
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.court.thresholds import claims
from triage.court.weigh import REFERENCES
from triage.jury import Jury
from triage.projects import project
from triage.wording import enumerated

#: The rule whose claim this is: the reference stands alone.
_RULE = "outvoted_reference"


def heard(runner: Runner, reference: Target, case: Case) -> Judgement | None:
    """The judgement where the reference raises on a model that is valid otherwise; None where it does not, or where
    no two others agree on the result."""
    jury = Jury(runner, reference)
    failure = jury.examine(case, reference).failure
    if failure is None or failure.outcome.status is not Status.EXCEPTION:
        return None
    found = jury.agreement(case)
    if found is None:
        return None
    figures = {"backend": "reference", "kind": case.kind, "near": False, "symptom": failure.symptom}
    said = failure.detail.strip().splitlines()[0] if failure.detail.strip() else failure.symptom
    charge = Evidence("charge", Side.AGAINST, f"{project('reference')} raises: {said}", figures)
    names = enumerated([project(name) for name in found.jurors])
    votes = Evidence(
        "votes", Side.AGAINST, f"{names} run the model and agree on the result", {"agreeing": found.jurors}
    )
    return Judgement(
        Ruling.REFERENCE_BUG, votes.sentence, (charge, votes), REFERENCES[case.kind], _RULE, claims()[_RULE]
    )
