"""Nodes that make a tensor fit where a graph puts it: Cast, Clip, Reshape, Slice and Pad (section III-G).

The paper converts shapes and dtypes before aggregations; here every operator's inputs are converted as its row of the
operator table demands, values included (Abs and Clip), so that results stay finite.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from functools import cache

import numpy as np

from fuzz.operators import encoding
from fuzz.operators.dtypes import (
    BOOL,
    COMMON,
    FLOAT,
    INT32,
    INT64,
    RANGE,
    UNSIGNED,
    fresh_intervals,
    is_floating,
    numpy_dtype,
    raw,
)
from fuzz.operators.families._ranges import magnitude
from fuzz.operators.families.casting import truncated
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, Shape
from fuzz.operators.specification import Domain, Operator, Specification, bind

#: What compilers have kernels for, the best supported first, and how often a tensor is converted to that.
_SUPPORTED, _USUAL = (FLOAT, INT64, INT32), 0.8
#: The oldest opset whose form of each adapter is written here.
_SINCE = {"Abs": 6, "Cast": 9, "Clip": 12, "Pad": 11, "Reshape": 5, "Slice": 10}
#: The oldest opset that has all of them.
OLDEST = max(_SINCE.values())


class Unfit(Exception):
    """The tensor cannot be made what is asked for; the operator is given another one."""


def _no_row(g: Growth, op: Operator) -> None:
    raise NotImplementedError("adapters are not grown from rows")


@cache
def _adapters(opset: int) -> dict[str, Operator]:
    rows = (Specification(name, _no_row, since=since) for name, since in _SINCE.items())
    return {operator.op_type: operator for row in rows if (operator := bind(row, opset))}


class Adapter:
    """Adds the nodes that make tensors of one model fit. Methods give the number of the tensor that fits."""

    def __init__(self, growth: Growth, draw: random.Random, opset: int) -> None:
        self._g, self._draw = growth, draw
        self._operators = _adapters(opset)

    def _node(
        self,
        name: str,
        inputs: tuple[int, ...],
        attributes: bytes,
        dtype: int,
        shape: Shape,
        low: float,
        high: float,
    ) -> int:
        operator = self._operators[name]
        if self._g.dtype[inputs[0]] not in operator.domain.bounds:
            raise Unfit(f"{name} takes no tensor of dtype {self._g.dtype[inputs[0]]}")
        self._g.node(operator, inputs, attributes, dtype, shape, low, high)
        return len(self._g.dtype) - 1

    # ---- dtypes

    def as_one_of(self, x: int, domain: Domain) -> int:
        """With a dtype of the domain: a float where the tensor is one, and where the domain leaves the choice."""
        source = self._g.dtype[x]
        if source in domain.bounds:
            return x
        same_kind = [code for code in domain.common if is_floating(code) == is_floating(source)]
        choices = [code for code in same_kind or domain.common if code in COMMON]
        if not choices:
            raise Unfit(f"no common dtype to convert {source} to")
        supported = [code for code in _SUPPORTED if code in choices]
        usual = supported and self._draw.random() < _USUAL
        return self.cast(x, supported[0] if usual else self._draw.choice(choices))

    def cast(self, x: int, code: int) -> int:
        """Of that dtype. Values that it lacks are clipped before."""
        g = self._g
        source = g.dtype[x]
        if source == code:
            return x
        if source not in COMMON or code not in RANGE:
            raise Unfit(f"no conversion of dtype {source} to {code}")
        if code == BOOL:
            low, high = 0.0, 1.0
        else:
            x = self.bounded(x, *RANGE[code])
            low, high = g.low[x], g.high[x]
            if is_floating(source) and not is_floating(code):
                low, high = truncated(low, high, source, code)
        return self._node("Cast", (x,), encoding.integer("to", code), code, g.shape[x], low, high)

    # ---- values

    def bounded(self, x: int, low: float, high: float) -> int:
        """With values in [low, high]: by their magnitude where that helps, then clipped where they are not."""
        g = self._g
        code = g.dtype[x]
        if low <= g.low[x] and g.high[x] <= high:
            return x
        if low >= 0 > g.low[x] and code not in UNSIGNED and g.low[x] > RANGE[code][0]:
            x = self._node("Abs", (x,), b"", code, g.shape[x], *magnitude(g.low[x], g.high[x]))
        if low <= g.low[x] and g.high[x] <= high:
            return x
        least, most = max(low, g.low[x]), min(high, g.high[x])
        if not is_floating(code):
            least, most = math.ceil(least), math.floor(most)
        if least >= most:  # nothing is left of its values, or one
            intervals = fresh_intervals(code, low, high)
            if not intervals:
                raise Unfit(f"no value of dtype {code} in [{low}, {high}]")
            least, most = intervals[0]
        inputs = (x, self._scalar(code, least), self._scalar(code, most))
        return self._node("Clip", inputs, b"", code, g.shape[x], least, most)

    def _scalar(self, code: int, value: float) -> int:
        array = np.array(value).astype(numpy_dtype(code))
        return self._g.constant(code, encoding.tensor_content(code, (), raw(array, code)))

    # ---- shapes

    def ranked(self, x: int, ranks: Collection[int], largest: int) -> int:
        """With one of the ranks, the nearest, and at most so many elements."""
        shape = self._g.shape[x]
        if len(shape) not in ranks:
            nearest = min(ranks, key=lambda rank: (abs(rank - len(shape)), -rank))
            x = self.shaped(x, self._of_rank(shape, nearest))
        target = list(self._g.shape[x])
        while SIZE[tuple(target)] > largest:
            target[target.index(max(target))] -= 1
        return self.shaped(x, tuple(target))

    def _of_rank(self, shape: Shape, rank: int) -> Shape:
        """As many elements with another rank: axes of length one between the others, or neighbours merged."""
        sizes = list(shape)
        while len(sizes) < rank:
            sizes.insert(self._draw.randrange(len(sizes) + 1), 1)
        while len(sizes) > max(rank, 1):
            at = self._draw.randrange(len(sizes) - 1)
            sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
        return tuple(sizes) if rank else ()

    def shaped(self, x: int, target: Shape, fill: float = 0.0) -> int:
        """Of exactly that shape: reshaped to its rank, then sliced and padded (with `fill`)."""
        g = self._g
        if g.shape[x] == target:
            return x
        if not target:
            x = self._slice(x, tuple([1] * len(g.shape[x])))
            return self._reshape(x, ())
        if len(g.shape[x]) != len(target):
            fits = SIZE[g.shape[x]] == SIZE[target]
            x = self._reshape(x, target if fits else self._of_rank(g.shape[x], len(target)))
        x = self._slice(x, tuple([min(pair) for pair in zip(g.shape[x], target, strict=True)]))
        return self._pad(x, target, fill)

    def _reshape(self, x: int, target: Shape) -> int:
        g = self._g
        inputs = (x, g.configuration(target))
        return self._node("Reshape", inputs, b"", g.dtype[x], target, g.low[x], g.high[x])

    def _slice(self, x: int, target: Shape) -> int:
        g = self._g
        shape = g.shape[x]
        axes = tuple([axis for axis, pair in enumerate(zip(shape, target, strict=True)) if pair[0] > pair[1]])
        if not axes:
            return x
        starts = tuple([self._draw.randrange(shape[axis] - target[axis] + 1) for axis in axes])
        ends = tuple([start + target[axis] for start, axis in zip(starts, axes, strict=True)])
        inputs = (x, g.configuration(starts), g.configuration(ends), g.configuration(axes))
        return self._node("Slice", inputs, b"", g.dtype[x], target, g.low[x], g.high[x])

    def _pad(self, x: int, target: Shape, fill: float) -> int:
        g = self._g
        spare = [size - had for size, had in zip(target, g.shape[x], strict=True)]
        if not any(spare):
            return x
        begins = [self._draw.randrange(each + 1) for each in spare]
        ends = [each - begin for each, begin in zip(spare, begins, strict=True)]
        inputs: tuple[int, ...] = (x, g.configuration((*begins, *ends)))
        if fill:
            inputs += (self._scalar(g.dtype[x], fill),)
        low, high = min(g.low[x], fill), max(g.high[x], fill)
        return self._node("Pad", inputs, b"", g.dtype[x], target, low, high)


def fill_within(code: int, low: float, high: float) -> float:
    """What may be padded with where values of the dtype must lie in [low, high]: the one nearest to zero."""
    nearest = min(max(0.0, low), high)
    if is_floating(code):
        return nearest
    return math.ceil(nearest) if nearest > 0 else math.floor(nearest)
