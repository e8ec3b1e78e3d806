"""Inputs and outputs declared with the shapes that they really have, so that a reader sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.wire import Value
from triage.submodel import load, value_info, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Outputs and inputs; then only the outputs, for a failure that needs an open size."""
    for with_inputs in (True, False):
        model = load(case)
        groups = [model.graph.output, model.graph.input] if with_inputs else [model.graph.output]
        for info in (info for group in groups for info in group):
            _declare(info, {**values, **case.inputs})
        if model.SerializeToString() != load(case).SerializeToString():
            yield with_model(case, model)


def _declare(info: onnx.ValueInfoProto, values: Mapping[str, Value]) -> None:
    actual = value_info(info.name, values.get(info.name))
    if actual is not None and actual.type.HasField("tensor_type") and info.type.HasField("tensor_type"):
        info.type.CopyFrom(actual.type)
