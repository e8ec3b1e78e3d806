"""A model while it grows, node by node in topological order.

Tensors are numbers in the order in which they were made; `dtype`, `shape`, `low` and `high` are lists by that number.
What an operator is given is picked on demand (Isra, section 3.3.3): an existing tensor that fits, with the
probability of the picking rate, else a new placeholder. A placeholder is a graph input or an initializer.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from fuzz.operators import encoding
from fuzz.operators.dtypes import INT32, INT64, STRING, WORDS, Interval, fresh_intervals, raw_slice
from fuzz.operators.encoding import INFO, INPUT, OUTPUT, TENSOR
from fuzz.operators.shapes import ANY_RANK, BROADCAST, LARGEST, SIZE, Shape
from fuzz.operators.specification import Domain, Operator

#: The share of int32 among constants that may be int32 or int64.
_SHORT = 0.3

#: Tries to find a fitting tensor by chance before all are looked at, which are then equally likely.
_TRIES = 4

#: So many operators in a row that cannot be grown: none can.
_HOPELESS = 10_000

#: The share of placeholders that other nodes may be given, too: constants at all, graph inputs as a first input.
#: Most constants of real models have one reader, and most nodes read what other nodes yield.
_SHARED = 0.1

Choice = TypeVar("Choice")


class Infeasible(Exception):
    """An empty domain: a specification chose what it cannot complete. Counted, and never expected."""


@dataclass(frozen=True)
class Limits:
    """Parameters of growth. Defaults are those of Isra's evaluation (section 4.2).

    `rank` and `length` bound placeholders. `constants` is the share of initializers among them, `parameters` that
    among learned ones (weights).
    """

    picking_rate: float = 0.97
    rank: int = 5
    length: int = 5
    constants: float = 0.25
    parameters: float = 0.6


class Lean(Enum):
    """Which tensors a model likes to use again: any, old ones (many readers each), or recent ones (long chains)."""

    NONE = "none"
    OLD = "old"
    RECENT = "recent"


@dataclass(frozen=True)
class GraphInput:
    """A graph input: its name, what it is, and the range that its values are to be drawn from."""

    name: str
    dtype: int
    shape: Shape
    interval: Interval


class Growth:
    """A growing model. Methods that return a tensor's number give one that satisfies what was asked for.

    They raise Infeasible where no value of the dtype can.
    """

    __slots__ = (
        "_declared",
        "_draw",
        "_given",
        "_groups",
        "_initializers",
        "_inputs",
        "_lean",
        "_limits",
        "_nodes",
        "_palette",
        "_rate",
        "_unknown",
        "_used",
        "depth",
        "dtype",
        "high",
        "low",
        "operators",
        "pool",
        "random",
        "shape",
        "steering",
    )

    def __init__(
        self,
        draw: random.Random,
        palette: Sequence[int],
        limits: Limits,
        lean: Lean = Lean.NONE,
        operators: Sequence[Operator] = (),
    ) -> None:
        """`palette`: dtypes that placeholders have where the operator leaves the choice. `operators`: what bodies of
        nodes are drawn from; without any, from the whole table."""
        self._draw, self._lean = draw, lean
        self.operators = operators
        #: In how many bodies this graph lies: 0 for the model's own.
        self.depth = 0
        self.random = draw.random
        self._palette, self._limits, self._rate = palette, limits, limits.picking_rate
        self.dtype, self.low, self.high = [0], [0.0], [0.0]
        self.shape: list[Shape] = [()]
        #: Constants that steer a node, each for that node alone.
        self.steering: list[int] = []
        #: First inputs: what nodes yield, and graph inputs. Not those of unknown shape.
        self.pool: list[int] = []
        self._groups: dict[int, dict[Shape, list[int]]] = {}
        self._nodes: list[bytes] = []
        self._initializers: list[tuple[int, bytes]] = []
        self._inputs: list[int] = []
        self._unknown: dict[int, tuple[int | None, ...]] = {}
        #: Results whose types the graph says.
        self._declared: list[int] = []
        #: Tensors that a node reads, and those that no node yields. What is new is not always read: some rows ask for a
        #: tensor of any shape first, and then for another one of its dtype. Such a one is no part of the model.
        self._used, self._given = {0}, {0}

    @property
    def limits(self) -> Limits:
        """Those of a body that grows in this graph."""
        return self._limits

    # ---- drawing

    def below(self, count: int) -> int:
        """A number in [0, count)."""
        return int(self.random() * count)

    def among(self, choices: Sequence[Choice]) -> Choice:
        """One of the choices."""
        return choices[int(self.random() * len(choices))]

    # ---- tensors that a node is given

    def pick(self, domain: Domain, ranks: Collection[int] = ANY_RANK, largest: int = LARGEST) -> int:
        """A tensor of the domain with one of the ranks and at most `largest` elements."""
        pool, random = self.pool, self.random
        if pool and random() < self._rate:
            bounds, dtype, shape, low, high = domain.bounds, self.dtype, self.shape, self.low, self.high
            count, lean = len(pool), self._lean
            for _ in range(_TRIES):
                place = random()
                if lean is not Lean.NONE:
                    place = place * random() if lean is Lean.OLD else 1 - place * random()
                found = pool[int(place * count)]
                size = shape[found]
                if len(size) in ranks and SIZE[size] <= largest:
                    interval = bounds.get(dtype[found])
                    if interval is not None and interval[0] <= low[found] and high[found] <= interval[1]:
                        return found
            fitting = [
                found
                for found in pool
                if (interval := bounds.get(dtype[found])) is not None
                and interval[0] <= low[found]
                and high[found] <= interval[1]
                and len(shape[found]) in ranks
                and SIZE[shape[found]] <= largest
            ]
            if fitting:
                return fitting[int(random() * len(fitting))]
        return self.fresh(domain, ranks, largest)

    def exact(self, domain: Domain, dtype: int, shape: Shape, *, parameter: bool = False) -> int:
        """A tensor of exactly that dtype (which is in the domain) and shape."""
        low, high = domain.bounds[dtype]
        return self.within(dtype, shape, low, high, parameter=parameter)

    def within(self, dtype: int, shape: Shape, low: float, high: float, *, parameter: bool = False) -> int:
        """A tensor of exactly that dtype and shape whose values lie in [low, high]."""
        groups = self._groups.get(dtype)
        found = groups.get(shape) if groups else None
        if found and self.random() < self._rate:
            fitting = [each for each in found if low <= self.low[each] and self.high[each] <= high]
            if fitting:
                return fitting[int(self.random() * len(fitting))]
        return self.placeholder(dtype, shape, low, high, parameter=parameter)

    def broadcasting(self, domain: Domain, dtype: int, shape: Shape) -> int:
        """A tensor of that dtype (which is in the domain) that broadcasts with `shape`, shapes equally likely."""
        low, high = domain.bounds[dtype]
        groups = self._groups.get(dtype)
        if groups and self.random() < self._rate:
            row = BROADCAST[shape]
            fitting = [tensors for other, tensors in groups.items() if row[other] is not None]
            while fitting:
                at = int(self.random() * len(fitting))
                found = [each for each in fitting[at] if low <= self.low[each] and self.high[each] <= high]
                if found:
                    return found[int(self.random() * len(found))]
                del fitting[at]
        return self.placeholder(dtype, self._broadcastable(shape), low, high)

    def one_way(self, dtype: int, shape: Shape, low: float, high: float) -> int:
        """A tensor of that dtype that broadcasts to `shape` and leaves it as it is, its values in [low, high]."""
        row = BROADCAST[shape]
        fitting = [other for other in self._groups.get(dtype, ()) if row[other] == shape]
        return self.matching(dtype, fitting or (self._broadcastable(shape),), low, high)

    def unspoilt(self, number: int, domain: Domain) -> int:
        """That tensor of the domain where its values are given, else a new one like it, of given values.

        For operators whose result jumps with the last bit of their input: behind other operators, two honest compilers
        would disagree.
        """
        if number in self._given:
            return number
        dtype = self.dtype[number]
        return self.placeholder(dtype, self.shape[number], *domain.bounds[dtype])

    def matching(self, dtype: int, shapes: Collection[Shape], low: float, high: float) -> int:
        """A tensor of that dtype with one of the shapes, those that exist preferred at the picking rate."""
        groups = self._groups.get(dtype)
        if groups and self.random() < self._rate:
            fitting = [
                each
                for shape in shapes
                for each in groups.get(shape, ())
                if low <= self.low[each] and self.high[each] <= high
            ]
            if fitting:
                return fitting[int(self.random() * len(fitting))]
        return self.placeholder(dtype, self.among(tuple(shapes)), low, high)

    def shapes_of(self, dtype: int) -> Collection[Shape]:
        """The shapes that tensors of the dtype have so far."""
        return self._groups.get(dtype, {}).keys()

    def _broadcastable(self, shape: Shape) -> Shape:
        """A shape that broadcasts with the other and gives it again: some axes one, some leading ones left out."""
        if self.random() < 0.4:
            return shape
        kept = shape[self.below(len(shape) + 1) :] if self.random() < 0.5 else shape
        return tuple([size if self.random() < 0.7 else 1 for size in kept])

    # ---- placeholders

    def fresh(self, domain: Domain, ranks: Collection[int] = ANY_RANK, largest: int = LARGEST) -> int:
        """A new placeholder of the domain."""
        choices = [code for code in self._palette if code in domain.bounds] or domain.common
        if not choices:
            raise Infeasible("no dtype")
        dtype = choices[int(self.random() * len(choices))]
        low, high = domain.bounds[dtype]
        return self.placeholder(dtype, self.shape_of_rank(ranks, largest), low, high)

    def shape_of_rank(self, ranks: Collection[int], largest: int = LARGEST) -> Shape:
        """A new shape within the limits. Raises Infeasible when no rank is within them."""
        allowed = [rank for rank in ranks if rank <= self._limits.rank]
        if not allowed:
            raise Infeasible("no rank")
        rank = allowed[int(self.random() * len(allowed))]
        random, length = self.random, self._limits.length
        shape = tuple([1 + int(random() * length) for _ in range(rank)])
        while SIZE[shape] > largest:  # every turn shrinks the longest axis, and () and (1, ..., 1) have one element
            longest = max(shape)
            at = shape.index(longest)
            shape = (*shape[:at], longest - 1, *shape[at + 1 :])
        return shape

    def placeholder(self, dtype: int, shape: Shape, low: float, high: float, *, parameter: bool = False) -> int:
        """A new graph input, or an initializer, whose values lie in [low, high]."""
        intervals = fresh_intervals(dtype, low, high)
        if not intervals:
            raise Infeasible(f"no value of dtype {dtype} in [{low}, {high}]")
        interval = intervals[int(self.random() * len(intervals))]
        share = self._limits.parameters if parameter else self._limits.constants
        number = self._number(dtype, shape, interval[0], interval[1])
        self._given.add(number)
        if self.random() < share:
            self._initialize(number, self._content(dtype, shape, interval))
            if self.random() < _SHARED:
                self._offer(number)
        else:
            if self.random() < _SHARED or not self.pool:
                self.pool.append(number)
            self._offer(number)
            self._inputs.append(number)
        return number

    def _content(self, dtype: int, shape: Shape, interval: Interval) -> bytes:
        size = SIZE[shape]
        if dtype == STRING:
            return encoding.strings_content(shape, [self.among(WORDS) for _ in range(size)])
        return encoding.tensor_content(dtype, shape, raw_slice(dtype, size, interval, self.random()))

    def configuration(self, values: tuple[int, ...], shape: Shape | None = None, *, short: bool = False) -> int:
        """A constant of int64 that steers a node (axes, a target shape ...), of one axis unless told otherwise.

        `short`: of int32, which some operators take as well.
        """
        given = (len(values),) if shape is None else shape
        return self.constant(INT32 if short else INT64, encoding.integer_tensor(values, given, short=short))

    def short(self) -> bool:
        """Whether constants of a node that may be int32 or int64 are int32."""
        return self.random() < _SHORT

    def constant(self, dtype: int, content: bytes) -> int:
        """An initializer for one node alone; `content` is its TensorProto without the name."""
        number = self._number(dtype, (), 0.0, 0.0)
        self._initialize(number, content)
        self.steering.append(number)
        self._given.add(number)
        return number

    def _initialize(self, number: int, content: bytes) -> None:
        self._initializers.append((number, TENSOR[number] + content))

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
        """Add a node with one output of that dtype, shape and range of values."""
        number = self._tensor(dtype, shape, low, high)
        self.pool.append(number)
        self._used.update(inputs)
        content = b"".join([INPUT[each] for each in inputs]) + OUTPUT[number] + operator.head + attributes
        self._nodes.append(encoding.node(content))

    def nodes(
        self,
        operator: Operator,
        inputs: Sequence[int],
        attributes: bytes,
        outputs: Sequence[tuple[int, Shape, float, float] | None],
        open_outputs: Sequence[tuple[int, tuple[int | None, ...]]] = (),
    ) -> None:
        """Add a node with several outputs (dtype, shape, low, high); None is one that is left out.

        `open_outputs` follow: (dtype, shape) of results whose sizes depend on values (None). No node is given them.
        """
        numbers = [self._tensor(*output) if output else 0 for output in outputs]
        self.pool.extend([number for number in numbers if number])
        for dtype, shape in open_outputs:
            number = self._number(dtype, (), 0.0, 0.0)
            self._unknown[number] = shape
            numbers.append(number)
        self._used.update(inputs)
        content = [INPUT[each] for each in inputs] + [OUTPUT[each] for each in numbers]
        self._nodes.append(encoding.node(b"".join(content) + operator.head + attributes))

    def dynamic(
        self,
        operator: Operator,
        inputs: Sequence[int],
        attributes: bytes,
        outputs: Sequence[tuple[int, tuple[int | None, ...]]],
    ) -> None:
        """Add a node with outputs (dtype, shape) whose sizes depend on values (None). They become graph outputs."""
        self.nodes(operator, inputs, attributes, (), outputs)

    def declare(self) -> None:
        """Say in the graph what the last result is, because ONNX's shape inference does not find it."""
        self._declared.append(len(self.dtype) - 1)

    def fill(self, choices: Sequence[Operator], count: int) -> int:
        """Grow to `count` nodes, each of an operator drawn uniformly. Returns the number of backtracks.

        Raises Infeasible where the limits leave no operator anything to be grown from.
        """
        draw, total, rejected, grown, missed = self.random, len(choices), 0, 0, 0
        while len(self._nodes) < count:
            operator = choices[int(draw() * total)]
            try:
                operator.grow(self, operator)
            except Infeasible:
                rejected += 1
                missed = missed + 1 if len(self._nodes) == grown else 1
                grown = len(self._nodes)
                if missed == _HOPELESS:
                    raise
        return rejected

    def _tensor(self, dtype: int, shape: Shape, low: float, high: float) -> int:
        """A new tensor that nodes may be given wherever its dtype, shape and values fit."""
        number = self._number(dtype, shape, low, high)
        self._offer(number)
        return number

    def _number(self, dtype: int, shape: Shape, low: float, high: float) -> int:
        number = len(self.dtype)
        if len(INPUT) <= number:
            encoding.reach(number + 1)
        self.dtype.append(dtype)
        self.shape.append(shape)
        self.low.append(low)
        self.high.append(high)
        return number

    def _offer(self, number: int) -> None:
        dtype, shape = self.dtype[number], self.shape[number]
        groups = self._groups.get(dtype)
        if groups is None:
            groups = self._groups[dtype] = {}
        same = groups.get(shape)
        if same is None:
            groups[shape] = [number]
        else:
            same.append(number)

    # ---- the result

    @property
    def count(self) -> int:
        """The number of nodes so far."""
        return len(self._nodes)

    def inputs(self) -> list[GraphInput]:
        """The graph inputs, in the order of the model."""
        return [
            GraphInput(encoding.name(each), self.dtype[each], self.shape[each], (self.low[each], self.high[each]))
            for each in self._real_inputs()
        ]

    def _real_inputs(self) -> list[int]:
        """The graph inputs that nodes read. Where there is none, the first constant that does not steer a node is one.

        A model without inputs tests nothing but constant folding.
        """
        read = self._used.intersection(self._inputs)
        if read:
            return [each for each in self._inputs if each in read]
        steering = set(self.steering)
        return [each for each, _ in self._initializers if each in self._used and each not in steering][:1]

    def _read_constants(self, without: Collection[int] = ()) -> bytes:
        """The initializers that nodes read, as fields of the GraphProto."""
        kept = [each for number, each in self._initializers if number in self._used and number not in without]
        return b"".join([encoding.delimited(5, each) for each in kept])

    def model(self, opset: int, ir_version: int, *, all_outputs: bool = False) -> bytes:
        """The model. Outputs are what no node reads, or with `all_outputs` everything that nodes yield."""
        hidden = self._given if all_outputs else self._given | self._used
        outputs = []
        for number in range(1, len(self.dtype)):
            if number not in hidden:
                shape = self._unknown.get(number, self.shape[number])
                outputs.append(encoding.delimited(12, INFO[number] + encoding.value_type(self.dtype[number], shape)))
        given = self._real_inputs()
        inputs = [encoding.delimited(11, self._info(each)) for each in given]
        infos = [encoding.delimited(13, self._info(each)) for each in self._declared if each in hidden]
        parts = (self._nodes, (self._read_constants(given),), inputs, outputs, infos)
        return encoding.model(opset, ir_version, *[b"".join(each) for each in parts])

    def _info(self, number: int) -> bytes:
        """The ValueInfoProto of a tensor of known shape."""
        return INFO[number] + encoding.value_type(self.dtype[number], self.shape[number])
