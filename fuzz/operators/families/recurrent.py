"""Recurrent layers: RNN, GRU and LSTM with their optional inputs."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import DOUBLE
from fuzz.operators.encoding import ABSENT
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import Shape, ranks
from fuzz.operators.specification import Operator, Specification, between

#: Gates of one cell.
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _recurrent(g: Growth, op: Operator) -> None:
    """Inputs X, W, R, then B, initial_h and for an LSTM initial_c, P, each of them optional."""
    x = g.pick(op.domain, ranks(3, 3), 125)
    dtype, shape = g.dtype[x], g.shape[x]
    steps, batch, size = shape
    gates, hidden = _GATES[op.op_type], 1 + g.below(4)
    direction = g.among((None, "forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1

    def weights(*sizes: int) -> int:
        return g.within(dtype, (directions, *sizes), -1, 1, parameter=True)

    inputs = [x, weights(gates * hidden, size), weights(gates * hidden, hidden)]
    state = (directions, batch, hidden)
    given = [g.random() < 0.5 for _ in range(4)]
    inputs.append(weights(2 * gates * hidden) if given[0] else ABSENT)
    inputs.append(ABSENT)  # sequence_lens, which the reference ignores
    inputs.append(_state(g, dtype, state) if given[1] else ABSENT)
    if op.op_type == "LSTM":
        inputs.append(_state(g, dtype, state) if given[2] else ABSENT)
        inputs.append(weights(3 * hidden) if given[3] else ABSENT)
    while inputs[-1] == ABSENT:
        inputs.pop()
    attributes = encoding.integer("hidden_size", hidden) + encoding.attribute("direction", direction)
    attributes += g.among(op.choices)[1]
    final = (dtype, (directions, batch, hidden), -steps - 3.0, steps + 3.0)
    outputs = [(dtype, (steps, directions, batch, hidden), -1.0 - steps, 1.0 + steps), final]
    if op.op_type == "LSTM" and g.random() < 0.5:
        outputs.append(final)
    # The first one is never left out: the reference takes it for every input that is left out later.
    g.nodes(op, inputs, attributes, outputs[: 1 + g.below(len(outputs))])


def _state(g: Growth, dtype: int, shape: Shape) -> int:
    return g.within(dtype, shape, -1, 1)


_WITHIN = between(-100, 100)
#: ONNX Runtime takes a model with such numbers, but fails when it runs: "does not support double yet".
_NO_DOUBLE = frozenset((DOUBLE,))
_RESET = {"linear_before_reset": (None, 0, 1)}
SPECIFICATIONS = (
    Specification("GRU", _recurrent, (3, 4, 5), within=_WITHIN, attributes=_RESET, since=7, without=_NO_DOUBLE),
    Specification("LSTM", _recurrent, (3, 4, 5, 6, 7), within=_WITHIN, since=7, without=_NO_DOUBLE),
    Specification("RNN", _recurrent, (3, 4, 5), within=_WITHIN, since=7),
)
