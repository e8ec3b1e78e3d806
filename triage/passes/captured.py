"""Bodies that only have to read values from outside: copies of these instead of nodes whose results nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import all_bodies
from fuzz.wire import Value
from triage.submodel import free_names, initializer_names, load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Each body that has such nodes in turn, with all of them as copies, and without what nobody reads then.

    First of inputs alone: constants are seldom what matters.
    """
    constants = initializer_names(load(case).graph)
    found: dict[str, Case] = {}
    for at in range(len(all_bodies(load(case).graph))):
        for spared in (constants, set()):
            model = load(case)
            body = all_bodies(model.graph)[at]
            if _copied(body, {name for name in free_names(body) if name and name not in spared}):
                candidate = with_model(case, model)
                found.setdefault(candidate.id, candidate)
    yield from found.values()


def _copied(body: onnx.GraphProto, outer: set[str]) -> bool:
    """Make copies of the outer values that unread nodes read, drop these nodes, in place; whether that left fewer."""
    left: list[onnx.NodeProto] = []
    read = {info.name for info in body.output}
    copied: set[str] = set()
    for node in reversed(body.node):
        if read.isdisjoint(node.output):
            copied |= outer & reads(node)
            continue
        left.insert(0, node)
        read |= reads(node)
    copies = [helper.make_node("Identity", [name], [f"{name}_copy"]) for name in sorted(copied - read)]
    if len(left) + len(copies) >= len(body.node):
        return False
    replace_items(body.node, [*left, *copies])
    return True
