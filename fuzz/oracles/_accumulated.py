"""The sums of products that operators of quantised numbers keep in 32 bits, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuzz.oracles._again import again
from fuzz.oracles._site import Site

#: By operator: its two factors, each with its zero point.
_FACTORS: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "ConvInteger": (("x", "x_zero_point"), ("w", "w_zero_point")),
    "MatMulInteger": (("A", "a_zero_point"), ("B", "b_zero_point")),
    "QLinearConv": (("x", "x_zero_point"), ("w", "w_zero_point")),
    "QLinearMatMul": (("a", "a_zero_point"), ("b", "b_zero_point")),
}


def beyond_32_bits(site: Site) -> np.ndarray | None:
    """Where the sum does not fit; None where it is not known. Float64 holds sums of up to 2^37 products of bytes."""
    found = _sums(site)
    limits = np.iinfo(np.int32)
    return None if found is None else np.asarray((found < limits.min) | (found > limits.max))


def _sums(site: Site) -> np.ndarray | None:
    convolves = "Conv" in site.op_type
    (x, w), bias = _factors(site, convolves), site.array("B") if site.op_type == "QLinearConv" else None
    if x is None or w is None or ("B" in site.given and site.op_type == "QLinearConv" and bias is None):
        return None
    if not convolves:
        return np.asarray(np.matmul(x, w))
    plain = replace(site, op_type="Conv", inputs={"X": x, "W": w}, given=frozenset("XW"))
    found = again(plain, {"X": x, "W": w})
    if found is None or bias is None:
        return found
    return np.asarray(found + bias.reshape(1, -1, *[1] * (x.ndim - 2)))


def _factors(site: Site, convolves: bool) -> list[np.ndarray | None]:
    """The factors less their zero points; None for what is not known."""
    found: list[np.ndarray | None] = []
    for at, (name, zero_name) in enumerate(_FACTORS[site.op_type]):
        value, zero = site.array(name), site.array(zero_name)
        if value is None or (zero is None and zero_name in site.given):
            found.append(None)
            continue
        wide = value.astype(np.float64)
        found.append(wide if zero is None else wide - _along(zero.astype(np.float64), wide, at == 0, convolves))
    return found


def _along(zero: np.ndarray, value: np.ndarray, first: bool, convolves: bool) -> np.ndarray:
    """A zero point, shaped to go with its factor: one for each filter, row of the first or column of the second."""
    if zero.ndim != 1 or zero.size == 1:
        return zero.reshape(()) if zero.size == 1 else zero
    if convolves:
        return zero.reshape(-1, *[1] * (value.ndim - 1))
    return zero.reshape(-1, 1) if first else zero
