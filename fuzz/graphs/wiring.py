"""A model whose nodes read what a graph says: the shapes-and-parameters calculator (section III-G).

The rows of the operator table ask a growing model for inputs that fit. Here the answer is fixed by the graph: the
results of the node's predecessors, in turn, made to fit (`adapting`). What a row asks for beyond its data flows are
weights: constants.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

import onnx

from fuzz.graphs.adapting import Adapter, Unfit, fill_within
from fuzz.graphs.drafting import Drafting
from fuzz.graphs.windows import EQUAL_SHAPES
from fuzz.operators.dtypes import POOL
from fuzz.operators.growth import Infeasible, Limits
from fuzz.operators.shapes import ANY_RANK, BROADCAST, LARGEST, SIZE, Shape
from fuzz.operators.specification import Domain, Operator

_LIMITS = Limits()
#: Rows that first pick a tensor for its dtype alone, and then ask for the one that they read.
_ASKED_TWICE = frozenset({"AffineGrid", "Col2Im", "DFT", "DepthToSpace", "Det", "LRN", "SpaceToDepth"})
#: How often a graph input is read again where another one is due.
_SHARED = 0.5


class Wiring(Drafting):
    """A growing model that is told what each node reads. `shape` is one that its new inputs have where they can."""

    __slots__ = ("_adapter", "_bodies", "_constants", "_due", "_fed", "_peeking", "_usual", "_wires")

    def __init__(
        self,
        draw: random.Random,
        palette: Sequence[int],
        opset: int,
        usual: Shape | None = None,
        limits: Limits = _LIMITS,
        inner: Sequence[Operator] = (),
    ) -> None:
        """`usual`: the shape of new tensors where an operator takes it (None: any), else within `limits`.

        `inner`: what bodies of nodes are drawn from; without any, from the whole table.
        """
        # No tensor is ever picked: each is due, or new. New ones are graph inputs where data is due, else constants.
        self._fed = replace(limits, picking_rate=0.0, constants=0.0, parameters=0.0)
        self._constants = replace(limits, picking_rate=0.0, constants=1.0, parameters=1.0)
        # In a body there is no graph to say who reads whom: it grows as Isra's do, without inputs of its own.
        self._bodies = replace(limits, constants=1.0, parameters=1.0)
        super().__init__(draw, palette, self._constants, inner)
        self._adapter = Adapter(self, draw, opset)
        self._usual = usual
        self._wires: list[int] = []
        self._due, self._peeking = 0, False

    @property
    def limits(self) -> Limits:
        """Those of a body that grows in this graph."""
        return self._bodies

    def add(self, operator: Operator, wires: Sequence[int], flows: int) -> bool:
        """Add a node of the operator that reads the wires; `flows` of its inputs are no constants.

        False where the operator cannot be grown at all. Wires that it could not read stay unread.
        """
        self._wires, self._due = list(wires), flows
        self._peeking = operator.op_type in _ASKED_TWICE
        self.results = []
        try:
            operator.grow(self, operator)
        except Infeasible:
            self.results = []
            return False
        return True

    # ---- what is due

    def _next(self, *, parameter: bool = False) -> int:
        """The tensor that is due; 0 where a new one is to be made: a graph input if data is due, else a constant."""
        self._limits = self._constants
        if parameter or not self._due:
            return 0
        self._due -= 1
        if self._wires:
            return self._wires.pop(0)
        self._limits = self._fed
        return self.among(self._inputs) if self._inputs and self.random() < _SHARED else 0

    def shapes_of(self, dtype: int) -> Collection[Shape]:
        """The shapes of what is still due."""
        return [self.shape[wire] for wire in self._wires if self.dtype[wire] == dtype] if self._due else ()

    # ---- requests of rows

    def pick(self, domain: Domain, ranks: Collection[int] = ANY_RANK, largest: int = LARGEST) -> int:
        """The next tensor, made to fit the domain, one of the ranks and at most `largest` elements."""
        peeking, self._peeking = self._peeking, False
        wire = self._next()
        if not wire:
            fitting = super().pick(domain, ranks, largest)
        else:
            try:
                fitting = self._fitted(wire, domain, ranks, largest)
            except Unfit:
                self._limits = self._fed
                fitting = super().pick(domain, ranks, largest)
        if peeking:
            self._wires.insert(0, fitting)
            self._due += 1
        return fitting

    def _fitted(self, x: int, domain: Domain, ranks: Collection[int], largest: int) -> int:
        x = self._adapter.as_one_of(x, domain)
        x = self._adapter.bounded(x, *domain.bounds[self.dtype[x]])
        return self._adapter.ranked(x, ranks, largest)

    def within(self, dtype: int, shape: Shape, low: float, high: float, *, parameter: bool = False) -> int:
        """The next tensor unless a weight is asked for, made to be of exactly that dtype and shape."""
        return self._exactly(self._next(parameter=parameter), dtype, shape, low, high)

    def _exactly(self, wire: int, dtype: int, shape: Shape, low: float, high: float) -> int:
        if not wire:
            return self.placeholder(dtype, shape, low, high)
        try:
            x = self._adapter.bounded(self._adapter.cast(wire, dtype), low, high)
            return self._adapter.shaped(x, shape, fill_within(dtype, low, high))
        except Unfit:
            self._limits = self._fed
            return self.placeholder(dtype, shape, low, high)

    def broadcasting(self, domain: Domain, dtype: int, shape: Shape) -> int:
        """The next tensor, cut and padded along the axes that do not broadcast with `shape`."""
        wire = self._next()
        target = _broadcast_to(self.shape[wire], shape) if wire else self._broadcastable(shape)
        return self._exactly(wire, dtype, target, *domain.bounds[dtype])

    def one_way(self, dtype: int, shape: Shape, low: float, high: float) -> int:
        """The next tensor, such that it broadcasts to `shape` and leaves it as it is."""
        wire = self._next()
        target = self._broadcastable(shape)
        if wire and BROADCAST[shape][self.shape[wire]] == shape:
            target = self.shape[wire]
        elif wire:
            target = shape
        return self._exactly(wire, dtype, target, low, high)

    def matching(self, dtype: int, shapes: Collection[Shape], low: float, high: float) -> int:
        """The next tensor with one of the shapes, its own if that is among them."""
        wire = self._next()
        target = self.shape[wire] if wire and self.shape[wire] in shapes else self.among(tuple(shapes))
        return self._exactly(wire, dtype, target, low, high)

    def unspoilt(self, number: int, domain: Domain) -> int:
        """As for any model; where values must be given ones, what was due stays unread."""
        self._limits = self._fed
        return super().unspoilt(number, domain)

    def shape_of_rank(self, ranks: Collection[int], largest: int = LARGEST) -> Shape:
        """The usual shape where it has one of the ranks and is not too large, else a new one."""
        usual = self._usual
        if usual is not None and len(usual) in ranks and SIZE[usual] <= largest:
            return usual
        return super().shape_of_rank(ranks, largest)

    def placeholder(self, dtype: int, shape: Shape, low: float, high: float, *, parameter: bool = False) -> int:
        """A new tensor, unless it were larger than what constants are cut from. Merged axes may be long."""
        if SIZE[shape] > POOL:
            raise Infeasible(f"a tensor of shape {shape}")
        return super().placeholder(dtype, shape, low, high, parameter=parameter)


def _broadcast_to(had: Shape, shape: Shape) -> Shape:
    """The shape nearest to `had` that broadcasts with `shape`: axes that do not are made as long as the other's."""
    if BROADCAST[shape][had] is not None:
        return had
    rank = len(had)
    padded = (1,) * (rank - len(shape)) + shape
    other = padded[len(padded) - rank :]
    target = tuple([own if 1 in (own, size) else size for own, size in zip(had, other, strict=True)])
    return target if BROADCAST[shape][target] is not None else shape


@lru_cache(1 << 10)
def variant(operator: Operator, flows: int, mutated: bool) -> Operator:
    """The operator with an in-degree that takes so many data flows.

    Its free attributes have their first choice, and its padding is solved for equal shapes, unless they are `mutated`
    (PM).
    """
    schema = onnx.defs.get_schema(operator.op_type, operator.opset, "")
    variadic = bool(schema.inputs) and schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    degrees = tuple(each for each in operator.degrees if (each == flows if variadic else each >= flows))
    found = copy.copy(operator)
    found.degrees = degrees or operator.degrees
    if not mutated:
        found.choices = operator.choices[:1]
        found.grow = EQUAL_SHAPES.get(operator.op_type, operator.grow)
    return found
