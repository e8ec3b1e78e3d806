"""Model-local functions written out where they are called, so that their nodes can be dropped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import onnx.inliner
from onnx import checker, shape_inference

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Functions that call others inlined; then all (where they import another opset, converted to the model's)."""
    if not load(case).functions:
        return
    yield from _without_callers(case)
    for convert in (False, True):
        try:
            inlined = onnx.inliner.inline_local_functions(load(case), convert)
        except (RuntimeError, ValueError, checker.ValidationError, shape_inference.InferenceError):
            return  # a model that the inliner refuses is reduced with its functions
        if not inlined.functions:
            yield with_model(case, inlined)
            return


def _without_callers(case: Case) -> Iterator[Case]:
    """Functions that call others written out, and those that they call kept."""
    model = load(case)
    own = {(function.domain, function.name) for function in model.functions}
    callers = [
        (function.domain, function.name)
        for function in model.functions
        if any((node.domain, node.op_type) in own for node in walk(function))
    ]
    if callers:
        with contextlib.suppress(RuntimeError, ValueError, checker.ValidationError, shape_inference.InferenceError):
            yield with_model(case, onnx.inliner.inline_selected_functions(model, callers))
