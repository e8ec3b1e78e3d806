"""Losses, and Dropout as it is at inference."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from fuzz.operators import encoding
from fuzz.operators.dtypes import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, ranks
from fuzz.operators.specification import Operator, Specification, between, everything


def _loss(g: Growth, op: Operator) -> None:
    """Scores of classes (axis 1), labels, perhaps weights; one number, or a loss for each label."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, ranks(2), 625)
    dtype, shape = g.dtype[x], g.shape[x]
    classes = shape[1]
    labels = g.within(g.among(op.others["labels"].dtypes), (shape[0], *shape[2:]), 0, classes - 1)
    inputs = [x, labels]
    if degree == 3:
        inputs.append(g.within(dtype, (classes,), 0.125, 3, parameter=True))
    (reduction, *_), attributes = g.among(op.choices)
    if op.op_type == "NegativeLogLikelihoodLoss":
        low, high = -3 * g.high[x], -3 * g.low[x]
    else:
        low, high = 0.0, 3 * (g.high[x] - g.low[x] + 10)
    if g.random() < 0.3:  # the mean of nothing but what is ignored would be 0/0
        attributes += encoding.integer("ignore_index", g.below(classes) if reduction in ("none", "sum") else -1)
    result = (shape[0], *shape[2:]) if reduction == "none" else ()
    if reduction == "sum":
        low, high = low * SIZE[shape], high * SIZE[shape]
    outputs = [(dtype, result, min(low, 0.0), max(high, 0.0))]
    if op.op_type == "SoftmaxCrossEntropyLoss" and g.random() < 0.4:
        outputs.append((dtype, shape, g.low[x] - g.high[x] - math.log(classes), 0.0))
    g.nodes(op, inputs, attributes, outputs)


def _dropout(g: Growth, op: Operator) -> None:
    """Without training_mode it passes its input on; the mask is all true."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain)
    inputs = [x]
    if degree > 1:
        code = g.among(tuple(_HALF))
        inputs.append(g.constant(code, encoding.tensor_content(code, (), struct.pack(_HALF[code], 0.5))))
    if degree > 2:
        inputs.append(g.constant(BOOL, encoding.tensor_content(BOOL, (), b"\0")))
    output = (g.dtype[x], g.shape[x], g.low[x], g.high[x])
    outputs = [output, (BOOL, g.shape[x], 1, 1)] if g.random() < 0.3 else [output]
    g.nodes(op, inputs, g.among(op.choices)[1], outputs)


#: Dtypes of a ratio, as `struct` spells them.
_HALF = {FLOAT: "<f", DOUBLE: "<d", FLOAT16: "<e"}
_REDUCTION = {"reduction": (None, "none", "sum", "mean")}
_LABELS = {"labels": ("Tind", everything)}
_WITHIN = between(-5, 5)


def _cross_entropy(since: int = 12, until: int = 1 << 16, without: frozenset[int] = frozenset()) -> Specification:
    name = "SoftmaxCrossEntropyLoss"
    row = Specification(name, _loss, (2, 3), within=_WITHIN, others=_LABELS, attributes=_REDUCTION)
    return replace(row, since=since, until=until, without=without)


SPECIFICATIONS = (
    Specification("Dropout", _dropout, (1, 2, 3), attributes={"seed": (None, 1)}, since=12),
    Specification(
        "NegativeLogLikelihoodLoss", _loss, (2, 3), within=_WITHIN, others=_LABELS, attributes=_REDUCTION, since=12
    ),
    # Its function body consists of the loss above, which takes bfloat16 from opset 22 on.
    _cross_entropy(until=21, without=frozenset((BFLOAT16,))),
    _cross_entropy(since=22),
)
