"""Bodies of nodes (If, Loop, Scan): graphs that grow inside another and see its tensors.

A body is grown by the same rows as the graph around it. Tensors of the outer graphs that it was given may be picked
like its own (captures). What it needs beyond them is an initializer of its own or an input of the model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fuzz.operators import encoding
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import Shape

#: Tensors of the graph around it that a body may capture.
_CAPTURED = 5


class Body(Growth):
    """The growing body of a node. Its own inputs (`formal`) are made before anything else."""

    __slots__ = ("_begun", "_first", "_formals", "_outer")

    def __init__(self, outer: Growth) -> None:
        super().__init__(outer._draw, outer._palette, outer.limits, outer._lean, outer.operators)
        self._outer, self.depth = outer, outer.depth + 1
        # Tensors are numbered through all graphs of a model, since names must differ (ONNX, Static scoping).
        self.dtype, self.shape, self.low, self.high = outer.dtype, outer.shape, outer.low, outer.high
        self._given, self._unknown, self._inputs = outer._given, outer._unknown, outer._inputs
        self._begun = self._first = len(self.dtype)
        self._formals: list[int] = []
        if outer.pool:
            for number in dict.fromkeys(self.among(outer.pool) for _ in range(_CAPTURED)):
                self.pool.append(number)
                self._offer(number)

    def formal(self, dtype: int, shape: Shape, low: float, high: float) -> int:
        """An input of the body, of values in [low, high]."""
        number = self._tensor(dtype, shape, low, high)
        self.pool.append(number)
        self._formals.append(number)
        self._first = len(self.dtype)
        return number

    def results(self) -> list[int]:
        """What the nodes of the body yield, as far as its shape is known; what no node reads comes first."""
        made = [
            number
            for number in range(self._first, len(self.dtype))
            if number not in self._given and number not in self._unknown
        ]
        return sorted(made, key=self._used.__contains__)

    def result(self, dtype: int, shape: Shape, low: float, high: float, without: Collection[int] = ()) -> int | None:
        """A result of exactly that dtype and shape with values in [low, high], None where there is none."""
        fitting = [
            number
            for number in self.results()
            if number not in without
            and self.dtype[number] == dtype
            and self.shape[number] == shape
            and low <= self.low[number]
            and self.high[number] <= high
        ]
        return self.among(fitting) if fitting else None

    def finish(self, name: str, outputs: Sequence[int]) -> bytes:
        """The body as an attribute of its node. Its tensors are hidden from the graph around it."""
        self._outer._given.update(range(self._begun, len(self.dtype)))
        self._outer._used.update(self._used)
        inputs = b"".join([encoding.delimited(11, self._info(each)) for each in self._formals])
        ends = b"".join([encoding.delimited(12, self._info(each)) for each in outputs])
        infos = b"".join([encoding.delimited(13, self._info(each)) for each in self._declared if each not in outputs])
        content = encoding.graph(name, b"".join(self._nodes), self._read_constants(), inputs, ends, infos)
        return encoding.graph_attribute(name, content)
