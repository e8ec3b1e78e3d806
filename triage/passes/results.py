"""Results of functions that nothing reads, and the nodes of functions that are not needed then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.wire import Value
from triage.submodel import Part, load, reads, replace_items, with_model

KINDS = ("onnx",)
#: A function's place in the model, and that of one of its results.
_Result = tuple[int, int]


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without any of them; then without each alone."""
    unread = _unread(load(case))
    if not unread:
        return
    model = load(case)
    while found := _unread(model):  # a call that goes leaves others unread
        _drop(model, found)
    yield with_model(case, model)
    for result in unread if len(unread) > 1 else ():
        model = load(case)
        _drop(model, [result])
        yield with_model(case, model)


def _unread(model: onnx.ModelProto) -> list[_Result]:
    """The results that no call's surroundings read, but for the last one that a function has."""
    found = []
    for place, function in enumerate(model.functions):
        calls = [(node, _read_in(part)) for part in _parts(model) for node in walk(part) if _calls(node, function)]
        gone = [
            at
            for at in range(len(function.output))
            if not any(at < len(node.output) and node.output[at] in read for node, read in calls)
        ]
        found += [(place, at) for at in gone[len(gone) == len(function.output) :]]
    return found


def _drop(model: onnx.ModelProto, results: list[_Result]) -> None:
    """Leave results out of functions and of their calls, in place, and nodes of the functions that nothing reads."""
    for place, function in enumerate(model.functions):
        gone = {at for where, at in results if where == place}
        for node in [node for part in _parts(model) for node in walk(part) if _calls(node, function)] if gone else ():
            replace_items(node.output, [name for at, name in enumerate(node.output) if at not in gone])
        replace_items(function.output, [name for at, name in enumerate(function.output) if at not in gone])
        _sweep(function)


def _sweep(function: onnx.FunctionProto) -> None:
    while True:
        read = set(function.output).union(*(reads(node) for node in function.node))
        kept = [node for node in function.node if read.intersection(node.output)]
        if len(kept) == len(function.node):
            return
        replace_items(function.node, kept)


def _parts(model: onnx.ModelProto) -> list[Part]:
    return [model.graph, *model.functions]


def _calls(node: onnx.NodeProto, function: onnx.FunctionProto) -> bool:
    return (node.domain, node.op_type) == (function.domain, function.name)


def _read_in(part: Part) -> set[str]:
    """What nodes of the part, those of bodies too, read, and what the part and its bodies yield."""
    found = {each.name for each in part.output} if isinstance(part, onnx.GraphProto) else set(part.output)
    for node in walk(part):
        found.update(node.input, *([info.name for info in body.output] for body in bodies(node)))
    return found
