"""A bidirectional LSTM over a short sequence, with a classifier on the mean of its states."""

from __future__ import annotations

import onnx

from fuzz.mutants.seeds._network import Network

_STEPS, _FEATURES, _HIDDEN = 12, 16, 24


def build() -> onnx.ModelProto:
    """[steps 12, batch 1, features 16] -> scores [1, 10]."""
    net = Network("lstm", 5)
    x = net.input("sequence", (_STEPS, 1, _FEATURES))
    x = net.same("Tanh", x)
    scale = _HIDDEN**-0.5
    weights = (
        net.weights((2, 4 * _HIDDEN, _FEATURES), scale),
        net.weights((2, 4 * _HIDDEN, _HIDDEN), scale),
        net.weights((2, 8 * _HIDDEN), 0.05),
    )
    state = (2, 1, _HIDDEN)
    shapes = ((_STEPS, 2, 1, _HIDDEN), state, state)
    y, last, cell = net.nodes("LSTM", (x, *weights), shapes, hidden_size=_HIDDEN, direction="bidirectional")
    mean = net.node("ReduceMean", (y,), state, axes=[0], keepdims=0)
    joined = net.add(net.add(mean, last), net.same("Tanh", cell))
    batch_first = net.node("Transpose", (joined,), (1, 2, _HIDDEN), perm=[1, 0, 2])
    hidden = net.relu(net.dense(net.flatten(batch_first), 32))
    return net.model(net.dense(hidden, 10, gain=1.0))
