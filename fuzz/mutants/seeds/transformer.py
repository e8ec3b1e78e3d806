"""A transformer block (Vaswani et al. 2017): attention of several heads, layer normalisation, Gelu by Erf.

There are as many tokens as features, so no shape tells a pass that takes one axis for the other that it is wrong.
"""

from __future__ import annotations

import math

import numpy as np
import onnx

from fuzz.mutants.seeds._network import Network

_TOKENS, _WIDTH, _HEADS = 32, 32, 4
_PER_HEAD = _WIDTH // _HEADS


def build() -> onnx.ModelProto:
    """[batch 1, tokens 32, width 32] -> scores [1, 10]."""
    net = Network("transformer", 7)
    x = net.input("tokens", (1, _TOKENS, _WIDTH))
    x = net.add(x, _attention(net, _normalised(net, x)))
    x = net.add(x, _forward(net, _normalised(net, x)))
    mean = net.node("ReduceMean", (_normalised(net, x),), (1, _WIDTH), axes=[1], keepdims=0)
    return net.model(net.dense(mean, 10, gain=1.0))


def _normalised(net: Network, x: str) -> str:
    scale, bias = net.constant(np.ones(_WIDTH, np.float32)), net.weights((_WIDTH,), 0.05)
    return net.same("LayerNormalization", x, scale, bias, axis=-1)


def _linear(net: Network, x: str, out: int, gain: float = 1.0) -> str:
    length = net.shape[x][-1]
    weights, bias = net.weights((length, out), math.sqrt(gain / length)), net.weights((out,), 0.05)
    product = net.node("MatMul", (x, weights), (*net.shape[x][:-1], out))
    return net.same("Add", product, bias)


def _attention(net: Network, x: str) -> str:
    query, key, value = (_heads(net, _linear(net, x, _WIDTH)) for _ in range(3))
    turned = net.node("Transpose", (key,), (1, _HEADS, _PER_HEAD, _TOKENS), perm=[0, 1, 3, 2])
    scores = net.node("MatMul", (query, turned), (1, _HEADS, _TOKENS, _TOKENS))
    scaled = net.same("Mul", scores, net.constant(np.array(_PER_HEAD**-0.5, np.float32)))
    mixed = net.node("MatMul", (net.same("Softmax", scaled, axis=-1), value), net.shape[query])
    back = net.node("Transpose", (mixed,), (1, _TOKENS, _HEADS, _PER_HEAD), perm=[0, 2, 1, 3])
    joined = net.node("Reshape", (back, _shape(net, (1, _TOKENS, _WIDTH))), (1, _TOKENS, _WIDTH))
    return _linear(net, joined, _WIDTH)


def _heads(net: Network, x: str) -> str:
    split = (1, _TOKENS, _HEADS, _PER_HEAD)
    parts = net.node("Reshape", (x, _shape(net, split)), split)
    return net.node("Transpose", (parts,), (1, _HEADS, _TOKENS, _PER_HEAD), perm=[0, 2, 1, 3])


def _shape(net: Network, shape: tuple[int, ...]) -> str:
    return net.constant(np.array(shape, np.int64))


def _forward(net: Network, x: str) -> str:
    """Two layers with Gelu(x) = x/2 * (1 + erf(x / sqrt(2))) between them."""
    x = _linear(net, x, 4 * _WIDTH, gain=2.0)
    erf = net.same("Erf", net.same("Mul", x, net.constant(np.array(2**-0.5, np.float32))))
    plus = net.same("Add", erf, net.constant(np.array(1, np.float32)))
    half = net.same("Mul", x, net.constant(np.array(0.5, np.float32)))
    return _linear(net, net.same("Mul", half, plus), _WIDTH)
