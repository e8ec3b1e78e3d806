"""Constants, inputs and attributes that fit what a node reads, where a bypass gave it a tensor of another shape.

Between two nodes that a failure needs there may be some that change sizes and axes: a MatMul behind a Flatten cannot
read the Conv before it as long as its weights have the rows that they had. What is free (a constant, an input, a
window, a permutation) is made to fit, as a person would do who writes the two nodes down.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TypeProto, helper, numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies
from fuzz.operators.inference import negative
from fuzz.wire import Value
from triage.submodel import (
    add_initializer,
    initializer_names,
    load,
    replace_items,
    tensors,
    value_info,
    with_model,
)

_Shape = tuple[int, ...]
#: The shape that a free operand of a shape may get beside a computed one; None where there is none of that sort.
_Template = Callable[[_Shape, _Shape], _Shape | None]
#: Larger constants are not remade.
_MOST_ELEMENTS = 1 << 16
#: Attributes with a number for each axis, or each of the axes behind the channels.
_BY_AXIS = frozenset({"perm", "axes", "starts", "ends"})
_BY_WINDOW = frozenset({"kernel_shape", "strides", "dilations", "pads", "output_padding", "output_shape"})
#: Operators whose second operand has the channels of the first at this place; shape inference does not look at them.
_CHANNELS = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 1, "ConvTranspose": 0}
#: Operators of which further operands are vectors of the first one's channels.
_VECTORS = frozenset({"BatchNormalization", "InstanceNormalization", "GroupNormalization"})
#: Operators of which further operands have the last axes of the first one.
_LAST_AXES = frozenset({"LayerNormalization", "RMSNormalization"})


def fitted(case: Case) -> Case | None:
    """The case with what is free in its main graph made to fit what is computed; itself where all fits.

    None where something does not and nothing helps. What shape inference does not tell is taken to fit.
    """
    graph = _Graph(case)
    changed = False
    for node in graph.model.graph.node:
        if not graph.take(node):
            repair = next((each for each in graph.repairs(node) if graph.take(node, each)), None)
            if repair is None:
                return None
            graph.apply(node, repair)
            changed = True
    return graph.case() if changed else case


@dataclass(frozen=True)
class _Repair:
    """Other arrays for operands of a node, by position, and its attributes."""

    arrays: Mapping[int, np.ndarray]
    attributes: Sequence[AttributeProto]


class _Graph:
    """A model of which the nodes are gone through in order, with the types of what they read."""

    def __init__(self, case: Case) -> None:
        self._case, self.model = case, load(case)
        self._arrays = tensors(case, self.model)
        self._inputs: dict[str, Value] = dict(case.inputs)
        self._types = {name: _type(array) for name, array in self._arrays.items()}
        self._versions = {each.domain or "": each.version for each in self.model.opset_import}

    def take(self, node: NodeProto, repair: _Repair | None = None) -> bool:
        """Whether the node takes what it reads; its results are known then, as far as can be inferred."""
        if any(bodies(node)) or not onnx.defs.has(node.op_type, self._version(node), node.domain):
            return True
        given, types, arrays = NodeProto(), self._types, self._arrays
        given.CopyFrom(node)
        if repair is not None:
            replace_items(given.attribute, repair.attributes)
            other = {node.input[at]: array for at, array in repair.arrays.items()}
            types = types | {name: _type(array) for name, array in other.items()}
            arrays = arrays | other
        if any(name and name not in types for name in node.input):
            return True
        found = self._inferred(given, types, arrays)
        if found is None:
            return False
        read, made = (
            [_sizes(kinds.get(name)) for name in names] for kinds, names in ((types, node.input), (found, node.output))
        )
        if not made or any(map(negative, found.values())) or not _fits(given, read, made[0]):
            return False
        self._types.update(found)
        return True

    def _version(self, node: NodeProto) -> int:
        return int(self._versions.get("" if node.domain == "ai.onnx" else node.domain, 1))

    def _inferred(
        self, node: NodeProto, types: Mapping[str, TypeProto], arrays: Mapping[str, np.ndarray]
    ) -> Mapping[str, TypeProto] | None:
        """The types of the node's results; None where shape inference refuses the node."""
        schema = onnx.defs.get_schema(node.op_type, self._version(node), node.domain)
        read = {name: types[name] for name in node.input if name}
        if any(map(negative, read.values())):
            return None  # onnx would end the process (`fuzz.operators.inference`)
        data = {name: numpy_helper.from_array(arrays[name], name) for name in read if name in arrays}
        small = {name: value for name, value in data.items() if arrays[name].size <= _MOST_ELEMENTS}
        try:
            return onnx.shape_inference.infer_node_outputs(
                schema, node, read, small, opset_imports=list(self.model.opset_import)
            )
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError, ValueError):
            return None

    def repairs(self, node: NodeProto) -> Iterator[_Repair]:
        """What may help, the smallest changes first."""
        free = {at: self._arrays[name] for at, name in enumerate(node.input) if name in self._arrays}
        computed = [_sizes(self._types.get(name)) for name in node.input if name and name not in self._arrays]
        sizes = next((each for each in computed if each is not None), None)
        if sizes is None:
            return
        numbers = {at: array for at, array in free.items() if array.dtype.kind in "fcbiu" and not _configures(array)}
        settings = {at: array for at, array in free.items() if array.dtype.kind in "iu" and _configures(array)}
        all_attributes = list(_attributes(node, len(sizes)))
        for attributes, template, setting in itertools.product(all_attributes, _TEMPLATES, _settings(len(sizes))):
            arrays = {at: _reshaped(array, template(array.shape, sizes)) for at, array in numbers.items()}
            arrays |= {at: setting(array) for at, array in settings.items()}
            yield _Repair(arrays, attributes)

    def apply(self, node: NodeProto, repair: _Repair) -> None:
        """Change the node, and the operands that are its own; of those that others read it gets its own ones."""
        replace_items(node.attribute, repair.attributes)
        for at, array in repair.arrays.items():
            name = node.input[at]
            if array.shape == self._arrays[name].shape and np.array_equal(array, self._arrays[name]):
                continue
            if sum(list(each.input).count(name) for each in self.model.graph.node) > 1:
                own = f"{name}_of_{node.output[0]}"
                self._add(own, array, constant=name in initializer_names(self.model.graph))
                node.input[at] = own
            else:
                self._replace(name, array)

    def _add(self, name: str, array: np.ndarray, *, constant: bool) -> None:
        self._arrays[name], self._types[name] = array, _type(array)
        if constant:
            add_initializer(self.model, name, array)
        else:
            self.model.graph.input.append(value_info(name, array))
            self._inputs[name] = array

    def _replace(self, name: str, array: np.ndarray) -> None:
        graph = self.model.graph
        constant = name in initializer_names(graph)
        for group in (graph.initializer, graph.input):
            replace_items(group, [each for each in group if each.name != name])
        self._inputs.pop(name, None)
        self._add(name, array, constant=constant)

    def case(self) -> Case:
        """The case of the changed model."""
        return with_model(self._case, self.model, self._inputs)


