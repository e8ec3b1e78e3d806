"""Shorter sequences among the graph inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fuzz.case import Case
from fuzz.wire import Value

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every sequence emptied, cut to one item, to half, and without its last item."""
    for name, value in case.inputs.items():
        if isinstance(value, list):
            for length in dict.fromkeys((0, 1, len(value) // 2, len(value) - 1)):
                if 0 <= length < len(value):
                    yield replace(case, inputs={**case.inputs, name: value[:length]}, expected=None)
