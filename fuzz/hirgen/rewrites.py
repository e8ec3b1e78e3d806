"""Function rewrites (section 3.3.2): the same model with another chain of function calls.

ONNX has no functions as values, so two of the three exist there: a function that returns a call of the other, and the
function as a body that captures the parameters of a new one (a branch of If is what ONNX has of a closure). The third,
a function that returns a function, is done on Relax (`fuzz.backends._relax_functions`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

import onnx
from onnx import TensorProto, helper

from fuzz.hirgen.functions import DOMAIN
from fuzz.hirgen.naming import rename
from fuzz.operators.graph import walk

#: The condition under which a closure stands.
ALWAYS = "always"


class NoFunction(ValueError):
    """A model without local functions."""


def rewrite(model: onnx.ModelProto, how: str, draw: random.Random) -> onnx.ModelProto:
    """A model that computes the same: one of its functions is rewritten. Raises NoFunction."""
    if not model.functions:
        raise NoFunction("the model has no local function to be rewritten: wrap it first")
    rewritten = onnx.ModelProto()
    rewritten.CopyFrom(model)
    place = draw.randrange(len(rewritten.functions))
    function = rewritten.functions[place]
    name = f"g{sum(each.name.startswith('g') for each in rewritten.functions) + 1}"
    _redirect(rewritten, function.name, name)
    nodes = REWRITES[how](function)
    made = helper.make_function(
        DOMAIN, name, list(function.input), list(function.output), nodes, list(function.opset_import)
    )
    before, after = list(rewritten.functions)[: place + 1], list(rewritten.functions)[place + 1 :]
    del rewritten.functions[:]
    rewritten.functions.extend([*before, made, *after])  # the reference evaluator wants functions before their callers
    return rewritten


def _redirect(model: onnx.ModelProto, old: str, new: str) -> None:
    """All calls of one function go to another."""
    graphs: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    for node in (each for graph in graphs for each in walk(graph)):
        if node.domain == DOMAIN and node.op_type == old:
            node.op_type = new


def _call(function: onnx.FunctionProto, outputs: list[str]) -> onnx.NodeProto:
    return helper.make_node(function.name, list(function.input), outputs, domain=DOMAIN)


def call_through(function: onnx.FunctionProto) -> list[onnx.NodeProto]:
    """The nodes of a function that returns a call of the other."""
    return [_call(function, list(function.output))]


def closure(function: onnx.FunctionProto) -> list[onnx.NodeProto]:
    """The nodes of a function that holds the other as a body, which captures its parameters."""
    nodes = []
    names: dict[str, str] = {}
    for node in function.node:
        copied = onnx.NodeProto()
        copied.CopyFrom(node)
        names.update((name, f"inner_{name}") for name in node.output if name)
        nodes.append(copied)
    rename(nodes, names)
    inner = _body("closure", nodes, [names[name] for name in function.output])
    others = [f"other_{name}" for name in function.output]
    other = _body("other", [_call(function, others)], others)
    always = helper.make_tensor("value", TensorProto.BOOL, [], [True])
    return [
        helper.make_node("Constant", [], [ALWAYS], value=always),
        helper.make_node("If", [ALWAYS], list(function.output), then_branch=inner, else_branch=other),
    ]


def _body(name: str, nodes: list[onnx.NodeProto], outputs: list[str]) -> onnx.GraphProto:
    """A body; the types of what it gives are inferred."""
    return helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=each) for each in outputs])


#: By name, as origins of cases and manifests tell them.
REWRITES: Mapping[str, Callable[[onnx.FunctionProto], list[onnx.NodeProto]]] = {
    "call-through": call_through,
    "closure": closure,
}


def rewrites(model: onnx.ModelProto, draw: random.Random) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Every rewrite of the model, with its name. Raises NoFunction."""
    for how in REWRITES:
        yield how, rewrite(model, how, draw)
