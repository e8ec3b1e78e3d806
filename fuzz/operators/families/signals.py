"""Window functions, the Fourier transform, and the mel filter bank."""

from __future__ import annotations

import struct

from fuzz.operators import encoding
from fuzz.operators.dtypes import DOUBLE, FLOAT
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import Shape
from fuzz.operators.specification import Operator, Specification, between


def _window(g: Growth, op: Operator) -> None:
    """A window of a constant size, float unless another dtype is given. Of one or two elements it is degenerate."""
    size = 3 + g.below(10)
    code = g.among((None, FLOAT, DOUBLE))
    attributes = encoding.attribute("output_datatype", code) + g.among(op.choices)[1]
    inputs = (g.configuration((size,), (), short=g.short()),)
    g.node(op, inputs, attributes, code or FLOAT, (size,), -0.01, 1)


def _dft(g: Growth, op: Operator) -> None:
    """Of real or complex (two last elements) signals, along any axis but the first and the last; the whole length."""
    dtype = g.dtype[g.pick(op.domain)]
    fitting = [shape for shape in g.shapes_of(dtype) if 3 <= len(shape) <= 4 and shape[-1] in (1, 2)]
    x = g.matching(dtype, fitting or [_signal(g)], *op.domain.bounds[dtype])
    shape = g.shape[x]
    rank = len(shape)
    at = 1 + g.below(rank - 2)
    onesided = shape[-1] == 1 and g.random() < 0.5
    place = at if g.random() < 0.5 else at - rank
    inputs = [x, encoding.ABSENT, g.configuration((place,), ())]
    attributes = encoding.integer("onesided", 1) if onesided else b""
    if not onesided and g.random() < 0.4:
        attributes += encoding.integer("inverse", 1)
    length = shape[at] // 2 + 1 if onesided else shape[at]
    most = max(abs(g.low[x]), abs(g.high[x])) * shape[at] * 2
    g.node(op, inputs, attributes, dtype, (*shape[:at], length, *shape[at + 1 : -1], 2), -most, most)


def _signal(g: Growth) -> Shape:
    return (1 + g.below(3), 2 + g.below(4), 1 + g.below(2))


def _mel(g: Growth, op: Operator) -> None:
    """A filter bank: bins, transform length, rate and edges are constants."""
    bins, length = 2 + g.below(6), 16 * (1 + g.below(2))
    edges = [g.constant(FLOAT, encoding.tensor_content(FLOAT, (), struct.pack("<f", edge))) for edge in (20.0, 3500.0)]
    short = g.short()
    inputs = (*[g.configuration((each,), (), short=short) for each in (bins, length, 8000)], *edges)
    g.node(op, inputs, b"", FLOAT, (length // 2 + 1, bins), 0, 1)


_PERIODIC = {"periodic": (None, 0, 1)}
SPECIFICATIONS = (
    Specification("BlackmanWindow", _window, attributes=_PERIODIC, since=17),
    Specification("DFT", _dft, (2,), within=between(-1e3, 1e3), only=frozenset((FLOAT, DOUBLE)), since=20),
    Specification("HammingWindow", _window, attributes=_PERIODIC, since=17),
    Specification("HannWindow", _window, attributes=_PERIODIC, since=17),
    Specification("MelWeightMatrix", _mel, (5,), since=17),
)
