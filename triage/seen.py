"""What the tests that failed first say of a reduced case: they have not lost what reducing takes away. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.schemas import formal_inputs
from triage.submodel import load, tensors
from triage.variants import Variant, values


def same_operator(case: Case, other: Case) -> bool:
    """Whether both are models of one node, of the same operator."""
    if case.kind != "onnx" or other.kind != "onnx":
        return False
    nodes = [parsed(one.model).graph.node for one in (case, other)]
    return all(len(one) == 1 for one in nodes) and len({(one[0].domain, one[0].op_type) for one in nodes}) == 1


def lacks(case: Case, variant: Variant) -> bool:
    """Whether a case has numbers where a variant in values speaks of special ones, and none of these.

    `variant` is told by its words, the last of which is what the specification calls the input.
    """
    words, _, formal = variant.text.rpartition(" ")
    read = _formal(case)
    array = read.get(formal)
    if array is None or array.dtype.kind not in "fiu" or not np.isfinite(array.astype(np.float64)).any():
        return False
    places = (name for name, other in read.items() if other is array)  # it is called by the first of these
    return not {f"{words} {name}" for name in places} & {one.text for one in values.variants(case)}


def does_without(case: Case, attribute: str, seen: Sequence[Case]) -> bool:
    """Whether a failing test of the same operator does without an attribute that a model of other sizes cannot lack."""
    return any(same_operator(case, one) and attribute not in given(one) for one in seen)


def given(case: Case) -> frozenset[str]:
    """The attributes of the nodes of an ONNX model."""
    nodes = parsed(case.model).graph.node if case.kind == "onnx" else ()
    return frozenset(one.name for node in nodes for one in node.attribute)


def unlike(cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many cases: first one for each set of attributes, in their order, then the others."""
    first = {given(case): case for case in reversed(cases)}
    kept = [case for case in cases if first[given(case)] is case]
    return [*kept, *(case for case in cases if first[given(case)] is not case)][:most]


def _formal(case: Case) -> dict[str, Array]:
    """The tensors that the only node reads, by the specification's names; one that is read twice has two."""
    model = load(case)
    node, arrays = model.graph.node[0], tensors(case, model)
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    return {formal.name: arrays[name] for name, formal in pairs if name in arrays and arrays[name].dtype.isbuiltin == 1}
