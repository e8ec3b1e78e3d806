"""Constant nodes as initializers: one node less, the same constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import add_initializer, load, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All Constant nodes of the main graph replaced; then fewer, then single ones."""
    model = load(case)
    returned = {info.name for info in model.graph.output}
    found = [
        (at, node.output[0])
        for at, node in enumerate(model.graph.node)
        if node.op_type == "Constant" and node.output[0] not in returned
        if isinstance(values.get(node.output[0]), np.ndarray)
    ]
    for chunk in chunks(len(found)):
        yield _with_initializers(case, dict(found[at] for at in chunk), values)


def _with_initializers(case: Case, replaced: Mapping[int, str], values: Mapping[str, Value]) -> Case:
    model = load(case)
    replace_items(model.graph.node, [node for at, node in enumerate(model.graph.node) if at not in replaced])
    for name in replaced.values():
        value = values[name]
        assert isinstance(value, np.ndarray)  # chosen so in `candidates`
        add_initializer(model, name, value)
    return with_model(case, model)
