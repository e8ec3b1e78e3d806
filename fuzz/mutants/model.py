"""The graph of a mutant: nodes in topological order, who reads what, and how mutations change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper

from fuzz.backends._profiled import mentioned_by
from fuzz.mutants.mutation import Constant, Inserted, Mutation
from fuzz.mutants.order import Order

#: Before this IR version an initializer must be a graph input, too.
_FIRST_IR_VERSION = 4


class MissingMutation(ValueError):
    """A mutation cannot be applied without another one that was left out."""


@dataclass
class Node:
    """A node of the mutant. `proto` is its message; None until it is written, and when its inputs change."""

    op: str
    inputs: list[str]
    outputs: tuple[str, ...]
    owner: int
    attributes: Mapping[str, object] = field(default_factory=dict)
    proto: NodeProto | None = None


class MutantModel:
    """The seed, and what mutations have made of it. A reader is a node's name or ``output/K``."""

    def __init__(
        self,
        seed: onnx.ModelProto,
        shapes: Mapping[str, Sequence[int]],
        frozen: Callable[[str], np.ndarray | None] = lambda name: None,
    ) -> None:
        """`shapes`: those of the graph inputs at the profiled input, which mutants are made for.

        `frozen` gives what a tensor is at the profiled input, where that is to stand for one that was left out.
        """
        self._frozen = frozen
        self._frame = _frame(seed, shapes)
        self.nodes: dict[str, Node] = {}
        self.maker: dict[str, str] = {}
        self.readers: dict[str, list[str]] = {}
        self.outputs = [entry.name for entry in seed.graph.output]
        self._constants: dict[str, np.ndarray] = {}
        self._targets: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        for position, proto in enumerate(seed.graph.node):
            self._enter(f"seed/{position}", _seed_node(proto))
        self._order = Order(self.nodes)
        self._open_outputs(seed.graph)
        self._tensors = {*self.maker, *(entry.name for entry in (*seed.graph.input, *seed.graph.initializer))}
        self.stem = _stem(self._tensors)

    def _open_outputs(self, graph: onnx.GraphProto) -> None:
        """Outputs may be mutated like any tensor, unless their name must stay: inputs, and what bodies mention."""
        captured = {name for node in graph.node for name in mentioned_by(node)}
        for position, name in enumerate(self.outputs):
            if name in self.maker and name not in captured and self.outputs.count(name) == 1:
                self.readers.setdefault(name, []).append(f"output/{position}")

    def owner(self, reader: str) -> int:
        """The mutation that a reader belongs to; -1 for the seed's."""
        return -1 if reader.startswith("output/") else self.nodes[reader].owner

    def is_before(self, tensor: str, reader: str) -> bool:
        """Whether a tensor is there before that reader."""
        return self._order.before(self.maker.get(tensor, ""), _in_order(reader))

    def sorted(self, readers: Iterable[str]) -> list[str]:
        """Readers in topological order."""
        found: list[str] = []
        for reader in readers:
            at = len(found)
            while at and self._order.before(_in_order(reader) or "\0", _in_order(found[at - 1])):
                at -= 1
            found.insert(at, reader)
        return found

    def apply(self, mutation: Mutation, profile: Mapping[str, np.ndarray]) -> None:
        """Insert the nodes and let the readers read the result. Raises MissingMutation.

        `profile`: the seed's tensors at the profiled input. The target of a skipped mutation stands for its result.
        """
        readers = [reader for reader in mutation.readers if reader.startswith("output/") or reader in self.nodes]
        if len(readers) < len(mutation.readers):
            raise MissingMutation(f"mutation {mutation.index} changes what mutations that were left out inserted")
        target = self.resolve(mutation.target)
        own = {constant.name: _value(constant, profile) for constant in mutation.constants}
        self._constants.update(own)
        self._tensors.update(own)
        for each in mutation.nodes:
            self._insert(each, mutation.index)
        self._order.insert([each.output for each in mutation.nodes], _in_order(self.sorted(readers)[0]))
        for reader in readers:
            self._reread(reader, target, mutation.result)
        self.skip(mutation)

    def skip(self, mutation: Mutation) -> None:
        """Leave a mutation out: whoever wants its result is given its target, which has the same values."""
        self._targets[mutation.result] = mutation.target
        self._roots[mutation.result] = self.root(mutation.target)

    def root(self, name: str) -> str:
        """The tensor that others are the same as, but for zeros added to it."""
        return self._roots.get(name, name)

    def resolve(self, name: str) -> str:
        """The tensor that stands for `name`. Raises MissingMutation."""
        found = name
        while found not in self._tensors:
            if found not in self._targets:
                self._freeze(found)
            else:
                found = self._targets[found]
        return found

    def _freeze(self, name: str) -> None:
        value = self._frozen(name)
        if value is None:
            raise MissingMutation(f"nothing stands for {name}, which a mutation that was left out made")
        self._constants[name] = value
        self._tensors.add(name)

    def _insert(self, each: Inserted, owner: int) -> None:
        inputs = [self.resolve(name) for name in each.inputs]
        self._enter(each.output, Node(each.op, inputs, (each.output,), owner, each.attributes))
        self._tensors.add(each.output)

    def _enter(self, name: str, node: Node) -> None:
        self.nodes[name] = node
        self.maker.update((output, name) for output in node.outputs if output)
        for read in dict.fromkeys(node.inputs):
            if read:
                self.readers.setdefault(read, []).append(name)

    def _reread(self, reader: str, old: str, new: str) -> None:
        if reader not in self.readers[old]:
            return  # it has been given another equal tensor in this one's place
        self.readers[old].remove(reader)
        self.readers.setdefault(new, []).append(reader)
        if reader.startswith("output/"):
            self.outputs[int(reader.removeprefix("output/"))] = new
            return
        node = self.nodes[reader]
        node.inputs = [new if name == old else name for name in node.inputs]
        node.proto = None if node.proto is None or node.owner >= 0 else _with_inputs(node.proto, node.inputs)

    def proto(self) -> onnx.ModelProto:
        """The mutant as a model. Its outputs keep their names."""
        renamed = self.renamed()
        model = onnx.ModelProto()
        model.CopyFrom(self._frame)
        model.graph.node.extend(_written(self.nodes[name], name, renamed) for name in self._order)
        for name, value in self._constants.items():
            model.graph.initializer.append(numpy_helper.from_array(value, name))
        return model

    def renamed(self) -> dict[str, str]:
        """Other names of tensors in the model: what has become an output takes that one's name, which gives it up."""
        found: dict[str, str] = {}
        for entry, current in zip(self._frame.graph.output, self.outputs, strict=True):
            if current != entry.name:
                found |= {current: entry.name, entry.name: f"{self.stem}{entry.name}"}
        return found


