"""A growing model that can be told what its next node shall read.

A row of the operator table asks for tensors one after the other and says what each must be. Told ones are offered in
their order, each once, where they are what the row asks for; it never gets what it did not ask for, so a node stays
valid. A row may still read others: whoever tells looks at the node afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from fuzz.operators.growth import Growth, Limits
from fuzz.operators.shapes import ANY_RANK, BROADCAST, LARGEST, SIZE, Shape
from fuzz.operators.specification import Domain

_LIMITS = Limits()


class Steering(Growth):
    """A growing model whose next node can be told what to read."""

    __slots__ = ("_contents", "_told", "_turn")

    def __init__(self, draw: random.Random, data_types: Sequence[int], limits: Limits = _LIMITS) -> None:
        super().__init__(draw, data_types, limits)
        self._told: tuple[int, ...] = ()
        self._turn = 0
        #: What the constants hold that steer a node.
        self._contents: dict[int, bytes] = {}

    @contextmanager
    def telling(self, tensors: Sequence[int]) -> Iterator[None]:
        """Nodes that are grown meanwhile are offered these tensors first."""
        self._told = tuple(tensors)
        try:
            yield
        finally:
            self._told = ()

    def _offered(self, fits: Callable[[int], bool]) -> int | None:
        """The next told tensor that fits, behind the last one that was taken."""
        for at in range(self._turn, len(self._told)):
            if fits(self._told[at]):
                self._turn = at + 1
                return self._told[at]
        return None

    def _inside(self, number: int, dtype: int, low: float, high: float) -> bool:
        usable = number and number not in self._contents and number not in self._unknown
        return bool(usable) and self.dtype[number] == dtype and low <= self.low[number] and self.high[number] <= high

    # ---- what rows ask for

    def pick(self, domain: Domain, ranks: Collection[int] = ANY_RANK, largest: int = LARGEST) -> int:
        """A tensor of the domain with one of the ranks and at most `largest` elements."""

        def fits(number: int) -> bool:
            dtype, shape = self.dtype[number], self.shape[number]
            fitting = dtype in domain.bounds and len(shape) in ranks and SIZE[shape] <= largest
            return fitting and self._inside(number, dtype, *domain.bounds[dtype])

        found = self._offered(fits)
        return super().pick(domain, ranks, largest) if found is None else found

    def within(self, dtype: int, shape: Shape, low: float, high: float, *, parameter: bool = False) -> int:
        """A tensor of exactly that dtype and shape whose values lie in [low, high]."""
        found = self._offered(lambda number: self.shape[number] == shape and self._inside(number, dtype, low, high))
        return super().within(dtype, shape, low, high, parameter=parameter) if found is None else found

    def broadcasting(self, domain: Domain, dtype: int, shape: Shape) -> int:
        """A tensor of that dtype (which is in the domain) that broadcasts with `shape`."""
        row, bounds = BROADCAST[shape], domain.bounds[dtype]
        found = self._offered(
            lambda number: self._inside(number, dtype, *bounds) and row[self.shape[number]] is not None
        )
        return super().broadcasting(domain, dtype, shape) if found is None else found

    def matching(self, dtype: int, shapes: Collection[Shape], low: float, high: float) -> int:
        """A tensor of that dtype with one of the shapes."""
        found = self._offered(lambda number: self.shape[number] in shapes and self._inside(number, dtype, low, high))
        return super().matching(dtype, shapes, low, high) if found is None else found

    def constant(self, dtype: int, content: bytes) -> int:
        """An initializer that steers a node; the told one where it holds the same."""
        for number in self._told:
            if self._contents.get(number) == content and self.dtype[number] == dtype:
                return number
        number = super().constant(dtype, content)
        self._contents[number] = content
        return number
