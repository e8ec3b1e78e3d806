"""Bodies without what only wires them: what nobody reads, copies of a value, constants as nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import onnx
from onnx import AttributeProto

from fuzz.case import Case
from fuzz.operators.graph import all_bodies, walk
from fuzz.wire import Value
from triage.submodel import load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All of it at once; then each kind of change."""
    for changes in (_CHANGES, *((change,) for change in _CHANGES)):
        model = load(case)
        for change in changes:
            change(model.graph)
        if model.SerializeToString() != load(case).SerializeToString():
            yield with_model(case, model)


def _without_unread(graph: onnx.GraphProto) -> None:
    """Results of an If, and what a Loop or a Scan collects, go where nobody reads them."""
    read = {info.name for info in graph.output}.union(*(reads(node) for node in graph.node))
    for node in graph.node:
        inner = [attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH]
        told = _SKIPPED.get(node.op_type) if not node.domain else None
        before = told(node) if told else len(node.output)
        gone = [at for at in range(before, len(node.output)) if node.output[at] not in read]
        if len(gone) == len(node.output):
            gone = gone[1:]
        for body in inner if gone else ():
            ahead = len(body.output) - len(node.output)  # a Loop's body begins with the condition
            replace_items(body.output, [info for at, info in enumerate(body.output) if at - ahead not in gone])
            _swept(body)
        replace_items(node.output, [name for at, name in enumerate(node.output) if at not in gone])


#: Attributes of Scan with a number for each result that it collects.
_PLACED = frozenset(("scan_output_axes", "scan_output_directions", "directions"))


def _states(scan: onnx.NodeProto) -> int:
    """How many values a Scan hands on; all outputs where it sets an axis or a direction for each that it collects."""
    numbers: dict[str, int] = {attribute.name: attribute.i for attribute in scan.attribute}
    if _PLACED.intersection(numbers):
        return len(scan.output)
    return len(scan.input) - numbers["num_scan_inputs"]


#: Attributes of Scan with a number for each input that it goes along.
_PER_INPUT = frozenset(("scan_input_axes", "scan_input_directions"))
#: How many of the first outputs have to stay.
_SKIPPED: Mapping[str, Callable[[onnx.NodeProto], int]] = {
    "If": lambda node: 0,
    "Loop": lambda node: max(0, len(node.input) - 2),
    "Scan": _states,
}


def _without_unread_inputs(graph: onnx.GraphProto) -> None:
    """What a Scan goes along for a body that does not look at it; one input it must have."""
    for node in [node for node in walk(graph) if node.op_type == "Scan" and not node.domain]:
        numbers: dict[str, AttributeProto] = {attribute.name: attribute for attribute in node.attribute}
        body, count = numbers["body"].g, numbers["num_scan_inputs"].i
        if len(node.input) != len(body.input):  # the first version of Scan has an input more
            continue
        states = len(node.input) - count
        read = {info.name for info in body.output}.union(*(reads(one) for one in body.node))
        gone = [at for at in range(count) if body.input[states + at].name not in read]
        gone = gone[1:] if len(gone) == count else gone
        kept = [at for at in range(len(node.input)) if at - states not in gone]
        replace_items(node.input, [node.input[at] for at in kept])
        replace_items(body.input, [body.input[at] for at in kept])
        numbers["num_scan_inputs"].i = count - len(gone)
        for name in _PER_INPUT & numbers.keys():
            left = [number for at, number in enumerate(numbers[name].ints) if at not in gone]
            replace_items(numbers[name].ints, left)


def _swept(body: onnx.GraphProto) -> None:
    """Drop the nodes that nothing reads any more, in place."""
    while True:
        read = {info.name for info in body.output}.union(*(reads(node) for node in body.node))
        kept = [node for node in body.node if read.intersection(node.output)]
        if len(kept) == len(body.node):
            return
        replace_items(body.node, kept)


def without_copies(graph: onnx.GraphProto) -> None:
    """A result that is a copy of the body's input or of a node's result is that value itself, if nothing else is."""
    for body in all_bodies(graph):
        own = {info.name for info in body.input} | {name for node in body.node for name in node.output}
        for node in [node for node in body.node if node.op_type == "Identity" and not node.domain]:
            source, result = node.input[0], node.output[0]
            named = {info.name for info in body.output}
            if source in own and result in named and source not in named:
                body.node.remove(node)
                _read_instead(body, result, source)


def _read_instead(body: onnx.GraphProto, result: str, source: str) -> None:
    for node in walk(body):
        node.input[:] = [source if name == result else name for name in node.input]
    for inner in [body, *all_bodies(body)]:
        for info in inner.output:
            info.name = source if info.name == result else info.name


def _without_constant_nodes(graph: onnx.GraphProto) -> None:
    """Those that are no results, which are left to `triage.passes.returned`."""
    for body in all_bodies(graph):
        as_initializers(body, [node for node in body.node if not _gives_back(body, node)])


def as_initializers(body: onnx.GraphProto, nodes: Iterable[onnx.NodeProto]) -> None:
    """Those of the nodes that are constants as initializers of the body, in place."""
    for node in nodes:
        if node.op_type == "Constant" and not node.domain and [each.name for each in node.attribute] == ["value"]:
            tensor = body.initializer.add()
            tensor.CopyFrom(node.attribute[0].t)
            tensor.name = node.output[0]
            body.node.remove(node)


def _gives_back(body: onnx.GraphProto, node: onnx.NodeProto) -> bool:
    return any(info.name in node.output for info in body.output)


def _without_unread_constants(graph: onnx.GraphProto) -> None:
    for body in all_bodies(graph):
        read = {info.name for info in body.output}.union(*(reads(node) for node in body.node))
        replace_items(body.initializer, [tensor for tensor in body.initializer if tensor.name in read])


_CHANGES: tuple[Callable[[onnx.GraphProto], None], ...] = (
    _without_unread,
    without_copies,
    _without_constant_nodes,
    _without_unread_constants,
    _without_unread_inputs,
)
