"""A model that needs an operator set which the compiler does not know.

A compiler built before an operator set was written reads the model by the words of an older one. Whether it
says so or computes something else, what is new there is not supported; what fails in an older set as well is a bug.
"""

from __future__ import annotations

from fuzz import registry
from fuzz.case import Status
from fuzz.judge import Judge
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.passes import opset

SYMPTOMS = ("wrong", "death")


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where it needs a newer operator set to fail; a valid older form that fails speaks against."""
    version = opset.default_opset(hearing.case) if hearing.case.kind == "onnx" else 0
    newest = hearing.runner.newest_opset(hearing.target) if version else 0
    refused = hearing.outcome.status in (Status.OK, Status.EXCEPTION)  # to die is never an answer
    if not newest or version <= newest or not refused:
        return None
    name = registry.backend(hearing.target.backend).name
    figures = {"opset": version, "newest": newest}
    judge = Judge(hearing.runner, hearing.reference, hearing.perturb, counts_invalid=False)
    for case in opset.older(hearing.case):
        found = opset.default_opset(case)
        if found > newest:
            continue
        failure = judge.examine(case, hearing.target).failure
        if failure is not None and failure.symptom == hearing.symptom[0]:
            said = f"{name} does not know opset {version}, in which the case is written, but fails in {found} too"
            return Evidence("opset", Side.AGAINST, said, {**figures, "fails_in": found})
    sentence = f"the case needs opset {version}; this {name} knows opset {newest} at most, and nothing older fails"
    return Evidence("opset", Side.FOR, sentence, figures, Ruling.UNSUPPORTED)
