"""Readable names for values: what the operator calls them, else short ones for long ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.wire import Value
from triage.schemas import schema_of
from triage.submodel import initializer_names, load, rename, with_model

KINDS = ("onnx",)
LONGEST = 8
#: The names that people give: inputs, initializers, outputs, and what is in between.
_INPUTS, _CONSTANTS, _OUTPUTS, _BETWEEN = "xyz", "w", "y", "t"


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate in which every long or odd name of the main graph is a readable one; good names stay."""
    model = load(case)
    graph = model.graph
    formal = _formal(model)
    taken = {name for name in _all_names(graph) if _good(name) or formal.get(name) == name}
    renamed: dict[str, str] = {}
    for name, wanted in formal.items():
        if name != wanted and not _good(name) and wanted not in taken:
            renamed[name] = wanted
            taken.add(wanted)
    made = [name for node in walk(graph) for name in node.output if name]
    made += [info.name for node in walk(graph) for body in bodies(node) for info in body.input]
    returned = [info.name for info in graph.output]
    groups = (
        ([info.name for info in graph.input], _INPUTS),
        (sorted(initializer_names(graph)), _CONSTANTS),
        (returned, _OUTPUTS),
        (made, _BETWEEN),
    )
    for names, letters in groups:
        fresh = _fresh(letters, taken)
        for name in names:
            if name not in renamed and name not in taken and not _good(name):
                renamed[name] = next(fresh)
    named = [body for node in walk(graph) for body in bodies(node) if len(body.name) > LONGEST]
    shown = "g" if len(graph.name) > LONGEST or not graph.name else graph.name
    if not renamed and not named and shown == graph.name:
        return
    for body in named:
        body.name = "body"
    graph.name = shown
    rename(model, renamed)
    yield with_model(case, model, {renamed.get(name, name): value for name, value in case.inputs.items()})


def _formal(model: onnx.ModelProto) -> dict[str, str]:
    """What the specification calls the tensors of a model's only operator; nothing for a larger model."""
    node = model.graph.node[0] if len(model.graph.node) == 1 else None
    schema = schema_of(node, model) if node else None
    if node is None or schema is None:
        return {}
    pairs = [*zip(node.input, schema.inputs, strict=False), *zip(node.output, schema.outputs, strict=False)]
    return {name: formal.name for name, formal in pairs if name and formal.name.isidentifier()}


def _good(name: str) -> bool:
    return name.isidentifier() and name.isascii() and len(name) <= LONGEST


def _fresh(letters: str, taken: set[str]) -> Iterator[str]:
    """x, y, z, x0, x1 …, without those already in use; each is taken as it is given out."""
    numbered: Iterable[str] = (f"{letters[0]}{number}" for number in itertools.count())
    for name in itertools.chain(letters, numbered):
        if name not in taken:
            taken.add(name)
            yield name


def _all_names(graph: onnx.GraphProto) -> set[str]:
    names = {name for node in walk(graph) for name in [*node.input, *node.output]}
    for body in [graph, *(body for node in walk(graph) for body in bodies(node))]:
        names |= {info.name for info in [*body.input, *body.output]} | initializer_names(body)
    return names
