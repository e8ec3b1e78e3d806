"""Fewer graph outputs, and none of the nodes that only the others needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.wire import Value
from triage.submodel import keep_outputs, load

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Each output alone; then all but one."""
    names = [info.name for info in load(case).graph.output]
    choices = [{name} for name in names] + [set(names) - {name} for name in names]
    for kept in choices:
        if 0 < len(kept) < len(names):
            candidate = keep_outputs(case, kept, values)
            if candidate:
                yield candidate
