"""Nodes with inputs that nobody made fit: what the baselines of Isra's evaluation (section 4.1) draw.

A draft has the form of its operator: in-degree, dtypes, and attributes that are right for *some* inputs. Its real
inputs are existing tensors of the dtype, or new ones, of any shape.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx
from onnx import TensorProto, helper

from fuzz.generators.models import Generated, Parameters, UnusableParameters
from fuzz.operators.dtypes import raw_slice
from fuzz.operators.growth import GraphInput, Growth, Limits
from fuzz.operators.shapes import SIZE, Shape, ranks
from fuzz.operators.specification import Operator

_EXAMPLE = Limits(picking_rate=0.0, constants=0.0, parameters=0.0)
#: So many attempts in a row that are invalid: none will be valid.
HOPELESS = 10_000


@dataclass
class Sketch:
    """A model in the making: nodes, constants, graph inputs, every tensor's dtype, and the types of results."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[GraphInput] = field(default_factory=list)
    dtypes: dict[str, int] = field(default_factory=dict)
    types: dict[str, onnx.ValueInfoProto] = field(default_factory=dict)
    count: int = 0

    def name(self) -> str:
        """A name that no tensor has yet."""
        self.count += 1
        return f"t{self.count}"

    def copy(self) -> Sketch:
        """A sketch that grows on its own."""
        parts = (list(self.nodes), list(self.constants), list(self.inputs), dict(self.dtypes), dict(self.types))
        return Sketch(*parts, self.count)

    def generated(self, parameters: Parameters, rejected: int) -> Generated:
        """The model; outputs are what no node reads."""
        read = {name for node in self.nodes for name in node.input}
        ends = [self.types[name] for node in self.nodes for name in node.output if name and name not in read]
        inputs = [helper.make_tensor_value_info(each.name, each.dtype, each.shape) for each in self.inputs]
        model = _model(parameters, self.nodes, inputs, ends, self.constants)
        data = model.SerializeToString(deterministic=True)
        return Generated(data, tuple(self.inputs), len(self.nodes), rejected)

    def accepts_last(self, parameters: Parameters) -> bool:
        """Whether ONNX finds the last node valid for its inputs. The types of its outputs are then known.

        Empty results count as invalid: no compiler is asked about nothing, and shape inference dies of slicing it.
        """
        node = self.nodes[-1]
        constants = [each for each in self.constants if each.name in node.input]
        fixed = {each.name for each in constants}
        given = {each.name: each for each in self.inputs}
        inputs = [
            helper.make_tensor_value_info(name, given[name].dtype, given[name].shape)
            if name in given
            else self.types[name]
            for name in dict.fromkeys(name for name in node.input if name and name not in fixed)
        ]
        outputs = [helper.make_tensor_value_info(name, self.dtypes[name], None) for name in node.output if name]
        model = _model(parameters, [node], inputs, outputs, constants)
        try:
            inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
            onnx.checker.check_model(inferred, full_check=True)
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError):
            return False
        found = {each.name: each for each in inferred.graph.output}
        self.types.update(found)
        return all(
            dim.dim_value > 0 or not dim.HasField("dim_value")
            for each in found.values()
            for dim in each.type.tensor_type.shape.dim
        )


def _model(
    parameters: Parameters,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    constants: Sequence[onnx.TensorProto],
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", parameters.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=parameters.ir_version)


def drawable(parameters: Parameters) -> tuple[Operator, ...]:
    """The operators to draw from: those without bodies. Raises UnusableParameters."""
    found = tuple(each for each in parameters.operators() if not each.bodies)
    if not found:
        raise UnusableParameters("the baselines grow no bodies: name other operators than If, Loop and Scan, too")
    return found


def hopeless(parameters: Parameters) -> str:
    """What is wrong where no attempt is valid."""
    limits = parameters.limits
    return (
        f"{HOPELESS} attempts in a row were invalid: allow more of --rank {limits.rank} and --length {limits.length}, "
        "fewer of --ops, or name more --operators"
    )


def draft(sketch: Sketch, operator: Operator, draw: random.Random, parameters: Parameters) -> None:
    """Add one node, inputs by chance."""
    example = Growth(draw, (TensorProto.FLOAT,), _EXAMPLE)
    operator.grow(example, operator)
    made = onnx.load_from_string(example.model(parameters.opset, parameters.ir_version, all_outputs=True)).graph
    steering = {f"t{number}" for number in example.steering}
    names: dict[str, str] = {"": ""}
    for constant in made.initializer:
        if constant.name in steering:
            names[constant.name] = sketch.name()
            constant.name = names[constant.name]
            sketch.constants.append(constant)
    for given in example.inputs():
        names[given.name] = _input(sketch, given, draw, parameters.limits)
    node = made.node[-1]
    inputs = [names[name] for name in node.input]
    outputs = [sketch.name() if name else "" for name in node.output]
    dtypes = {each.name: each.type.tensor_type.elem_type for each in made.output}
    sketch.dtypes.update({new: dtypes[old] for old, new in zip(node.output, outputs, strict=True) if old})
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)
    sketch.nodes.append(node)


def _input(sketch: Sketch, wanted: GraphInput, draw: random.Random, limits: Limits) -> str:
    existing = [name for name, code in sketch.dtypes.items() if code == wanted.dtype]
    if existing and draw.random() < limits.picking_rate:
        return draw.choice(existing)
    name = sketch.name()
    shape = _any_shape(draw, limits)
    sketch.dtypes[name] = wanted.dtype
    if draw.random() < limits.constants and wanted.dtype != TensorProto.STRING:
        data = raw_slice(wanted.dtype, SIZE[shape], wanted.interval, draw.random())
        sketch.constants.append(helper.make_tensor(name, wanted.dtype, shape, data, raw=True))
    else:
        sketch.inputs.append(GraphInput(name, wanted.dtype, shape, wanted.interval))
    return name


def _any_shape(draw: random.Random, limits: Limits) -> Shape:
    return Growth(draw, (), limits).shape_of_rank(ranks(0))
