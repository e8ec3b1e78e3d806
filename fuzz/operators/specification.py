"""What an operator specification is, and what it becomes at one opset.

A `Specification` is one row of the operator table (`fuzz.operators.families`). It says what the schema of ONNX does
not: the order in which the operator's unknowns are instantiated, and from which finite domains. Arity, dtypes and
attribute types come from `onnx.defs` at the opset that is asked for, and are not repeated.

`Specification.grow` is the operator's constraint solver in the sense of Isra (section 3.3): in-degree, first input,
attributes, remaining inputs. Each step sees only values that are already fixed, so its domain is a finite set without
quantifiers; it holds whatever the steps before it chose, so nothing is ever taken back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx
from onnx.defs import OpSchema

from fuzz.operators import dtypes, encoding
from fuzz.operators.dtypes import COMMON, RANGE, Interval

if TYPE_CHECKING:
    from fuzz.operators.growth import Growth

#: Values that an attribute may have; None: it is left out.
Value = int | float | str | tuple[int, ...] | None
#: From the range of a dtype to the values that an operator takes; None where it cannot be used with that range.
Within = Callable[[float, float], Interval | None]
Grow = Callable[["Growth", "Operator"], None]


def everything(low: float, high: float) -> Interval:
    """All values of the dtype."""
    return low, high


def share(parts: float) -> Within:
    """Values of which `parts` may be added up."""
    return lambda low, high: (-(-low // parts) if low else low, high // parts)


def root(terms: float = 1) -> Within:
    """Values of which `terms` products of two may be added up."""

    def within(low: float, high: float) -> Interval:
        most = math.sqrt(high / terms)
        return max(low, -most), most

    return within


def between(least: float, most: float) -> Within:
    """Values within bounds, as far as the dtype has them."""

    def within(low: float, high: float) -> Interval | None:
        found = max(low, least), min(high, most)
        return found if found[0] <= found[1] else None

    return within


class Domain:
    """Dtypes of a tensor, each with the range that its values must lie in."""

    __slots__ = ("bounds", "common", "dtypes")

    def __init__(self, codes: Collection[int], within: Within = everything) -> None:
        found = {code: within(*RANGE[code]) for code in sorted(codes)}
        self.bounds: dict[int, Interval] = {
            code: bounds for code, bounds in found.items() if bounds and dtypes.fresh_intervals(code, *bounds)
        }
        self.dtypes = tuple(self.bounds)
        self.common = tuple(code for code in self.dtypes if code in COMMON) or self.dtypes


@dataclass(frozen=True)
class Specification:
    """One operator of the table.

    `degrees` are the numbers of inputs that a node may be given (absent optional ones do not count). `first` is the
    type variable of the first input (that of the schema when empty), `within` the values that it may hold, `others`
    further domains by name, each from a type variable, its values, and dtypes that are left out. `attributes` are
    those whose domains depend on nothing. `since` and `until` are the opsets whose form of the operator this
    describes. Of the dtypes that the schema allows, `without` are left out, and all but those in `only` where it is
    given, for the reason that stands beside it in the table. `bodies`: its nodes hold graphs of their own.
    """

    op_type: str
    grow: Grow
    degrees: tuple[int, ...] = (1,)
    first: str = ""
    within: Within = everything
    others: Mapping[str, tuple[str, Within] | tuple[str, Within, frozenset[int]]] = field(default_factory=dict)
    attributes: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    since: int = 1
    until: int = 1 << 16
    without: frozenset[int] = frozenset()
    only: frozenset[int] | None = None
    bodies: bool = False


class Operator:
    """A specification at one opset, with everything encoded that does not depend on the graph.

    `types` are the dtypes of every type variable of the schema; `choices` the combinations of the independent
    attributes, as values and as bytes; `domain` that of the first input, `others` those that the row names.
    """

    __slots__ = ("bodies", "choices", "degrees", "domain", "grow", "head", "op_type", "opset", "others", "types")

    def __init__(self, specification: Specification, schema: OpSchema, opset: int) -> None:
        self.op_type, self.opset, self.grow = specification.op_type, opset, specification.grow
        self.head = encoding.operator_head(self.op_type)
        self.degrees, self.bodies = specification.degrees, specification.bodies
        self.types = {each.type_param_str: codes(each.allowed_type_strs) for each in schema.type_constraints}
        first = specification.first or (schema.inputs[0].type_str if schema.inputs else "")
        allowed = self.types.get(first) or codes([first])
        if specification.only is not None:
            allowed &= specification.only
        self.domain = Domain(allowed - specification.without, specification.within)
        self.others = {
            key: Domain((self.types.get(variable) or codes([variable])).difference(*without), within)
            for key, (variable, within, *without) in specification.others.items()
        }
        names, values = list(specification.attributes), list(specification.attributes.values())
        self.choices: tuple[tuple[tuple[Value, ...], bytes], ...] = tuple(
            (choice, b"".join(map(encoding.attribute, names, choice))) for choice in itertools.product(*values)
        )


_CODES = {
    f"tensor({name})": code
    for name, code in (
        ("float", onnx.TensorProto.FLOAT),
        ("double", onnx.TensorProto.DOUBLE),
        *((key.lower(), number) for key, number in onnx.TensorProto.DataType.items()),
    )
}


def codes(type_strings: Collection[str]) -> frozenset[int]:
    """The dtypes among ONNX's type strings; sequences, optionals and what IR version 13 lacks are left out."""
    return frozenset(_CODES[each] for each in type_strings if _CODES.get(each) in RANGE)


def bind(specification: Specification, opset: int) -> Operator | None:
    """The operator at that opset, None where ONNX has it in another form or not at all."""
    if not specification.since <= opset <= specification.until or not onnx.defs.has(specification.op_type, ""):
        return None
    try:
        schema = onnx.defs.get_schema(specification.op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
    if schema.deprecated:
        return None
    operator = Operator(specification, schema, opset)
    return operator if operator.domain.bounds or not schema.inputs else None
