"""What a body gives back as an initializer, where it is a Constant node: one node less, the same constant.

Apart from the other constants of bodies: what a body gives back is what a failure can be about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.operators.graph import all_bodies
from fuzz.wire import Value
from triage.passes.bodies import as_initializers
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All of them at once."""
    model = load(case)
    for body in (body for part in (model.graph, *model.functions) for body in all_bodies(part)):
        as_initializers(body, list(body.node))
    if model.SerializeToString() != load(case).SerializeToString():
        yield with_model(case, model)
