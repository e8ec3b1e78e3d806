"""Insertion of one operator node into a computational graph, and taking it back (PREINSERT of algorithm 1).

The rows of the operator table do type checking and shape checking: a row picks existing tensors that fit and makes
new ones where there are not enough. What it grew stays only if it is wanted.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fuzz.hirgen.coverage import Insertion
from fuzz.hirgen.steering import Steering
from fuzz.operators.growth import Infeasible, Limits
from fuzz.operators.shapes import Shape
from fuzz.operators.specification import Operator

_LIMITS = Limits()


@dataclass(frozen=True)
class Inserted:
    """A node as it was inserted: its inputs and outputs are numbers of tensors, `attributes` encoded ones."""

    operator: Operator
    inputs: tuple[int, ...]
    attributes: bytes
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class _Mark:
    """How large everything was."""

    tensors: int
    nodes: int
    initializers: int
    inputs: int
    steering: int
    pool: tuple[int, ...]
    used: frozenset[int]


class Inserting(Steering):
    """A growing model that knows which operator made each tensor, and can take the last insertion back."""

    __slots__ = ("_makers", "_mark", "_readers", "inserted")

    def __init__(self, draw: random.Random, data_types: Sequence[int], limits: Limits = _LIMITS) -> None:
        """`data_types`: those of new tensors where the operator leaves the choice."""
        super().__init__(draw, data_types, limits)
        #: By tensor: the operator that made it, and the operators whose results that one reads.
        self._makers: dict[int, str] = {}
        self._readers: dict[int, frozenset[str]] = {}
        #: The nodes so far.
        self.inserted: list[Inserted] = []
        self._mark = self._marked()

    def insert(self, operator: Operator, dtype: int) -> Insertion | None:
        """Grow one node of the operator whose first input has that dtype; None (and nothing grown) if none fits.

        `dtype` is of the operator's domain; 0 leaves it to the row, and then it is that of the result.
        """
        self._mark, self._turn = self._marked(), 0
        chosen = narrowed(operator, dtype) if dtype else operator
        try:
            chosen.grow(self, chosen)
        except Infeasible:
            self.take_back()
            return None
        inputs, outputs = self.last
        read = [self._makers[each] for each in inputs if each in self._makers]
        sources = frozenset(read)
        paths = frozenset(
            (first, self._makers[each]) for each in inputs if each in self._makers for first in self._readers[each]
        )
        for number in outputs:
            self._makers[number], self._readers[number] = operator.op_type, sources
        shapes = tuple(self.shape[each] for each in outputs if each not in self._unknown)
        return Insertion(operator.op_type, dtype or self.dtype[outputs[0]], shapes, sources, paths)

    def unread(self, tensors: Sequence[int]) -> tuple[int, ...]:
        """Those of the tensors that no node reads."""
        return tuple(each for each in tensors if each not in self._used)

    def is_repeat(self, node: Inserted) -> bool:
        """Whether the node reads what a node of its own kind gave."""
        return any(self._makers.get(each) == node.operator.op_type for each in node.inputs)

    def reads_twice(self) -> bool:
        """Whether the last node reads one result or graph input more than once."""
        inputs = [each for each in self.last[0] if each in self._makers or each in self._inputs]
        return len(set(inputs)) < len(inputs)

    @property
    def last(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The inputs and outputs of the last node, as numbers of tensors."""
        return self.inserted[-1].inputs, self.inserted[-1].outputs

    def take_back(self) -> None:
        """Undo the last insertion."""
        mark = self._mark
        for number in range(len(self.dtype) - 1, mark.tensors - 1, -1):
            self._forget(number)
        for values in (self.dtype, self.low, self.high, self.shape):
            del values[mark.tensors :]
        del self._nodes[mark.nodes :]
        del self.inserted[mark.nodes :]
        del self._initializers[mark.initializers :]
        del self._inputs[mark.inputs :]
        del self.steering[mark.steering :]
        self._declared[:] = [number for number in self._declared if number < mark.tensors]
        self.pool[:] = mark.pool
        self._used.intersection_update(mark.used)

    def _forget(self, number: int) -> None:
        groups = self._groups.get(self.dtype[number], {})
        same: list[int] = groups.get(self.shape[number], [])
        while same and same[-1] == number:
            same.pop()
        if not same:
            groups.pop(self.shape[number], None)
        self._given.discard(number)
        for known in (self._unknown, self._makers, self._readers, self._contents):
            known.pop(number, None)

    def _marked(self) -> _Mark:
        return _Mark(
            len(self.dtype),
            len(self._nodes),
            len(self._initializers),
            len(self._inputs),
            len(self.steering),
            tuple(self.pool),
            frozenset(self._used),
        )

    # ---- nodes

    def node(
        self,
        operator: Operator,
        inputs: Sequence[int],
        attributes: bytes,
        dtype: int,
        shape: Shape,
        low: float,
        high: float,
    ) -> None:
        """Add a node with one output."""
        super().node(operator, inputs, attributes, dtype, shape, low, high)
        self.inserted.append(Inserted(operator, tuple(inputs), attributes, (len(self.dtype) - 1,)))

    def nodes(
        self,
        operator: Operator,
        inputs: Sequence[int],
        attributes: bytes,
        outputs: Sequence[tuple[int, Shape, float, float] | None],
        open_outputs: Sequence[tuple[int, tuple[int | None, ...]]] = (),
    ) -> None:
        """Add a node with several outputs."""
        before = len(self.dtype)
        super().nodes(operator, inputs, attributes, outputs, open_outputs)
        outs = tuple(range(before, len(self.dtype)))
        self.inserted.append(Inserted(operator, tuple(inputs), attributes, outs))


@lru_cache(1 << 12)
def narrowed(operator: Operator, dtype: int) -> Operator:
    """The operator with a first input of that dtype alone, which is in its domain."""
    domain = copy.copy(operator.domain)
    domain.bounds = {dtype: operator.domain.bounds[dtype]}
    domain.dtypes = domain.common = (dtype,)
    found = copy.copy(operator)
    found.domain = domain
    return found
