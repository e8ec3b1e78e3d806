"""Which elements of an operator's result a rule of ``data/undefined.toml`` leaves open: one function per condition.

A function takes a `Site` for which the condition holds and gives a boolean array in the shape of the result, or
None where the condition cannot be told element by element: then all of the result is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fuzz.backends._definitions import compute
from fuzz.oracles._accumulated import beyond_32_bits
from fuzz.oracles._interpolated import rounded
from fuzz.oracles._padded import beside_data
from fuzz.oracles._scatters import disputed_elements, element_writes, slice_writes, unordered_elements, unpooled_twice
from fuzz.oracles._site import Site, is_integer
from fuzz.oracles._torch_attention import of_queries
from fuzz.oracles._torch_integers import cast_target as torch_cast_target
from fuzz.oracles._torch_integers import element_results, result_type
from fuzz.oracles._values import (
    EXACT,
    REDUCTIONS,
    along,
    as_exact,
    broadcast,
    cast_target,
    exact_sums,
    limits,
    lines_of_nothing,
    near_ties,
    power_leaves,
    reduced,
)
from fuzz.oracles._windows import of_padding, outside

Elements = Callable[[Site], np.ndarray | None]


def float_outside_integer(site: Site) -> np.ndarray | None:
    array, target = site.array("input"), cast_target(site)
    if array is None or target is None:
        return None
    low, high = limits(target)
    numbers = np.trunc(array.astype(np.float64))
    return np.asarray(~np.isfinite(numbers) | (numbers < low) | (numbers >= float(high) + 1))


def integer_division_by_zero(site: Site) -> np.ndarray | None:
    pair = broadcast(site, "A", "B")
    return None if pair is None else np.asarray(pair[1] == 0)


def smallest_integer_by_minus_one(site: Site) -> np.ndarray | None:
    pair = broadcast(site, "A", "B")
    return None if pair is None else np.asarray((pair[0] == limits(pair[0].dtype)[0]) & (pair[1] == -1))


def shift_reaches_width(site: Site) -> np.ndarray | None:
    pair = broadcast(site, "X", "Y")
    return None if pair is None else np.asarray((pair[1] < 0) | (pair[1] >= pair[0].dtype.itemsize * 8))


def _outside(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    low, high = limits(dtype)
    return np.asarray([not low <= number <= high for number in numbers.ravel()], bool).reshape(numbers.shape)


def integer_result_overflows(site: Site) -> np.ndarray | None:
    arrays = [value for value in site.inputs.values() if isinstance(value, np.ndarray)]
    exact = EXACT[site.op_type](site.attributes, *map(as_exact, arrays))
    return _outside(np.asarray(exact, dtype=object), arrays[0].dtype)


def integer_reduction_overflows(site: Site) -> np.ndarray | None:
    found, result = reduced(site), site.result()
    if found is None or result is None:
        return None
    terms = REDUCTIONS[site.op_type](as_exact(found[0]))
    fold = np.multiply if site.op_type == "ReduceProd" else np.add
    return _outside(np.asarray(fold.reduce(terms, axis=found[1]), dtype=object), found[0].dtype).reshape(result.shape)


def integer_sum_overflows(site: Site) -> np.ndarray | None:
    given = [value for value in site.inputs.values() if isinstance(value, np.ndarray)]
    if site.op_type == "CumSum":
        return _running_overflow(site)
    exact = exact_sums(site, given)
    return None if exact is None else _outside(exact, given[0].dtype)


def accumulation_leaves_32_bits(site: Site) -> np.ndarray | None:
    return beyond_32_bits(site)


def scatters_nan_among_extremes(site: Site) -> np.ndarray | None:
    return unordered_elements(site)


def weighs_no_data(site: Site) -> np.ndarray | None:
    return beside_data(site)


def interpolates_integers(site: Site) -> np.ndarray | None:
    return rounded(site)


def _running_overflow(site: Site) -> np.ndarray | None:
    """The first running sum that does not fit and all that come after it, which hang on it."""
    x, axis = site.array("x"), site.array("axis")
    if x is None or axis is None:
        return None
    at = int(axis.ravel()[0])
    turned = np.flip(as_exact(x), at) if site.attributes.get("reverse") else as_exact(x)
    before = turned if site.attributes.get("exclusive") else 0
    left = np.logical_or.accumulate(_outside(np.cumsum(turned, axis=at) - before, x.dtype), axis=at)
    return np.asarray(np.flip(left, at) if site.attributes.get("reverse") else left)


def scatter_elements_conflict(site: Site) -> np.ndarray | None:
    return disputed_elements(site, element_writes(site))


def scatter_nd_conflict(site: Site) -> np.ndarray | None:
    return disputed_elements(site, slice_writes(site))


def unpools_to_one_place(site: Site) -> np.ndarray | None:
    places, result = unpooled_twice(site), site.result()
    if places is None or result is None or "output_shape" in site.given:
        return None
    mask = np.zeros(result.size, bool)
    mask[places[(places >= 0) & (places < result.size)]] = True
    return mask.reshape(result.shape)


def takes_bits_of_nan(site: Site) -> np.ndarray | None:
    array, result = site.array("input"), site.result()
    if array is None or result is None or array.shape != result.shape:
        return None
    return np.isnan(array.astype(np.float64))


def integer_power_leaves_type(site: Site) -> np.ndarray | None:
    pair = broadcast(site, "X", "Y")
    if pair is None:
        return None
    low, high = limits(pair[0].dtype)
    pairs = zip(as_exact(pair[0]).ravel().tolist(), pair[1].ravel().tolist(), strict=True)
    found = [power_leaves(int(base), float(power), low, high) for base, power in pairs]
    return np.asarray(found, bool).reshape(pair[0].shape)


def quantizes_no_number(site: Site) -> np.ndarray | None:
    x, scale = site.array("x"), site.array("y_scale")
    if site.op_type != "QuantizeLinear" or x is None or scale is None or not np.all(scale.astype(np.float64)):
        return None
    return np.asarray(~np.isfinite(x.astype(np.float64)))


def quantizes_near_tie(site: Site) -> np.ndarray | None:
    x, scale = site.array("x"), site.array("y_scale")
    if site.op_type != "QuantizeLinear" or x is None or scale is None or scale.size != 1:
        return None
    return near_ties(x.astype(np.float64), float(scale.astype(np.float64).ravel()[0]))


#: Operators of which every element has one element of each input, after broadcasting.
_ELEMENTWISE = frozenset(
    {"Celu", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "Max", "Min", "PRelu", "Relu", "Selu", "Shrink", "Sign"}
    | {"ThresholdedRelu"}
)


def orders_nan(site: Site) -> np.ndarray | None:
    result = site.result()
    known = [value for value in site.inputs.values() if isinstance(value, np.ndarray)]
    given = [value for value in (site.subjects() if site.subject else known) if not is_integer(value)]
    if result is None or len(known) < len(site.given) or not given:
        return None
    unordered = [np.isnan(value.astype(np.float64)) for value in given]
    if site.op_type in _ELEMENTWISE:
        return np.asarray(np.logical_or.reduce(np.broadcast_arrays(*unordered, np.zeros(result.shape, bool))[:-1]))
    if site.op_type == "Hardmax":
        return along(unordered[0], site)
    if site.op_type in ("ArgMax", "ArgMin"):
        axis = int(site.attributes.get("axis", 0))
        return np.asarray(np.any(unordered[0], axis=axis, keepdims=True).reshape(result.shape))
    if site.op_type == "GlobalMaxPool":
        return np.asarray(np.any(unordered[0], axis=tuple(range(2, unordered[0].ndim)), keepdims=True))
    if site.op_type == "TopK":
        axis = int(site.attributes.get("axis", -1))
        return np.broadcast_to(np.any(unordered[0], axis=axis, keepdims=True), result.shape)
    if site.op_type == "MaxPool":  # the maximum of 1 for NaN and 0 for numbers tells the windows with a NaN
        pooled = compute("MaxPool", [unordered[0].astype(np.float64)], dict(site.attributes), result.shape)
        return np.asarray(pooled[0] > 0) if pooled else None
    found = reduced(site) if site.op_type in ("ReduceMax", "ReduceMin") else None
    return None if found is None else np.any(unordered[0], axis=found[1], keepdims=True).reshape(result.shape)


def normalises_nothing(site: Site) -> np.ndarray | None:
    return lines_of_nothing(site)


def pools_padding(site: Site) -> np.ndarray | None:
    """An average of zeros that count is zero, which some compilers refuse to compute all the same."""
    windows, result = of_padding(site), site.result()
    if windows is None or result is None or not site.attributes.get("count_include_pad", 0):
        return windows
    return np.asarray(windows & ~np.isfinite(result))


def roi_leaves_picture(site: Site) -> np.ndarray | None:
    regions, result = outside(site), site.result()
    if regions is None or result is None or result.shape[:1] != regions.shape:
        return None
    return np.broadcast_to(regions.reshape(-1, *[1] * (result.ndim - 1)), result.shape)


def exponentiates_infinity(site: Site) -> np.ndarray | None:
    array = site.array("input")
    return None if array is None else along(np.isposinf(array.astype(np.float64)), site)


# ---------------------------------------------------------------- PyTorch, whose results are not known here


def torch_attention_masks_all(site: Site) -> np.ndarray | None:
    return of_queries(site)


def torch_cast_leaves_type(site: Site) -> np.ndarray | None:
    array, target = site.array("0", "input", "self"), torch_cast_target(site)
    if array is None or target is None:
        return None
    low, high = limits(target)
    numbers = np.trunc(array.astype(np.float64))
    return np.asarray(~np.isfinite(numbers) | (numbers < low) | (numbers >= float(high) + 1))


def torch_shift_reaches_width(site: Site) -> np.ndarray | None:
    value, shift = site.array("0", "input", "self"), site.array("1", "other")
    number = shift if shift is not None else site.attributes.get("1", site.attributes.get("other"))
    if value is None or number is None:
        return None
    return np.broadcast_arrays(value, (np.asarray(number) < 0) | (np.asarray(number) >= value.dtype.itemsize * 8))[1]


def torch_integer_overflows(site: Site) -> np.ndarray | None:
    kept, results = result_type(site), element_results(site)
    if kept is None or not results:
        return None
    return np.asarray(
        np.logical_or.reduce(np.broadcast_arrays(*(_outside(np.asarray(each), kept) for each in results)))
    )


#: By the condition of a rule (`when`).
ELEMENTS: Mapping[str, Elements] = {
    function.__name__: function
    for function in (
        accumulation_leaves_32_bits,
        exponentiates_infinity,
        float_outside_integer,
        integer_division_by_zero,
        integer_power_leaves_type,
        integer_reduction_overflows,
        integer_result_overflows,
        integer_sum_overflows,
        interpolates_integers,
        normalises_nothing,
        orders_nan,
        pools_padding,
        quantizes_near_tie,
        quantizes_no_number,
        roi_leaves_picture,
        scatter_elements_conflict,
        scatter_nd_conflict,
        scatters_nan_among_extremes,
        shift_reaches_width,
        smallest_integer_by_minus_one,
        takes_bits_of_nan,
        torch_attention_masks_all,
        torch_cast_leaves_type,
        torch_integer_overflows,
        torch_shift_reaches_width,
        unpools_to_one_place,
        weighs_no_data,
    )
}