def _value(constant: Constant, profile: Mapping[str, np.ndarray]) -> np.ndarray:
    if constant.profiled and constant.profiled not in profile:
        raise MissingMutation(f"the seed has no tensor {constant.profiled}, whose value {constant.name} is")
    return constant.value(profile)


def _in_order(reader: str) -> str:
    return "" if reader.startswith("output/") else reader


def _frame(seed: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> onnx.ModelProto:
    """Everything but the nodes, with the sizes of the inputs as they are profiled."""
    frame = onnx.ModelProto()
    frame.CopyFrom(seed)
    del frame.graph.node[:]
    del frame.graph.value_info[:]
    frame.ir_version = max(frame.ir_version, _FIRST_IR_VERSION)
    for entry in frame.graph.input:
        if entry.name in shapes and entry.type.HasField("tensor_type"):
            dims = helper.make_tensor_type_proto(entry.type.tensor_type.elem_type, shapes[entry.name])
            entry.type.tensor_type.shape.CopyFrom(dims.tensor_type.shape)
    return frame


def _seed_node(proto: NodeProto) -> Node:
    return Node(proto.op_type, list(proto.input), tuple(proto.output), -1, proto=proto)


def _with_inputs(proto: NodeProto, inputs: Sequence[str]) -> NodeProto:
    changed = NodeProto()
    changed.CopyFrom(proto)
    del changed.input[:]
    changed.input.extend(inputs)
    return changed


def _written(node: Node, name: str, renamed: Mapping[str, str]) -> NodeProto:
    """A node's message; kept for the next mutant, as long as nothing in it changes."""
    if node.proto is None:
        node.proto = helper.make_node(node.op, node.inputs, node.outputs, name=name, **node.attributes)  # type: ignore[arg-type]
    names = (*node.inputs, *node.outputs)
    if not renamed or renamed.keys().isdisjoint(names):
        return node.proto
    changed = _with_inputs(node.proto, [renamed.get(each, each) for each in node.inputs])
    del changed.output[:]
    changed.output.extend(renamed.get(each, each) for each in node.outputs)
    return changed


def _stem(taken: Iterable[str]) -> str:
    """What inserted names begin with: nothing in the seed does."""
    stem = "mt"
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    return stem
