"""Bugs that exist only in the eye of a predicate: which structure a model must hold to "fail".

``python -m benchmarks.bug_kinds 'SPEC' MODEL`` is the predicate for any reducer: exit code 1 if the model still
fails (`--invert`: 0), SPEC is JSON as `benchmarks.planting.Planted.spec` has it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

from fuzz.operators.graph import bodies

Spec = Mapping[str, Any]


# ---------------------------------------------------------------- reading a model


@dataclass
class View:
    """The nodes of one graph (or body, or function) and who feeds whom."""

    nodes: Sequence[onnx.NodeProto]
    outputs: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.made = {name: node for node in self.nodes for name in node.output}

    def of(self, op_type: str) -> list[onnx.NodeProto]:
        return [node for node in self.nodes if node.op_type == op_type]

    def feeders(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        return [self.made[name] for name in node.input if name in self.made]

    def chains(self, ops: Sequence[str]) -> Iterator[list[onnx.NodeProto]]:
        """Paths whose operators are `ops`, from the first producer to the last consumer; "*" is any."""
        for last in self.nodes if ops[-1] == "*" else self.of(ops[-1]):
            if len(ops) == 1:
                yield [last]
                continue
            for feeder in self.feeders(last):
                for path in self.chains(ops[:-1]):
                    if path[-1] is feeder:
                        yield [*path, last]

    def ends_chain(self, node: onnx.NodeProto, ops: Sequence[str]) -> bool:
        """Whether a path with the operators `ops` ends in `node`."""
        if ops[-1] not in ("*", node.op_type):
            return False
        return len(ops) == 1 or any(self.ends_chain(feeder, ops[:-1]) for feeder in self.feeders(node))

    def has_chain(self, ops: Sequence[str]) -> bool:
        return any(self.ends_chain(node, ops) for node in self.nodes)

    def above(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Every node that `node` needs."""
        found: dict[int, onnx.NodeProto] = {}
        waiting = self.feeders(node)
        while waiting:
            each = waiting.pop()
            if id(each) not in found:
                found[id(each)] = each
                waiting += self.feeders(each)
        return list(found.values())


def view(model: onnx.ModelProto) -> View:
    """The main graph."""
    return View(list(model.graph.node), {info.name for info in model.graph.output})


# ---------------------------------------------------------------- predicates


def _upstream(seen: View, spec: Spec) -> bool:
    first, last = spec["ops"]
    return any(above.op_type == first for node in seen.of(last) for above in seen.above(node))


def _scattered(seen: View, spec: Spec) -> bool:
    return all(seen.of(op_type) for op_type in spec["ops"])


def _siblings(seen: View, spec: Spec) -> bool:
    one, other = spec["ops"]
    return any(a.input[0] in b.input for a in seen.of(one) for b in seen.of(other) if a is not b)


def _diamond(seen: View, spec: Spec) -> bool:
    top, left, right, bottom = spec["ops"]
    for node in seen.of(bottom):
        sides = seen.feeders(node)
        for a in sides:
            for b in sides:
                if (a.op_type, b.op_type) == (left, right) and a is not b:
                    tops = [feeder for feeder in seen.feeders(a) if feeder.op_type == top]
                    if any(feeder is other for feeder in tops for other in seen.feeders(b)):
                        return True
    return False


def _even(seen: View, spec: Spec) -> bool:
    count = len(seen.of(spec["ops"][0]))
    return count > 0 and count % 2 == 0


def _masked(seen: View, spec: Spec) -> bool:
    """A pair, and any number of a third operator but exactly `mask`."""
    return seen.has_chain(spec["ops"][:2]) and len(seen.of(spec["ops"][2])) != spec["mask"]


def _returned(seen: View, spec: Spec) -> bool:
    return any(name in seen.outputs for path in seen.chains(spec["ops"]) for name in path[0].output)


def _hidden(seen: View, spec: Spec) -> bool:
    return any(not seen.outputs.intersection(path[0].output) for path in seen.chains(spec["ops"]))


def _attribute(seen: View, spec: Spec) -> bool:
    for node in seen.of(spec["ops"][-1]):
        values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if values.get(spec["name"]) == spec["value"] and seen.ends_chain(node, spec["ops"]):
            return True
    return False


def _rank(seen: View, spec: Spec, model: onnx.ModelProto) -> bool:
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    graph = inferred.graph
    ranks = {i.name: len(i.type.tensor_type.shape.dim) for i in [*graph.input, *graph.value_info, *graph.output]}
    mine = View(list(graph.node))
    return any(
        ranks.get(node.output[0]) == spec["rank"] and mine.ends_chain(node, spec["ops"])
        for node in mine.of(spec["ops"][-1])
    )


def _body(seen: View, spec: Spec) -> bool:
    return any(View(list(body.node)).has_chain(spec["ops"]) for node in seen.nodes for body in bodies(node))


def _function(model: onnx.ModelProto, spec: Spec) -> bool:
    called = {(node.domain, node.op_type) for node in model.graph.node}
    return any(
        (function.domain, function.name) in called and View(list(function.node)).has_chain(spec["ops"])
        for function in model.functions
    )


_OF_VIEW: Mapping[str, Callable[[View, Spec], bool]] = {
    "single": _scattered,
    "feeds": lambda seen, spec: seen.has_chain(spec["ops"]),
    "chain3": lambda seen, spec: seen.has_chain(spec["ops"]),
    "chain4": lambda seen, spec: seen.has_chain(spec["ops"]),
    "distance": lambda seen, spec: seen.has_chain(spec["ops"]),
    "upstream": _upstream,
    "upstream far": _upstream,
    "upstream three": lambda seen, spec: any(
        above.op_type == spec["ops"][1] and any(top.op_type == spec["ops"][0] for top in seen.above(above))
        for node in seen.of(spec["ops"][2])
        for above in seen.above(node)
    ),
    "scattered": _scattered,
    "scattered three": _scattered,
    "siblings": _siblings,
    "diamond": _diamond,
    "even": _even,
    "masked": _masked,
    "returned": _returned,
    "hidden": _hidden,
    "attribute": _attribute,
    "body": _body,
}


def fails(spec: Spec, model: onnx.ModelProto) -> bool:
    """Whether the model holds what the bug needs."""
    if spec["kind"] == "rank":
        return _rank(view(model), spec, model)
    if spec["kind"] == "function":
        return _function(model, spec)
    return _OF_VIEW[spec["kind"]](view(model), spec)


def main() -> int:
    """The predicate as a command."""
    parser_ = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser_.add_argument("spec")
    parser_.add_argument("model", type=Path)
    parser_.add_argument("--invert", action="store_true", help="exit code 0 if the model still fails")
    chosen = parser_.parse_args()
    model = onnx.load(chosen.model)
    onnx.checker.check_model(model)
    return int(fails(json.loads(chosen.spec), model) != chosen.invert)


if __name__ == "__main__":
    sys.exit(main())
