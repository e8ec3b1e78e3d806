"""A Keras layer's failure as that of the ONNX model which Keras exports, where the compiler gets the layer that way.

A model shows the compiler's developers more than a layer does: it needs no Keras, and its nodes can be left out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzz import registry
from fuzz.case import Case, Failure, Status, Target, options_from
from fuzz.judge import Judge
from fuzz.runner import Runner


def as_model(judge: Judge, failure: Failure) -> Failure:
    """The failure of the exported model, if that fails with the same symptom; else the `failure` itself."""
    if failure.case.kind != "keras" or not _goes_through_onnx(failure.target):
        return failure
    case = exported(judge.runner, judge.reference, failure.case, failure.target)
    found = judge.examine(case, failure.target).failure if case else None
    return found if found and found.symptom == failure.symptom else failure


def exported(runner: Runner, reference: Target, layer: Case, target: Target) -> Case | None:
    """The layer's model and inputs, exported as the target says; None where that fails."""
    manner = {"show": "onnx", "export": dict(target.options).get("export", "dynamic")}
    outcome = runner.run(layer, replace(reference, options=options_from(manner)))
    if outcome.status is not Status.OK:
        return None
    (_, model), *inputs = outcome.outputs
    assert isinstance(model, np.ndarray)
    return Case("onnx", model.tobytes(), dict(inputs), layer.origin)


def _goes_through_onnx(target: Target) -> bool:
    backend = registry.backend(target.backend)
    options = dict(target.options)
    return (
        "export" in backend.options
        and options.get("keras", next(iter(backend.options.get("keras", ["onnx"])))) == "onnx"
    )
