"""Parameters of functions that nothing in them reads, and what calls give for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate without any of them: inputs and attributes; what nothing else reads goes with them."""
    model = load(case)
    changed = False
    for function in model.functions:
        changed |= _shortened(model, function)
    if not changed:
        return
    read = {info.name for info in model.graph.output}.union(*(reads(node) for node in model.graph.node))
    before = set[str]().union(*(reads(node) for node in load(case).graph.node))
    gone = before - read
    for group in (model.graph.input, model.graph.initializer):
        replace_items(group, [named for named in group if named.name not in gone])
    yield with_model(case, model, {name: value for name, value in case.inputs.items() if name not in gone})


def _shortened(model: onnx.ModelProto, function: onnx.FunctionProto) -> bool:
    """Drop the unread inputs and attributes of one function and its calls in place; whether there were any."""
    read = set(function.output).union(*(reads(node) for node in function.node))
    kept = [at for at, name in enumerate(function.input) if name in read]
    referred = {attribute.ref_attr_name for node in walk(function) for attribute in node.attribute}
    dropped = {name for name in function.attribute if name not in referred}
    if len(kept) == len(function.input) and not dropped:
        return False
    for part in (model.graph, *model.functions):
        for node in walk(part):
            if (node.domain, node.op_type) == (function.domain, function.name):
                replace_items(node.input, [node.input[at] for at in kept if at < len(node.input)])
                replace_items(node.attribute, [a for a in node.attribute if a.name not in dropped])
    replace_items(function.input, [function.input[at] for at in kept])
    replace_items(function.attribute, [name for name in function.attribute if name not in dropped])
    return True
