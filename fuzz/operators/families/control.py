"""If, Loop and Scan: nodes with bodies, which the same table fills.

A body sees tensors of the graphs around it. What it must yield (what the other branch yields, the next state of a
loop) is a result that happens to fit, else that of one more node of a few simple operators, so there is always an
answer. Ranges of values hold in every iteration: a state stays within its range, or grows by at most one each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.operators import encoding, families
from fuzz.operators.bodies import Body
from fuzz.operators.dtypes import BOOL, INT64, RANGE, STRING, Interval, fresh_intervals
from fuzz.operators.encoding import ABSENT
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import ANY_RANK, LARGEST, SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification, everything

#: Bodies in bodies are as deep as it gets.
_DEPTH = 2
#: Most nodes of a body that are drawn, results that it yields of its own, states, iterations of Loop and of Scan.
_NODES, _YIELDED, _STATES, _TURNS, _LONGEST = 4, 2, 2, 4, 8
#: Most elements of a state, and ranks of what is stacked: the result has one axis more.
_STATE, _STACKED = 625, ranks(0, 4)

#: dtype, shape, low, high
Tensor = tuple[int, Shape, float, float]


def _fill(body: Body, opset: int) -> None:
    """Some nodes of whatever the model may consist of."""
    choices: Sequence[Operator] = body.operators or tuple(families.operators(opset).values())
    if body.depth >= _DEPTH:
        choices = [each for each in choices if not each.bodies]
    if choices:
        body.fill(choices, 1 + body.below(_NODES))


def _tensor(g: Growth, number: int) -> Tensor:
    return g.dtype[number], g.shape[number], g.low[number], g.high[number]


def _takes(op_type: str, opset: int, dtype: int) -> bool:
    """Whether elements of the dtype may be given to Where, Add ... at that opset."""
    operator = families.operators(opset).get(op_type)
    return operator is not None and dtype in operator.types["T"]


def _add(body: Body, op_type: str, inputs: Sequence[int], opset: int, result: Tensor) -> int:
    """One more node, and its result."""
    number = len(body.dtype)
    body.node(families.operators(opset)[op_type], inputs, b"", *result)
    return number


def _ending(body: Body, wanted: Tensor, opset: int, taken: Sequence[int]) -> int:
    """A result of that dtype and shape within that range; new tensors must have values there."""
    found = body.result(*wanted, without=taken)
    if found is not None:
        return found
    first = body.within(*wanted)
    if body.random() < 0.4 or not _takes("Where", opset, wanted[0]):
        return _add(body, "Identity", (first,), opset, _tensor(body, first))
    return _either(body, first, body.within(*wanted), opset)


def _either(body: Body, first: int, second: int, opset: int) -> int:
    """Elements of two tensors that are alike, by a condition."""
    dtype, shape, low, high = _tensor(body, first)
    hull = min(low, body.low[second]), max(high, body.high[second])
    condition = body.one_way(BOOL, shape, 0, 1)
    return _add(body, "Where", (condition, first, second), opset, (dtype, shape, *hull))


def _results(body: Body, op: Operator) -> list[int]:
    """Results of the body of dtypes that its node may give."""
    return [each for each in body.results() if body.dtype[each] in op.types["V"]]


def _if(g: Growth, op: Operator) -> None:
    """What the one branch yields, the other must yield, too."""
    condition = g.within(BOOL, g.among(((), (1,))), 0, 1)
    then = Body(g)
    _fill(then, op.opset)
    yielded = _results(then, op)[: 1 + g.below(_YIELDED)]
    if not yielded:  # of nodes whose results have unknown shapes or other dtypes
        anything = g.fresh(op.others["V"])
        yielded = [_add(then, "Identity", (anything,), op.opset, _tensor(g, anything))]
    attributes = then.finish("then_branch", yielded)
    other = Body(g)
    _fill(other, op.opset)
    ends: list[int] = []
    for each in yielded:
        dtype = g.dtype[each]
        ends.append(_ending(other, (dtype, g.shape[each], *RANGE[dtype]), op.opset, ends))
    outputs = [
        (g.dtype[one], g.shape[one], min(g.low[one], g.low[two]), max(g.high[one], g.high[two]))
        for one, two in zip(yielded, ends, strict=True)
    ]
    g.nodes(op, (condition,), attributes + other.finish("else_branch", ends), outputs)


def _room(dtype: int, low: float, high: float, turns: int, opset: int) -> Interval | None:
    """The range of a state that grows by at most one each turn, None where it cannot."""
    least, most = RANGE[dtype]
    found = max(low - turns, min(least, 0)) if least >= 0 else low - turns, high + turns
    fits = least <= found[0] and found[1] <= most
    return found if fits and dtype not in (BOOL, STRING) and _takes("Add", opset, dtype) else None


class _States:
    """What a loop carries from one iteration to the next: its first value, and its form in the body."""

    def __init__(self, body: Body, first: Sequence[int], turns: int, opset: int) -> None:
        self._body, self._opset = body, opset
        self._room = [_room(body.dtype[each], body.low[each], body.high[each], turns, opset) for each in first]
        self.tensors: list[Tensor] = [
            (body.dtype[each], body.shape[each], *(room or (body.low[each], body.high[each])))
            for each, room in zip(first, self._room, strict=True)
        ]
        self._formals = [body.formal(*each) for each in self.tensors]

    def ends(self) -> list[int]:
        """The results that are the states of the next iteration."""
        found: list[int] = []
        for at in range(len(self.tensors)):
            found.append(self._next(at, found))
        return found

    def _next(self, at: int, taken: Sequence[int]) -> int:
        body, state, tensor, opset = self._body, self._formals[at], self.tensors[at], self._opset
        dtype, shape, low, high = tensor
        turn = body.random()
        found = body.result(*tensor, without=taken) if turn < 0.4 else None
        if found is not None:
            return found
        if self._room[at] and turn < 0.8:
            step = body.within(dtype, shape, -1 if RANGE[dtype][0] < 0 else 0, 1)
            return _add(body, "Add", (state, step), opset, tensor)
        if turn < 0.9 and fresh_intervals(dtype, low, high) and _takes("Where", opset, dtype):
            return _either(body, state, body.within(*tensor), opset)
        return _add(body, "Identity", (state,), opset, tensor)


def _stacked(body: Body, op: Operator, turns: int, taken: Sequence[int]) -> list[int]:
    """Results of which every iteration leaves one behind."""
    fitting = [
        each
        for each in _results(body, op)
        if each not in taken and len(body.shape[each]) in _STACKED and SIZE[body.shape[each]] * turns <= LARGEST
    ]
    return fitting[: body.below(_YIELDED + 1)]


def _rows(g: Growth, numbers: Sequence[int], turns: int) -> list[Tensor]:
    return [(g.dtype[each], (turns, *g.shape[each]), g.low[each], g.high[each]) for each in numbers]


_TRUE = encoding.tensor_content(BOOL, (), b"\x01")


def _loop(g: Growth, op: Operator) -> None:
    """For, while, both, or with a number of turns that only the run knows.

    It runs once at least: of no turn at all the standard does not say what scan outputs look like.
    """
    kind = g.among(("for", "while", "both", "open"))
    most, last = 1 + g.below(_TURNS), 1 + g.below(_TURNS)
    turns = {"for": most, "while": last, "both": min(most, last), "open": _TURNS}[kind]
    first = [g.pick(op.domain, ANY_RANK, _STATE) for _ in range(1 + g.below(_STATES))]
    count = ABSENT
    if kind == "open":
        count = g.within(INT64, (), 1, _TURNS)
    elif kind != "while":
        count = g.constant(INT64, encoding.integer_tensor((most,), ()))
    begin = ABSENT if kind == "for" and g.random() < 0.5 else g.constant(BOOL, _TRUE)
    body = Body(g)
    turn, condition = body.formal(INT64, (), 0, turns - 1), body.formal(BOOL, (), 0, 1)
    states = _States(body, first, turns, op.opset)
    _fill(body, op.opset)
    ends = states.ends()
    rows = _stacked(body, op, turns, ends)
    if kind in ("while", "both"):
        bound = body.constant(INT64, encoding.integer_tensor((last - 1,), ()))
        proceed = _add(body, "Less", (turn, bound), op.opset, (BOOL, (), 0, 1))
    else:
        goes_on = condition if kind == "for" else body.within(BOOL, (), 0, 1)
        proceed = _add(body, "Identity", (goes_on,), op.opset, (BOOL, (), 0, 1))
    attributes = body.finish("body", (proceed, *ends, *rows))
    inputs = (count, begin, *first)
    if kind != "open":
        g.nodes(op, inputs, attributes, states.tensors + _rows(g, rows, turns))
    else:
        g.nodes(op, inputs, attributes, states.tensors, [(g.dtype[each], (None, *g.shape[each])) for each in rows])


def _scan(g: Growth, op: Operator) -> None:
    """Along the first axis of one or two tensors; the reference knows neither other axes nor the way back."""
    x = g.pick(op.domain, ranks(1), LARGEST)
    if g.shape[x][0] > _LONGEST:
        x = g.exact(op.domain, g.dtype[x], (1 + g.below(_LONGEST), *g.shape[x][1:]))
    turns = g.shape[x][0]
    scanned = [x]
    if g.random() < 0.4:
        shape = g.shape_of_rank(ranks(0, 2))
        scanned.append(g.exact(op.domain, g.dtype[x], (turns, *shape)))
    first = [g.pick(op.domain, ANY_RANK, _STATE) for _ in range(g.below(_STATES + 1))]
    body = Body(g)
    states = _States(body, first, turns, op.opset)
    slices = [body.formal(g.dtype[each], g.shape[each][1:], g.low[each], g.high[each]) for each in scanned]
    _fill(body, op.opset)
    ends = states.ends()
    rows = _stacked(body, op, turns, ends)
    if not ends and not rows:
        rows = [_add(body, "Identity", slices[:1], op.opset, _tensor(g, slices[0]))]
    attributes = body.finish("body", (*ends, *rows)) + encoding.integer("num_scan_inputs", len(scanned))
    if g.random() < 0.3:
        for name, length in (("scan_input_axes", len(scanned)), ("scan_output_directions", len(rows))):
            attributes += encoding.integers(name, (0,) * length) if length else b""
    g.nodes(op, (*first, *scanned), attributes, states.tensors + _rows(g, rows, turns))


SPECIFICATIONS = (
    Specification("If", _if, others={"V": ("V", everything)}, since=11, bodies=True),
    Specification("Loop", _loop, (2, 3, 4), first="V", since=11, bodies=True),
    Specification("Scan", _scan, (1, 2, 3, 4), first="V", since=11, bodies=True),
)
