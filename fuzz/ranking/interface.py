"""What ONNX declares of an operator: how much its converters have to tell apart, and what it can take and give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median

import onnx
from onnx.defs import OpSchema

from fuzz.ranking.item import Call, Tensor


def declared(operator: str) -> float:
    """How much more than a usual operator of ONNX one has to tell apart: `branches` as multiples of the median.

    1 for calls of a library, so that a file with both favours neither.
    """
    found = branches(operator)
    return 1.0 if found == 1 and "." in operator else found / _median()


@cache
def branches(operator: str) -> int:
    """(1 + attributes + inputs) of an operator's newest schema, times the number of its schemas so far.

    Every attribute, every input and every revision of the standard is a case that a converter may get wrong. 1 for
    what ONNX does not declare, the calls of a library above all. ``domain:name`` names an operator of another domain.
    """
    schemas = _schemas().get(operator, ())
    return (1 + len(schemas[-1].attributes) + len(schemas[-1].inputs)) * len(schemas) if schemas else 1


def fits(call: Call) -> bool:
    """Whether an operator can take so many tensors and give so many results; True for what ONNX does not declare.

    Where it cannot, the model has several operators, and the one that the instance names is only the first: an
    operator's tests in ONNX's suite have their functions' bodies beside them.
    """
    schemas = _schemas().get(call.operator, ())
    if not schemas:
        return True
    given = sum(
        isinstance(value, Tensor) and all(name not in schema.attributes for schema in schemas)
        for name, value in call.parameters.items()
    )
    takes, gives = max(schema.max_input for schema in schemas), max(schema.max_output for schema in schemas)
    return given <= takes and len(call.results) <= gives


@cache
def _median() -> float:
    return median(branches(name) for name in _schemas())


@cache
def _schemas() -> Mapping[str, Sequence[OpSchema]]:
    """The schemas of every operator, the newest last."""
    found: dict[str, list[OpSchema]] = defaultdict(list)
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda schema: schema.since_version):
        found[f"{schema.domain}:{schema.name}" if schema.domain else schema.name].append(schema)
    return found
