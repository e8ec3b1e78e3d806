"""Model-local functions written out where they are called, so that their nodes can be dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx.inliner
from onnx import checker, shape_inference

from fuzz.case import Case
from fuzz.wire import Value
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All calls inlined; where functions import another opset, converted to the model's."""
    if not load(case).functions:
        return
    for convert in (False, True):
        try:
            inlined = onnx.inliner.inline_local_functions(load(case), convert)
        except (RuntimeError, ValueError, checker.ValidationError, shape_inference.InferenceError):
            return  # a model that the inliner refuses is reduced with its functions
        if not inlined.functions:
            yield with_model(case, inlined)
            return
