"""Normalisations: by statistics that are given, or over axes of the input."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import FLOAT
from fuzz.operators.families._attributes import axes
from fuzz.operators.families._ranges import product
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import ranks
from fuzz.operators.specification import Operator, Specification, between

#: Normalised values are at most the square root of how many there are; scales are small.
_MOST = 60.0
#: The inverse of a standard deviation is at most one over the root of the least epsilon.
_INVERSE = 320.0


def _batch(g: Growth, op: Operator) -> None:
    """At inference: scale, B, mean and variance for each channel, the variance away from zero."""
    x = g.pick(op.domain, ranks(2))
    dtype, shape = g.dtype[x], g.shape[x]
    channel = (shape[1],)
    scale, b, mean = (g.within(dtype, channel, -3, 3, parameter=True) for _ in range(3))
    variance = g.within(dtype, channel, 0.125, 3, parameter=True)
    # Over the square root of a variance from 0.125 to 3, and a little more for epsilon.
    low, high = product(g.low[x] - g.high[mean], g.high[x] - g.low[mean], 0.5, 2.9)
    low, high = product(low, high, g.low[scale], g.high[scale])
    interval = low + g.low[b], high + g.high[b]
    g.node(op, (x, scale, b, mean, variance), g.among(op.choices)[1], dtype, shape, *interval)


def _instance(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(3))
    dtype, shape = g.dtype[x], g.shape[x]
    scale, b = (g.within(dtype, (shape[1],), -3, 3, parameter=True) for _ in range(2))
    most = 3 * _MOST + 3
    g.node(op, (x, scale, b), g.among(op.choices)[1], dtype, shape, -most, most)


def _group(g: Growth, op: Operator) -> None:
    """Scale and bias have an entry for each channel. The form of opset 18, with one for each group, is withdrawn.

    The result is declared: strict inference finds none, since the operator's function computes a shape, and so
    refuses what reads it.
    """
    x = g.pick(op.domain, ranks(3))
    dtype, shape = g.dtype[x], g.shape[x]
    channels = shape[1]
    groups = g.among([each for each in range(1, channels + 1) if channels % each == 0])
    scale, b = (g.within(dtype, (channels,), -3, 3, parameter=True) for _ in range(2))
    attributes = encoding.integer("num_groups", groups) + g.among(op.choices)[1]
    most = 3 * _MOST + 3
    g.node(op, (x, scale, b), attributes, dtype, shape, -most, most)
    g.declare()


def _layer(g: Growth, op: Operator) -> None:
    """LayerNormalization and RMSNormalization: over the axes from `axis` on, by a scale (and bias) of their shape."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, ranks(1))
    dtype, shape = g.dtype[x], g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    part = shape[(-1 if axis is None else axis) % len(shape) :]
    parameters = [g.within(dtype, part, -3, 3, parameter=True) for _ in range(degree - 1)]
    most = 3 * _MOST + 3
    outputs = [(dtype, shape, -most, most)]
    # Of other dtypes the reference yields statistics of those, not of float.
    if op.op_type == "LayerNormalization" and dtype == FLOAT and g.random() < 0.3:
        outer = len(shape) - len(part)
        statistic = (*shape[:outer], *[1] * len(part))
        outputs.append((FLOAT, statistic, g.low[x], g.high[x]))
        if g.random() < 0.5:
            outputs.append((FLOAT, statistic, 0.0, _INVERSE))
    g.nodes(op, (x, *parameters), attributes + g.among(op.choices)[1], outputs)


def _mean_variance(g: Growth, op: Operator) -> None:
    """Needs axes, for which the standard has a default but no function body, and floats, since it adds a constant.

    The variance is a difference of means, which of equal values may come out below zero. So values are given ones.
    """
    x = g.unspoilt(g.pick(op.domain, ranks(4, 4)), op.domain)
    shape = g.shape[x]
    if min(shape) == 1 or g.low[x] == g.high[x]:
        shape = tuple([2 + g.below(3) for _ in range(4)])
        x = g.placeholder(FLOAT, shape, -3, 3)
    attributes = encoding.integers("axes", g.among(((0, 2, 3), (2, 3), (1,), (0, 1, 2, 3))))
    g.node(op, (x,), attributes, g.dtype[x], shape, -_MOST, _MOST)


_EPSILON = {"epsilon": (None, 0.001)}
_MOMENTUM = {"momentum": (None, 0.5)}  # which at inference does nothing
_WITHIN = between(-100, 100)
SPECIFICATIONS = (
    # Before opset 14 the reference takes every one for training.
    Specification("BatchNormalization", _batch, (5,), within=_WITHIN, attributes=_EPSILON | _MOMENTUM, since=14),
    Specification("GroupNormalization", _group, (3,), within=_WITHIN, attributes=_EPSILON, since=21),
    Specification("InstanceNormalization", _instance, (3,), within=_WITHIN, attributes=_EPSILON, since=6),
    Specification("LayerNormalization", _layer, (2, 3), within=_WITHIN, attributes=_EPSILON, since=17),
    Specification("MeanVarianceNormalization", _mean_variance, within=_WITHIN, only=frozenset((FLOAT,)), since=13),
    Specification("RMSNormalization", _layer, (2,), within=_WITHIN, attributes=_EPSILON, since=23),
)
