"""A growing model that knows its last node, and whose end can be cut off and put back: one of several drafts is kept.

Growing only ever adds to a model's lists. What stands in them behind a mark is the end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fuzz.graphs import pairwise
from fuzz.operators.growth import Growth, Limits
from fuzz.operators.shapes import Shape
from fuzz.operators.specification import Operator


@dataclass(frozen=True)
class Mark:
    """Where a model ended: the lengths of its lists, the tensors that nodes read, and those that no node yields."""

    lengths: tuple[int, ...]
    used: frozenset[int]
    given: frozenset[int]


@dataclass(frozen=True)
class End:
    """What was grown behind a mark: the rest of every list, what the model knows of the tensors there, and the last
    node with its results."""

    lists: tuple[list[Any], ...]
    unknown: dict[int, tuple[int | None, ...]]
    contents: dict[int, bytes]
    used: set[int]
    given: set[int]
    results: list[int]
    last: tuple[Sequence[int], bytes]


class Drafting(Growth):
    """A model whose nodes may be drafts. Tensors are not found by their shapes here, as Isra's are."""

    __slots__ = ("_contents", "_last", "results")

    def __init__(
        self, draw: random.Random, palette: Sequence[int], limits: Limits, operators: Sequence[Operator] = ()
    ) -> None:
        """As `Growth`."""
        super().__init__(draw, palette, limits, operators=operators)
        #: What the last node yields, where its shape is known.
        self.results: list[int] = []
        #: The inputs and attributes of the last node, and the constants that steer nodes, as TensorProtos.
        self._last: tuple[Sequence[int], bytes] = (), b""
        self._contents: dict[int, bytes] = {}

    # ---- drafts

    def mark(self) -> Mark:
        """Where the model ends now."""
        return Mark(tuple(map(len, self._lists())), frozenset(self._used), frozenset(self._given))

    def cut(self, mark: Mark) -> End:
        """Take off what was grown since the mark."""
        parts = []
        for values, length in zip(self._lists(), mark.lengths, strict=True):
            parts.append(values[length:])
            del values[length:]
        first = len(self.dtype)
        unknown = {each: self._unknown.pop(each) for each in list(self._unknown) if each >= first}
        contents = {each: self._contents.pop(each) for each in list(self._contents) if each >= first}
        used, given = self._used - mark.used, self._given - mark.given
        self._used -= used
        self._given -= given
        end = End(tuple(parts), unknown, contents, used, given, self.results, self._last)
        self.results, self._last = [], ((), b"")
        return end

    def append(self, end: End) -> None:
        """Put back what was cut off at the place where the model ends."""
        for values, part in zip(self._lists(), end.lists, strict=True):
            values += part
        self._unknown |= end.unknown
        self._contents |= end.contents
        self._used |= end.used
        self._given |= end.given
        self.results, self._last = end.results, end.last

    def _lists(self) -> tuple[list[Any], ...]:
        tensors = (self.dtype, self.low, self.high, self.shape, self.pool, self.steering, self._declared)
        return (*tensors, self._nodes, self._initializers, self._inputs)

    def _offer(self, number: int) -> None:
        """No list of tensors by shape is kept."""

    # ---- the last node

    def values(self) -> tuple[int, ...]:
        """What the last node shows of its operator (`pairwise`)."""
        inputs, attributes = self._last
        found = list(pairwise.of_attributes(attributes))
        for at, number in enumerate(inputs):
            dtype, shape = self.dtype[number], self.shape[number]
            if number in self._contents:
                found += pairwise.of_constant(at, self._contents[number])
            elif number not in self._given or number in self._inputs:
                found += pairwise.of_data(at, dtype, len(shape), 1 in shape, number not in self._given)
            elif number:
                found += pairwise.of_weight(at, dtype)
        return tuple(found)

    def constant(self, dtype: int, content: bytes) -> int:
        """An initializer for one node alone; what it holds is one of the node's values."""
        number = super().constant(dtype, content)
        self._contents[number] = content
        return number

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
        """Add a node with one output, which is then the result."""
        super().node(operator, inputs, attributes, dtype, shape, low, high)
        self.results, self._last = [len(self.dtype) - 1], (inputs, attributes)

    def nodes(
        self,
        operator: Operator,
        inputs: Sequence[int],
        attributes: bytes,
        outputs: Sequence[tuple[int, Shape, float, float] | None],
        open_outputs: Sequence[tuple[int, tuple[int | None, ...]]] = (),
    ) -> None:
        """Add a node with several outputs; those of known shape are the results."""
        before = len(self.dtype)
        super().nodes(operator, inputs, attributes, outputs, open_outputs)
        self.results = list(range(before, len(self.dtype) - len(open_outputs)))
        self._last = inputs, attributes
