"""The operator table at the ends of what operators take: results are finite there, and lie in the ranges computed.

New tensors have narrow ranges, so that the ends are seldom met by chance; what is clipped to a domain does meet them.
"""

import random

import numpy as np
import onnx
import pytest

from fuzz.operators import dtypes
from fuzz.operators.families import IR_VERSION, OPSET, operators
from fuzz.operators.growth import Growth, Limits
from tests.fuzz.operators.test_families import assert_as_declared, assert_within_ranges, evaluated

TABLE = operators()
PALETTE = (dtypes.FLOAT, dtypes.DOUBLE, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.INT32, dtypes.INT64, dtypes.UINT8, 3)


class Wide(Growth):
    """A growing model whose new tensors may hold everything that is asked for."""

    def placeholder(self, dtype, shape, low, high, *, parameter=False):
        least, most = dtypes.RANGE[dtype]
        number = self._number(dtype, shape, *inside(dtype, max(low, least), min(high, most)))
        self._given.add(number)
        self.pool.append(number)
        self._offer(number)
        self._inputs.append(number)
        return number


def inside(code, low, high):
    """The ends as values of the dtype, none of them beyond."""
    if not dtypes.is_floating(code):
        return float(np.ceil(low)), float(np.floor(high))
    kind = dtypes.numpy_dtype(code)
    ends = [float(np.array(each).astype(kind)) for each in (low, high)]
    return ends[0] + (ends[0] < low) * abs(low) / 64, ends[1] - (ends[1] > high) * abs(high) / 64


def extreme(given, rng):
    """Values of a graph input, two of three at the ends of its range."""
    if given.dtype == dtypes.STRING:
        return dtypes.draw(given.dtype, given.shape, given.interval, rng)
    low, high = given.interval
    inner = dtypes.draw(given.dtype, given.shape, given.interval, rng).astype(np.float64)
    turn = rng.integers(0, 3, given.shape)
    return np.where(turn == 0, low, np.where(turn == 1, high, inner)).astype(dtypes.numpy_dtype(given.dtype))


@pytest.mark.parametrize("name", [name for name, operator in TABLE.items() if not operator.bodies])
def test_results_are_finite_and_in_range_at_the_ends_of_the_domain(name):
    operator = TABLE[name]
    for turn in range(2 * len(PALETTE)):
        draw = random.Random(f"ends {name} {turn}")
        growth = Wide(draw, (PALETTE[turn % len(PALETTE)],), Limits(picking_rate=0.3))
        operator.grow(growth, operator)
        model = onnx.load_from_string(growth.model(OPSET, IR_VERSION, all_outputs=True))
        rng = np.random.default_rng(turn)
        values = evaluated(model, {each.name: extreme(each, rng) for each in growth.inputs()})
        assert_as_declared(model, values)
        assert_within_ranges(growth, model, values)


def test_a_small_float_may_hold_whatever_quantisation_saturates_at():
    operator = TABLE["QuantizeLinear"]
    for turn in range(200):
        growth = Wide(random.Random(turn), (dtypes.FLOAT,), Limits(picking_rate=0.3))
        operator.grow(growth, operator)
        if growth.dtype[-1] in dtypes.FLOAT8:
            model = onnx.load_from_string(growth.model(OPSET, IR_VERSION, all_outputs=True))
            rng = np.random.default_rng(turn)
            values = evaluated(model, {each.name: extreme(each, rng) for each in growth.inputs()})
            assert_within_ranges(growth, model, values)