def _type(array: np.ndarray) -> TypeProto:
    return value_info("", array).type  # type: ignore[union-attr]  # an array tells its type


def _sizes(kind: TypeProto | None) -> _Shape | None:
    """The sizes of a tensor that is known whole."""
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    return tuple(dim.dim_value for dim in dims) if all(dim.HasField("dim_value") for dim in dims) else None


def _fits(node: NodeProto, shapes: Sequence[_Shape | None], result: _Shape | None) -> bool:
    """What shape inference does not look at, of operands and a result of known sizes."""
    data = shapes[0] if shapes else None
    if data is None:
        return True
    if node.op_type == "Reshape":
        return result is None or math.prod(result) == math.prod(data)
    if node.op_type in _CHANNELS:
        return _takes_channels(node, data, shapes[3 if node.op_type == "QLinearConv" else 1])
    if node.op_type in _VECTORS:
        return all(shape is None or shape == data[1:2] for shape in shapes[1:])
    if node.op_type in _LAST_AXES:
        return all(shape is None or shape == data[len(data) - len(shape) :] for shape in shapes[1:])
    return True


def _takes_channels(node: NodeProto, data: _Shape, filters: _Shape | None) -> bool:
    """Whether a convolution has filters for as many channels as there are, along as many axes."""
    if filters is None:
        return True
    at = _CHANNELS[node.op_type]
    groups = next((each.i for each in node.attribute if each.name == "group"), 1) if at else 1
    return len(filters) == len(data) > 1 and bool(filters[at] * groups == data[1])


