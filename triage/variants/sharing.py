"""Tensors that are read in several places, each place with a tensor of its own that holds the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.handwritten import apart
from triage.schemas import formal_inputs
from triage.submodel import all_nodes, load
from triage.variants import Variant
from triage.variants.relations import KIND
from triage.wording import enumerated

#: How the condition begins.
TEXT = "one tensor as "


def variants(case: Case) -> Iterator[Variant]:
    """One for each node, in bodies too, and each tensor that it reads twice; then for each that several nodes read."""
    yield from _of_one_node(case)
    yield from _of_several_nodes(case)


def _of_one_node(case: Case) -> Iterator[Variant]:
    for at, node in enumerate(all_nodes(load(case))):
        for name in dict.fromkeys(name for name in node.input if list(node.input).count(name) > 1 and name):
            formals = _formals(load(case), at, name)
            places = [(at, place) for place, read in enumerate(node.input) if read == name]
            own_each = apart(case, name, places[1:]) if len(formals) > 1 else None
            if own_each is not None:
                own = " and ".join(f"`{formal}`" for formal in formals)
                sentence = f"With a tensor of its own, of the same numbers, for each of {own} the same model passes."
                yield Variant(KIND, f"{TEXT}{enumerated(formals)}", sentence, (own_each,))


def _formals(model: onnx.ModelProto, at: int, name: str) -> list[str]:
    """What the specification calls the places in which the node reads the tensor; of a list it knows but one."""
    node = all_nodes(model)[at]
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    return [one.name for read, one in pairs if read == name and one.option != OpSchema.FormalParameterOption.Variadic]


def _of_several_nodes(case: Case) -> Iterator[Variant]:
    """Nodes of the main graph; two of them may be taken for one, or for steps of one after the other."""
    model = load(case)
    nodes = list(model.graph.node)
    numbers = {id(node): at for at, node in enumerate(all_nodes(model))}
    for name in dict.fromkeys(name for node in nodes for name in node.input if name):
        readers = [node for node in nodes if name in node.input]
        places = [(numbers[id(node)], at) for node in readers[1:] for at, read in enumerate(node.input) if read == name]
        own_each = apart(case, name, places) if len(readers) > 1 else None
        if own_each is not None:
            said = f"With a tensor of its own, of the same numbers, for each node that reads `{name}`"
            sentence = f"{said} the same model passes."
            yield Variant(KIND, f"{TEXT}{_roles(model, readers, name)}", sentence, (own_each,))


def _roles(model: onnx.ModelProto, readers: Sequence[onnx.NodeProto], name: str) -> str:
    """``X of both`` where two nodes of one operator read it, else ``X of RNN and data of Gather``."""
    roles = [f"{_formal(model, node, name)} of {node.op_type}" for node in readers]
    if len(set(roles)) > 1:
        return enumerated(list(dict.fromkeys(roles)))
    return f"{roles[0].rpartition(' of ')[0]} of {'both' if len(roles) == 2 else 'all'}"


def _formal(model: onnx.ModelProto, node: onnx.NodeProto, name: str) -> str:
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    return next((one.name for read, one in pairs if read == name), "input")
