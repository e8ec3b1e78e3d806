"""A Keras layer whose wrong result is open in one of its operators: relu of NaN within a Dense layer.

Rules are about operators and calls, and none is about a layer. The ONNX model that Keras writes of it is heard in its
place, on the compiler's own result, where the model gives what the layer gives.
"""

from __future__ import annotations

from dataclasses import replace

from fuzz import validity
from fuzz.case import Status
from fuzz.oracles import differential
from triage import exported
from triage.court.evidence import Evidence
from triage.court.hearing import Hearing
from triage.court.kinds import undefined

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """What is said of the model that the layer becomes; nothing of a case of another kind."""
    if hearing.case.kind != "keras" or not hearing.compares_values:
        return None
    model = exported.exported(hearing.runner, hearing.reference, hearing.case, hearing.target)
    if model is None:
        return None
    [known] = validity.judge(hearing.runner, [model], hearing.reference)
    layer = hearing.known.outcome
    if known.outcome.status is not Status.OK or differential.compare(known.outcome.values, layer.values):
        return None
    found = undefined.gather(replace(hearing, case=model, known=known))
    if found is None or found.settles is None:
        return None
    return replace(found, kind="layers", sentence=f"{found.sentence} It is part of the layer.")
