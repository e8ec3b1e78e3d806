"""Disruptive generation (section 3.1.5): a valid graph whose last node breaks the standard in exactly one place."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import onnx
from onnx import helper

from fuzz.hirgen import standard, strict, violations
from fuzz.hirgen.coverage import VIOLATION, Coverage
from fuzz.hirgen.functions import reads
from fuzz.hirgen.inserting import Inserting
from fuzz.hirgen.violations import Broken, Kind, Site, Violation
from fuzz.operators import encoding
from fuzz.operators.growth import GraphInput, Limits
from fuzz.operators.shapes import Shape
from fuzz.operators.specification import Operator

_LIMITS = Limits()
#: So many nodes are grown before an operator is taken for one that cannot be broken.
_MOST = 8 * strict.PATIENCE
#: So many proposals of a kind are looked at before another node is grown.
_PROPOSALS = 8


class NothingToBreak(ValueError):
    """No operator whose nodes can be broken."""


@dataclass(frozen=True)
class Disrupted:
    """A model that breaks the standard in one place, and its graph inputs. `rejected` nodes were grown in vain."""

    model: bytes
    inputs: tuple[GraphInput, ...]
    nodes: int
    violation: Violation
    rejected: int
    gain: int


def disrupt(
    draw: random.Random,
    operators: Sequence[Operator],
    count: int,
    coverage: Coverage,
    *,
    opset: int,
    ir_version: int,
    guided: bool = True,
    limits: Limits = _LIMITS,
) -> Disrupted:
    """A graph of `count` nodes, the last one broken in a way that is new to the coverage (unguided: in any way).

    Nodes before it are strict, and nothing reads the broken one, which has no body: the rest of the model is valid.
    Raises NothingToBreak.
    """
    breakable = [each for each in operators if not each.bodies]
    valid = strict.grow(draw, operators, count - 1, Coverage(), guided=False, limits=limits).growth
    chosen, kind = strict.data_types(draw), draw.choice(list(Kind))
    for rejected in range(_MOST if breakable else 0):
        if strict.propose(valid, draw, breakable, chosen) is not None:
            model = onnx.load_from_string(valid.model(opset, ir_version))
            patient = rejected < strict.PATIENCE
            kinds = [kind] if patient else draw.sample(list(Kind), len(Kind))
            found = _broken(
                _site(valid, model.graph, opset), model, kinds, coverage if guided and patient else None, valid, draw
            )
            if found is not None:
                gain = coverage.add([(VIOLATION, found.violation.item)])
                inputs = _apply(model, found, valid)
                return Disrupted(model.SerializeToString(), inputs, count, found.violation, rejected, gain)
            valid.take_back()
    raise NothingToBreak("the standard lets these operators have whatever was tried; allow others, without bodies")


def _broken(
    site: Site,
    model: onnx.ModelProto,
    kinds: Sequence[Kind],
    coverage: Coverage | None,
    growth: Inserting,
    draw: random.Random,
) -> Broken | None:
    """The last node, broken in one way that the standard forbids and `coverage` does not know; None: in none."""
    for kind in kinds:
        for _, broken in zip(range(_PROPOSALS), violations.candidates(site, kind, draw), strict=False):
            if coverage is not None and not coverage.is_new([(VIOLATION, broken.violation.item)]):
                continue
            rule = standard.complaint(_undeclared(model, broken, growth))
            if rule:
                return replace(broken, violation=replace(broken.violation, rule=rule))
    return None


def _undeclared(model: onnx.ModelProto, broken: Broken, growth: Inserting) -> bytes:
    """The model to be judged: nothing is declared of what the broken node gives, since nobody can say what that is."""
    tried = onnx.ModelProto()
    tried.CopyFrom(model)
    _apply(tried, broken, growth)
    _drop(tried.graph.output, set(broken.node.output))
    data: bytes = tried.SerializeToString()
    return data


def _site(growth: Inserting, graph: onnx.GraphProto, opset: int) -> Site:
    node = graph.node[-1]
    constants = {each.name: each for each in graph.initializer}
    tensors = dict(_tensors(growth, node)) | {
        name: (constants[name].data_type, tuple(constants[name].dims)) for name in node.input if name in constants
    }
    steering = frozenset(map(encoding.name, growth.steering))
    return Site(node, onnx.defs.get_schema(node.op_type, opset, ""), opset, tensors, constants, steering)


def _tensors(growth: Inserting, node: onnx.NodeProto) -> Mapping[str, tuple[int, Shape]]:
    """dtype and shape of what the last node reads; a steering constant's shape is not known here."""
    return {encoding.name(each): (growth.dtype[each], growth.shape[each]) for each in growth.last[0] if each}


def _apply(model: onnx.ModelProto, broken: Broken, growth: Inserting) -> tuple[GraphInput, ...]:
    """Put the broken node in place of the last one; the inputs that the model then has.

    Of its results only the rank is still declared. What it no longer reads becomes an output, or goes.
    """
    graph, known = model.graph, {each.name: each for each in growth.inputs()}
    dropped = set(graph.node[-1].input) - set(broken.node.input)
    graph.node[-1].CopyFrom(broken.node)
    for info in graph.output:
        if info.name in graph.node[-1].output:
            for dim in info.type.tensor_type.shape.dim:
                dim.Clear()
    read = {name for node in graph.node for name in reads(node)}
    made = {name for node in graph.node for name in node.output}
    _drop(graph.initializer, dropped - read)
    _drop(graph.input, dropped - read)
    if broken.fed is not None:
        known[broken.fed.name] = broken.fed
        graph.input.append(helper.make_tensor_value_info(broken.fed.name, broken.fed.dtype, broken.fed.shape))
    if broken.constant is not None:
        graph.initializer.append(broken.constant)
    for number in growth.last[0]:
        name = encoding.name(number)
        if name in (dropped & made) - read:
            graph.output.append(helper.make_tensor_value_info(name, growth.dtype[number], growth.shape[number]))
    return tuple(known[info.name] for info in graph.input)


def _drop(items: Any, names: set[str]) -> None:
    """Remove the members of a repeated field with these names."""
    kept = [each for each in items if each.name not in names]
    del items[:]
    items.extend(kept)
