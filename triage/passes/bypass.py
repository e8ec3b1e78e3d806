"""Nodes taken out of a chain: their consumers read what the node read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import load, mend, rename, replace_items

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All nodes that have an input of their output's dtype and shape bypassed; then fewer, then single ones."""
    model = load(case)
    returned = {info.name for info in model.graph.output}
    detours: list[tuple[int, str, str]] = []  # position, the value that goes, the one that takes its place
    for at, node in enumerate(model.graph.node):
        source = _alike(node, values)
        if source and node.output[0] not in returned:
            detours.append((at, node.output[0], source))
    for chunk in chunks(len(detours)):
        candidate = _without(case, detours[chunk.start : chunk.stop], values)
        if candidate:
            yield candidate


def _alike(node: onnx.NodeProto, values: Mapping[str, Value]) -> str:
    """The first input with the dtype and shape of the only output that is used, "" when there is none."""
    if sum(bool(name) for name in node.output) != 1 or not node.output[0]:
        return ""
    result = values.get(node.output[0])
    for name in node.input:
        if _same_type(values.get(name), result):
            return str(name)
    return ""


def _same_type(one: Value, other: Value) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return (one.dtype, one.shape) == (other.dtype, other.shape)


def _without(case: Case, detours: list[tuple[int, str, str]], values: Mapping[str, Value]) -> Case | None:
    model = load(case)
    dropped = {at for at, _, _ in detours}
    sources = {name: source for _, name, source in detours}
    replace_items(model.graph.node, [node for at, node in enumerate(model.graph.node) if at not in dropped])
    rename(model, {name: _origin(name, sources) for name in sources})
    return mend(case, model, values)


def _origin(name: str, sources: Mapping[str, str]) -> str:
    """Where a chain of bypassed nodes begins; a graph has no cycles."""
    while name in sources:
        name = sources[name]
    return name
