"""Deliberate violations of the standard (section 3.1.5): a node, changed in one place so that it is no longer valid.

Proposals are made from the operator's schema; what counts is the standard's own judgement (`fuzz.hirgen.standard`):
type constraints, attributes, strict inference of shapes. What that lets pass is no violation, and is not used.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from onnx.defs import OpSchema

from fuzz.operators import dtypes
from fuzz.operators.growth import GraphInput
from fuzz.operators.shapes import SIZE, Shape
from fuzz.operators.specification import codes
from fuzz.operators.table import formal_inputs


class Kind(StrEnum):
    """What of a node is broken."""

    DTYPE = "dtype"
    SHAPE = "shape"
    RANK = "rank"
    ATTRIBUTE = "attribute"


@dataclass(frozen=True)
class Violation:
    """One violation. `where` is the formal input or the attribute; `valid` and `given` are what stood there and what
    stands there now; `rule` is the standard's complaint in one line.
    """

    kind: Kind
    operator: str
    where: str
    valid: str
    given: str
    rule: str = ""

    @property
    def item(self) -> str:
        """What coverage knows the violation by: the constraint that is broken, and the data type that breaks it.

        Sizes and numbers are left out: with them hardly anything would ever be covered.
        """
        given = f" {self.given}" if self.kind is Kind.DTYPE else ""
        return f"{self.operator} {self.kind} {self.where}{given}"


@dataclass(frozen=True)
class Site:
    """The node to be broken, the only reader of what it is given, and what is known of its tensors.

    `tensors` are dtype and shape by name; `constants` the initializers by name, of which `steering` take the place of
    attributes (axes, a target shape).
    """

    node: onnx.NodeProto
    schema: OpSchema
    opset: int
    tensors: Mapping[str, tuple[int, Shape]]
    constants: Mapping[str, onnx.TensorProto]
    steering: frozenset[str]


@dataclass(frozen=True)
class Broken:
    """A broken node; `fed` is a new graph input that it reads, `constant` a new initializer."""

    node: onnx.NodeProto
    violation: Violation
    fed: GraphInput | None = None
    constant: onnx.TensorProto | None = None


#: Names of what a broken node is given; no generated tensor is called so.
FED, CONSTANT = "broken_input", "broken_constant"
#: Data types that a tensor may be given instead, those first that compilers know: of what they do not know, they say
#: so, and nothing more is tried. Rare ones come so often.
_EVERYDAY = tuple(code for code in dtypes.ALL if code in dtypes.COMMON or code in dtypes.FLOATS)
_RARE = tuple(code for code in dtypes.ALL if code not in _EVERYDAY and code not in (14, 15))
_SELDOM = 0.1
#: Constants of so many numbers at most take the place of attributes.
_FEW = 16
_FAR = (9, -9, 1 << 20, -(1 << 20))
_INTEGER, _INTEGERS = AttributeProto.INT, AttributeProto.INTS


def candidates(site: Site, kind: Kind, draw: random.Random) -> Iterator[Broken]:
    """Proposals for breaking the node that way, in random order; most of them are violations."""
    proposals = list(_PROPOSALS[kind](site, draw))
    draw.shuffle(proposals)
    yield from proposals


# ---------------------------------------------------------------- inputs


def _read(site: Site) -> Iterator[tuple[int, str, int, Shape]]:
    """(position, formal name, dtype, shape) of every input whose type is known."""
    formals = formal_inputs(site.node, {"": site.opset})
    for at, (name, formal) in enumerate(zip(site.node.input, formals, strict=True)):
        if name in site.tensors and formal:
            yield at, formal, *site.tensors[name]


def _of_dtypes(site: Site, draw: random.Random) -> Iterator[Broken]:
    """Data types that the input cannot take, and such as contradict another input of the same type variable."""
    allowed = {each.type_param_str: codes(each.allowed_type_strs) for each in site.schema.type_constraints}
    types = {each.name: each.type_str for each in site.schema.inputs}
    for at, formal, dtype, shape in _read(site):
        takes = allowed.get(types[formal], frozenset({dtype}))
        shared = sum(types[other] == types[formal] for _, other, _, _ in _read(site)) > 1
        others = _RARE if draw.random() < _SELDOM else _EVERYDAY
        wrong = [code for code in others if code not in takes or (shared and code != dtype)]
        for code in draw.sample(wrong, min(3, len(wrong))):
            yield _given(site, Kind.DTYPE, at, formal, code, shape, _dtype_name(dtype), _dtype_name(code))


def _data(site: Site) -> Iterator[tuple[int, str, int, Shape]]:
    """The same without what takes the place of attributes: another shape would be other values, too."""
    return (each for each in _read(site) if site.node.input[each[0]] not in site.steering)


def _of_shapes(site: Site, draw: random.Random) -> Iterator[Broken]:
    """One axis longer or shorter, the rank as it was."""
    for at, formal, dtype, shape in _data(site):
        for axis, size in enumerate(shape):
            other = draw.choice([each for each in (1, 2, 3, 4, 5, 7) if each != size])
            changed = (*shape[:axis], other, *shape[axis + 1 :])
            yield _given(site, Kind.SHAPE, at, formal, dtype, changed, str(list(shape)), str(list(changed)))


def _of_ranks(site: Site, draw: random.Random) -> Iterator[Broken]:
    """Axes left out or added."""
    for at, formal, dtype, shape in _data(site):
        longer = tuple(draw.randint(1, 3) for _ in range(draw.randint(1, 3)))
        for changed in {(), shape[1:], shape[:-1], (*longer, *shape), (*shape, *longer)} - {shape}:
            if len(changed) != len(shape):
                yield _given(site, Kind.RANK, at, formal, dtype, changed, str(list(shape)), str(list(changed)))


def _given(site: Site, kind: Kind, at: int, formal: str, dtype: int, shape: Shape, valid: str, given: str) -> Broken:
    """The node with another tensor as that input: a graph input, or a constant where it was given one."""
    node = onnx.NodeProto()
    node.CopyFrom(site.node)
    violation = Violation(kind, node.op_type, formal, valid, given)
    constant = site.constants.get(site.node.input[at])
    interval = dtypes.fresh_intervals(dtype, *dtypes.RANGE[dtype])[0]
    if constant is not None and dtype != dtypes.STRING and SIZE[shape] <= dtypes.POOL:
        node.input[at] = CONSTANT
        data = _like(constant, dtype) if kind is Kind.DTYPE else dtypes.raw_slice(dtype, SIZE[shape], interval, 0.0)
        tensor = TensorProto(name=CONSTANT, data_type=dtype, dims=shape, raw_data=data)
        return Broken(node, violation, constant=tensor)
    node.input[at] = FED
    return Broken(node, violation, fed=GraphInput(FED, dtype, shape, interval))


def _like(constant: onnx.TensorProto, dtype: int) -> bytes:
    """The numbers of a constant in another dtype, as far as it holds them."""
    if constant.data_type == dtypes.STRING:
        return dtypes.raw_slice(dtype, SIZE[tuple(constant.dims)], dtypes.fresh_intervals(dtype, 0, 1)[0], 0.0)
    with np.errstate(all="ignore"):
        array = numpy_helper.to_array(constant).astype(np.float64).astype(dtypes.numpy_dtype(dtype))
    return dtypes.raw(array, dtype)


def _dtype_name(code: int) -> str:
    return str(TensorProto.DataType.Name(code)).lower()


# ---------------------------------------------------------------- attributes


def _of_attributes(site: Site, draw: random.Random) -> Iterator[Broken]:
    """Numbers far off, lists of another length, required attributes left out; and constants that take their place."""
    given = {each.name: each for each in site.node.attribute}
    for name, attribute in site.schema.attributes.items():
        if attribute.type == OpSchema.AttrType.INT:
            valid = str(given[name].i) if name in given else ""
            yield _with(site, name, valid, draw.choice(_FAR))
        elif attribute.type == OpSchema.AttrType.INTS and name in given:
            for values in _lists(list(given[name].ints), draw):
                yield _with(site, name, str(list(given[name].ints)), values)
        if attribute.required and name in given:
            yield _with(site, name, "given", None)
    for at, formal, dtype, shape in _read(site):
        constant = site.constants.get(site.node.input[at])
        if constant is not None and dtype == dtypes.INT64 and len(shape) <= 1 and SIZE[shape] <= _FEW:
            yield from _constants(site, at, formal, constant, draw)


def _lists(values: list[int], draw: random.Random) -> Iterator[list[int]]:
    yield [*values, draw.choice((*values, 1))]
    if values:
        yield values[:-1]
        place = draw.randrange(len(values))
        yield [*values[:place], draw.choice(_FAR), *values[place + 1 :]]
        yield [values[0]] * len(values)


def _with(site: Site, name: str, valid: str, value: int | list[int] | None) -> Broken:
    """The node with that attribute; None leaves it out."""
    node = onnx.NodeProto()
    node.CopyFrom(site.node)
    kept = [each for each in node.attribute if each.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
    if value is not None:
        kind = _INTEGERS if isinstance(value, list) else _INTEGER
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    told = "left out" if value is None else str(value)
    return Broken(node, Violation(Kind.ATTRIBUTE, node.op_type, name, valid or "default", told))


def _constants(site: Site, at: int, formal: str, constant: onnx.TensorProto, draw: random.Random) -> Iterator[Broken]:
    """Axes, shapes and the like that are initializers."""
    array = numpy_helper.to_array(constant)
    values = [int(each) for each in array.ravel()]
    lists = _lists(values, draw) if array.ndim else iter([[draw.choice(_FAR)]])
    for changed in lists:
        node = onnx.NodeProto()
        node.CopyFrom(site.node)
        node.input[at] = CONSTANT
        shape = (len(changed),) if array.ndim else ()
        tensor = numpy_helper.from_array(np.array(changed, np.int64).reshape(shape), CONSTANT)
        violation = Violation(Kind.ATTRIBUTE, node.op_type, formal, str(values), str(changed))
        yield Broken(node, violation, constant=tensor)


_PROPOSALS: Mapping[Kind, Callable[[Site, random.Random], Iterator[Broken]]] = {
    Kind.DTYPE: _of_dtypes,
    Kind.SHAPE: _of_shapes,
    Kind.RANK: _of_ranks,
    Kind.ATTRIBUTE: _of_attributes,
}