# ---------------------------------------------------------------- what is tried


def _configures(array: np.ndarray) -> bool:
    """Whether an operand is a shape, sizes or axes rather than data."""
    return array.dtype.kind in "iu" and array.ndim <= 1 and array.dtype.itemsize > 1


def _reshaped(array: np.ndarray, shape: _Shape | None) -> np.ndarray:
    if shape is None or shape == array.shape or int(np.prod(shape)) > _MOST_ELEMENTS:
        return array
    return np.resize(array if array.size else np.ones(1, array.dtype), shape).astype(array.dtype)


def _rows(shape: _Shape, beside: _Shape) -> _Shape | None:
    """As the right operand of a product of matrices."""
    return (*shape[:-2], beside[-1], shape[-1]) if len(shape) > 1 and beside else None


def _plain_rows(shape: _Shape, beside: _Shape) -> _Shape | None:
    """The same, one matrix for all."""
    return (beside[-1], shape[-1]) if len(shape) > 1 and beside else None


def _columns(shape: _Shape, beside: _Shape) -> _Shape | None:
    """As the left operand, or the right one that is transposed."""
    if len(shape) < 2 or len(beside) < 2:
        return None
    return (*shape[:-2], shape[-2], beside[-2])


def _transposed_rows(shape: _Shape, beside: _Shape) -> _Shape | None:
    return (*shape[:-1], beside[-1]) if len(shape) > 1 and beside else None


def _filters(shape: _Shape, beside: _Shape) -> _Shape | None:
    """As the filters of a convolution, with windows of one element where there are other axes now."""
    if len(shape) < 3 or len(beside) < 3:
        return None
    window = shape[2:] if len(shape) == len(beside) else (1,) * (len(beside) - 2)
    return (shape[0], beside[1], *window)


def _transposed_filters(shape: _Shape, beside: _Shape) -> _Shape | None:
    found = _filters(shape, beside)
    return (found[1], shape[1], *found[2:]) if found else None


def _along_channels(shape: _Shape, beside: _Shape) -> _Shape | None:
    return (beside[1],) if len(beside) > 1 else None


def _along_last(shape: _Shape, beside: _Shape) -> _Shape | None:
    return (beside[-1],) if beside else None


def _alike(shape: _Shape, beside: _Shape) -> _Shape | None:
    return beside


def _single(shape: _Shape, beside: _Shape) -> _Shape | None:
    return (1,) * len(shape)


def _unchanged(shape: _Shape, beside: _Shape) -> _Shape | None:
    return shape


_TEMPLATES: tuple[_Template, ...] = (
    _unchanged,
    *(_rows, _transposed_rows, _columns, _plain_rows),
    *(_filters, _transposed_filters),
    *(_along_channels, _along_last, _alike, _single),
)


def _settings(rank: int) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Other shapes, repeats, pads and axes for a tensor of `rank` axes."""
    plain = ([-1], [1], [0], [1] * rank, [0] * (2 * rank))
    return [lambda array: array, *(lambda array, each=each: np.array(each, array.dtype) for each in plain)]


def _attributes(node: NodeProto, rank: int) -> Iterator[list[AttributeProto]]:
    """The attributes as they are; without those about axes and windows; with windows of one element; axis 0."""
    given = list(node.attribute)
    yield given
    about = _BY_AXIS | _BY_WINDOW | {"axis"}
    if not any(each.name in about for each in given):
        return
    yield [each for each in given if each.name not in about]
    rest = [each for each in given if each.name not in about]
    if any(each.name == "kernel_shape" for each in given) and rank > 2:
        yield [*rest, helper.make_attribute("kernel_shape", [1] * (rank - 2))]
    if any(each.name == "axis" for each in given):
        yield [*(each for each in given if each.name != "axis"), helper.make_attribute("axis", 0)]
    if any(each.name == "axes" for each in given):
        yield [*(each for each in given if each.name != "axes"), helper.make_attribute("axes", [0])]
