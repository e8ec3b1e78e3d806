"""Names inside functions: each function has a scope of its own, so equal names in two of them are different values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx

from fuzz.operators.graph import bodies


def rename(nodes: Iterable[onnx.NodeProto], names: Mapping[str, str]) -> None:
    """Rename what nodes make and read, in place, bodies included."""
    for node in nodes:
        for field in (node.input, node.output):
            field[:] = [names.get(name, name) for name in field]
        for body in bodies(node):
            rename(body.node, names)
            for group in (body.input, body.output, body.value_info, body.initializer):
                for named in group:
                    named.name = names.get(named.name, named.name)


def localise(function: onnx.FunctionProto) -> None:
    """Number the names of a function from t1 in place, as if nothing were around it; graphs are numbered likewise.

    So names of one function are names of others and of the main graph: a compiler that inlines calls must keep them
    apart.
    """
    found = dict.fromkeys(name for name in [*function.input, *_made(function.node)] if name)
    names = {name: f"t{number}" for number, name in enumerate(found, start=1)}
    rename(function.node, names)
    function.input[:] = [names[name] for name in function.input]
    function.output[:] = [names[name] for name in function.output]


def _made(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """What nodes make and what their bodies name, in order."""
    for node in nodes:
        yield from node.output
        for body in bodies(node):
            yield from (each.name for each in [*body.input, *body.initializer])
            yield from _made(body.node)
