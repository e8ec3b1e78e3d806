"""When a rule of ``data/undefined.toml`` holds: one function per condition, over one node's concrete values.

A predicate sees a `Site`. What it needs and does not find there (a value that is not known) makes it
False: it never objects on a guess. The exceptions are named so (``dropout_may_train``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzz.oracles._accumulated import beyond_32_bits
from fuzz.oracles._interpolated import rounded
from fuzz.oracles._padded import beside_data
from fuzz.oracles._scatters import Writes, conflicting, element_writes, slice_writes, unordered_elements, unpooled_twice
from fuzz.oracles._site import Predicate, Site, is_float, is_integer, predicates_in
from fuzz.oracles._torch_attention import queries_without_keys
from fuzz.oracles._torch_integers import cast_target as torch_cast_target
from fuzz.oracles._torch_integers import partial_results, result_type
from fuzz.oracles._values import (
    EXACT,
    REDUCTIONS,
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
from fuzz.wire import Value


def _leaves(exact: np.ndarray, dtype: Any) -> bool:
    low, high = limits(dtype)
    return any(not low <= number <= high for number in np.asarray(exact, dtype=object).ravel())


# ---------------------------------------------------------------- ONNX


def dropout_may_train(site: Site) -> bool:
    """Training mode that is on, or connected and unknown; not with a ratio known to be zero."""
    if "training_mode" in site.given:
        mode = site.array("training_mode")
        training = mode is None or bool(mode.any())
    else:
        training = site.attributes.get("is_test") == 0
    ratio = site.array("ratio")
    return training and not (ratio is not None and not np.asarray(ratio, np.float64).any())


def _casts(site: Site) -> tuple[np.ndarray, np.ndarray] | None:
    """The array that is cast and an empty one of the target dtype."""
    array, target = site.array("input"), cast_target(site)
    return None if array is None or target is None else (array, np.empty(0, target))


def _truncation_leaves(array: np.ndarray, dtype: Any) -> bool:
    low, high = limits(dtype)
    numbers = np.trunc(array.astype(np.float64))
    return bool((~np.isfinite(numbers) | (numbers < low) | (numbers >= float(high) + 1)).any())


def float_outside_integer(site: Site) -> bool:
    cast = _casts(site)
    if cast is None or not is_float(cast[0]) or not is_integer(cast[1]):
        return False
    return _truncation_leaves(cast[0], cast[1].dtype)


def fraction_to_less_than_a_byte(site: Site) -> bool:
    cast = _casts(site)
    if cast is None or not is_float(cast[0]) or cast[1].dtype.name not in ("int4", "uint4", "int2", "uint2"):
        return False
    numbers = cast[0].astype(np.float64)
    rounded = np.trunc(numbers + np.copysign(0.5, numbers))
    return bool((rounded != np.trunc(numbers)).any())


_NUMERAL = re.compile(r"[+-]?(inf|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.IGNORECASE)


def _strings_cast_to(site: Site, kind: Callable[[np.ndarray], bool]) -> list[str]:
    cast = _casts(site)
    if cast is None or cast[0].dtype.kind not in "OUS" or not kind(cast[1]):
        return []
    return [str(text) for text in cast[0].ravel()]


def string_is_no_numeral(site: Site) -> bool:
    words = _strings_cast_to(site, lambda target: target.dtype.kind not in "OUS")
    return any(not _NUMERAL.fullmatch(word) for word in words)


def string_is_no_integer(site: Site) -> bool:
    return any(not re.fullmatch(r"[+-]?\d+", word) for word in _strings_cast_to(site, is_integer))


def negative_to_float8e8m0(site: Site) -> bool:
    cast = _casts(site)
    if cast is None or cast[1].dtype.name != "float8_e8m0fnu" or not (is_float(cast[0]) or is_integer(cast[0])):
        return False
    return bool(np.signbit(cast[0].astype(np.float64)).any())


def float_to_string_is_not_plain(site: Site) -> bool:
    cast = _casts(site)
    if cast is None or not is_float(cast[0]) or cast[1].dtype.kind not in "OUS":
        return False
    return any(not _spelled_alike(number) for number in cast[0].ravel())


def _spelled_alike(number: Any) -> bool:
    """Whether the shortest decimal fraction for a number is plain, and its value to the last digit: 0.5, not 0.1."""
    shortest = str(number.item() if number.dtype == np.float64 else number)
    return re.fullmatch(r"-?\d+\.\d+", shortest) is not None and f"{float(number):.17g}" == shortest


def unsorted(site: Site) -> bool:
    return bool(site.attributes.get("sorted", 1) == 0)


def scatter_elements_conflict(site: Site) -> bool:
    return _conflicts(element_writes(site))


def unpools_to_one_place(site: Site) -> bool:
    places = unpooled_twice(site)
    return places is not None and bool(places.size)


def takes_bits_of_nan(site: Site) -> bool:
    """Computed or fed: an operator on the way may have made another NaN of it."""
    array, target = site.array("input"), site.result()
    return is_float(array) and target is not None and not is_float(target) and bool(_are_nan(array).any())


def _are_nan(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return np.isnan(array.astype(np.float64))


def averages_ignored_losses(site: Site) -> bool:
    labels = site.array("labels", "target")
    ignored = site.attributes.get("ignore_index")
    if labels is None or ignored is None or site.attributes.get("reduction", "mean") not in ("mean", b"mean"):
        return False
    return bool(labels.size) and bool(np.all(labels == ignored))


def scatter_nd_conflict(site: Site) -> bool:
    return _conflicts(slice_writes(site))


def _conflicts(writes: Writes | None) -> bool:
    return writes is not None and bool(conflicting(writes).any())


def axis_repeated(site: Site) -> bool:
    data = site.array("data", "input_data", "X")
    given = site.array("axes")
    axes = site.attributes.get("axes") if given is None else given.ravel().tolist()
    if data is None or not axes:
        return False
    return len({int(axis) % max(1, data.ndim) for axis in axes}) < len(axes)


def optional_is_empty(site: Site) -> bool:
    """An element that is absent, which the reference evaluator's Optional puts into a list."""
    given = site.inputs.get("input", ...)
    return given is None or (isinstance(given, list) and len(given) == 1 and given[0] is None)


def reduces_nothing(site: Site) -> bool:
    found = reduced(site)
    if found is None:
        return False
    data, axes = found
    kept = [size for axis, size in enumerate(data.shape) if axis not in axes]
    return any(data.shape[axis] == 0 for axis in axes) and all(kept)


def reduces_nothing_in_integers(site: Site) -> bool:
    return is_integer(site.array("data")) and reduces_nothing(site)


def integer_reduction_overflows(site: Site) -> bool:
    found = reduced(site)
    if found is None or not is_integer(found[0]):
        return False
    data, axes = found
    if not axes or not data.size:
        return False
    terms = REDUCTIONS[site.op_type](as_exact(data))
    fold = np.multiply if site.op_type == "ReduceProd" else np.add
    return _leaves(fold.reduce(terms, axis=axes), data.dtype)


def integer_sum_overflows(site: Site) -> bool:
    """Of products and running sums: whether a result does not fit the type of the inputs."""
    given = [value for value in site.inputs.values() if isinstance(value, np.ndarray)]
    if not given or len(given) < len(site.given) or not is_integer(given[0]):
        return False
    exact = exact_sums(site, given)
    return exact is not None and _leaves(exact, given[0].dtype)


def accumulation_leaves_32_bits(site: Site) -> bool:
    found = beyond_32_bits(site)
    return found is not None and bool(found.any())


def bounds_are_exchanged(site: Site) -> bool:
    bounds = [site.array(name) for name in ("min", "max")]
    low, high = (
        site.attributes.get(name) if bound is None else bound.astype(np.float64).ravel().max(initial=-np.inf)
        for name, bound in zip(("min", "max"), bounds, strict=True)
    )
    return low is not None and high is not None and bool(low > high)


def reflects_beyond_the_data(site: Site) -> bool:
    data, pads, axes = site.array("data"), site.array("pads"), site.array("axes")
    mode = site.attributes.get("mode", "constant")
    widths = site.attributes.get("pads") if pads is None else pads.ravel().tolist()
    if data is None or not widths or (mode.decode() if isinstance(mode, bytes) else mode) != "reflect":
        return False
    along = range(data.ndim) if axes is None else [int(axis) % max(1, data.ndim) for axis in axes.ravel()]
    sizes = [data.shape[axis] for axis in along]
    return len(widths) == 2 * len(sizes) and any(
        width >= size for width, size in zip(widths, [*sizes, *sizes], strict=True)
    )


def dividend_is_zero(site: Site) -> bool:
    dividend = site.array("A")
    return dividend is not None and bool((dividend == 0).any())


def integer_division_by_zero(site: Site) -> bool:
    divisor, dividend = site.array("B"), site.array("A")
    if divisor is None or not is_integer(divisor) or (dividend is not None and not dividend.size):
        return False
    return bool((divisor == 0).any())


def smallest_integer_by_minus_one(site: Site) -> bool:
    pair = broadcast(site, "A", "B")
    if pair is None or not is_integer(pair[0]):
        return False
    low = limits(pair[0].dtype)[0]
    return low < 0 and bool(((pair[0] == low) & (pair[1] == -1)).any())


def shift_reaches_width(site: Site) -> bool:
    value, shift = site.array("X"), site.array("Y")
    if value is None or shift is None or not is_integer(value):
        return False
    return bool(((shift < 0) | (shift >= value.dtype.itemsize * 8)).any())


def causal_mask_has_an_offset(site: Site) -> bool:
    """Attention with a causal mask behind cached keys: where the mask is to be aligned has changed.

    Without a cache the old words (upper left) and the new ones (an offset of 0) mean the same mask.
    """
    return bool(site.attributes.get("is_causal")) and bool({"past_key", "nonpad_kv_seqlen"} & site.given)


def integer_result_overflows(site: Site) -> bool:
    arrays = [value for value in site.inputs.values() if isinstance(value, np.ndarray)]
    if not arrays or len(arrays) < len(site.given) or not all(is_integer(array) for array in arrays):
        return False
    try:
        exact = EXACT[site.op_type](site.attributes, *(as_exact(array) for array in arrays))
    except ValueError:  # shapes that do not broadcast: another check's business
        return False
    return _leaves(exact, arrays[0].dtype)


def integer_power_leaves_type(site: Site) -> bool:
    pair = broadcast(site, "X", "Y")
    if pair is None or not is_integer(pair[0]):
        return False
    low, high = limits(pair[0].dtype)
    bases, exponents = as_exact(pair[0]).ravel().tolist(), pair[1].ravel().tolist()
    return any(power_leaves(int(base), float(power), low, high) for base, power in zip(bases, exponents, strict=True))


def _has(array: Value, test: Callable[[np.ndarray], np.ndarray]) -> bool:
    return isinstance(array, np.ndarray) and is_float(array) and bool(test(array.astype(np.float64)).any())


def orders_nan(site: Site) -> bool:
    return any(_has(value, np.isnan) for value in (site.subjects() if site.subject else site.inputs.values()))


def pools_padding(site: Site) -> bool:
    """Whether a window of a pooling holds nothing but padding."""
    windows = of_padding(site)
    return windows is not None and bool(windows.any())


def scatters_nan_among_extremes(site: Site) -> bool:
    found = unordered_elements(site)
    return found is not None and bool(found.any())


def exponentiates_infinity(site: Site) -> bool:
    return _has(site.array("input"), np.isposinf)


def normalises_nothing(site: Site) -> bool:
    lines = lines_of_nothing(site)
    return lines is not None and bool(lines.any())


def quantizes_no_number(site: Site) -> bool:
    scale, result = site.array("y_scale"), site.result()
    if result is not None and not is_integer(result):
        return False
    zero_scale = scale is not None and bool((scale.astype(np.float64) == 0).any())
    if site.op_type == "DynamicQuantizeLinear":  # its scale is the width of the range
        zero_scale = not _has(site.array("x"), lambda numbers: numbers != 0)
    return zero_scale or _has(site.array("x"), lambda numbers: ~np.isfinite(numbers))


def shrinks_integers_by_a_fraction(site: Site) -> bool:
    """Whether a result of Shrink is no whole number, and its type holds no other."""
    x = site.array("input")
    bias, width = float(site.attributes.get("bias", 0.0)), float(site.attributes.get("lambd", 0.5))
    return x is not None and is_integer(x) and not bias.is_integer() and bool((np.abs(as_exact(x)) > width).any())


def weighs_integers_by_a_fraction(site: Site) -> bool:
    factors = {"alpha"} | ({"beta"} if "C" in site.given else set())
    fractions = [name for name in factors if not float(site.attributes.get(name, 1.0)).is_integer()]
    return is_integer(site.array("A")) and bool(fractions)


def weighs_no_data(site: Site) -> bool:
    """Whether a weight that is no number stands on a place without data."""
    found = beside_data(site)
    return found is not None and bool(found.any())


def interpolates_integers(site: Site) -> bool:
    """Whether an interpolated integer has to be rounded, or does not fit its type."""
    found = rounded(site)
    return found is not None and bool(found.any())


def quantizes_near_tie(site: Site) -> bool:
    x, scale = site.array("x"), site.array("y_scale")
    if x is None or not is_float(x) or not x.size:
        return False
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        if site.op_type == "DynamicQuantizeLinear":
            step = np.float32((max(0.0, wide.max()) - min(0.0, wide.min())) / 255)
            return bool(near_ties(wide, float(step)).any())
        if scale is None or scale.size != 1:
            return False
        return bool(near_ties(wide, float(scale.astype(np.float64).ravel()[0])).any())


def unpool_shape_disputed(site: Site) -> bool:
    x, wanted = site.array("X"), site.array("output_shape")
    kernel = site.attributes.get("kernel_shape")
    if x is None or wanted is None or kernel is None:
        return False
    rank = len(kernel)
    strides = site.attributes.get("strides") or [1] * rank
    pads = site.attributes.get("pads") or [0] * (2 * rank)
    inferred = [
        (size - 1) * stride - before - after + width
        for size, stride, before, after, width in zip(
            x.shape[2:], strides, pads[:rank], pads[rank:], kernel, strict=True
        )
    ]
    return inferred != wanted.ravel().tolist()[2:]


def aligned_corners_of_fractional_size(site: Site) -> bool:
    mode = site.attributes.get("coordinate_transformation_mode", "")
    scales, x = site.array("scales"), site.array("X")
    mode = mode.decode() if isinstance(mode, bytes) else mode
    if mode != "align_corners" or scales is None or x is None or scales.size != x.ndim:
        return False
    sizes = scales.astype(np.float64) * np.asarray(x.shape)
    return bool((np.abs(sizes - np.rint(sizes)) > 1e-6).any())


def grid_is_not_finite(site: Site) -> bool:
    return _has(site.array("grid"), lambda numbers: ~np.isfinite(numbers))


def roi_leaves_picture(site: Site) -> bool:
    beyond = outside(site)
    return beyond is not None and bool(beyond.any())


def roi_align_takes_maximum(site: Site) -> bool:
    return bool(site.attributes.get("mode", "avg") == "max")


def case_change_beyond_ascii(site: Site) -> bool:
    words = site.array("X")
    if site.attributes.get("case_change_action", "NONE") == "NONE" or words is None:
        return False
    return any(not str(word).isascii() for word in words.ravel())


# ---------------------------------------------------------------- PyTorch


def _argument(site: Site, position: int, name: str, default: Any) -> Any:
    return site.attributes.get(name, site.attributes.get(str(position), default))


#: Functions of the torch namespace take ``train`` as a required argument, those of nn.functional
#: ``training``; only dropout itself and the channel-wise ones are on by default.
_TRAINS_BY_DEFAULT = frozenset(
    f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")
)


def torch_dropout_trains(site: Site) -> bool:
    """Whether elements are dropped; with a probability of 0 it is none.

    Which ones is drawn. With 1 it is all of them, but compilers for inference leave training out, and say so.
    """
    default = site.op_type in _TRAINS_BY_DEFAULT
    training = site.attributes.get("train", _argument(site, 2, "training", default))
    return bool(training is not False and _argument(site, 1, "p", 0.5) != 0)


def torch_rrelu_trains(site: Site) -> bool:
    return _argument(site, 3, "training", False) is True


def torch_attention_drops(site: Site) -> bool:
    return bool(_argument(site, 4, "dropout_p", 0.0) != 0)


def torch_attention_masks_all(site: Site) -> bool:
    """Whether a query is left without a single key."""
    rows = queries_without_keys(site)
    return rows is not None and bool(rows.any())


def torch_averages_nothing(site: Site) -> bool:
    """Whether fewer elements are reduced than an average divides by: none, or as many as the correction takes away."""
    x, dim = site.array("0", "input", "self"), _argument(site, 1, "dim", None)
    if x is None:
        return False
    dims = [] if dim is None or isinstance(dim, bool) else np.atleast_1d(dim).tolist()
    count = math.prod(x.shape[axis] for axis in dims or range(x.ndim) if -x.ndim <= axis < x.ndim)
    spread = site.op_type.rpartition(".")[2].startswith(("var", "std"))
    biased = (dim if isinstance(dim, bool) else _argument(site, 2, "unbiased", None)) is False
    correction = site.attributes.get("correction", 0 if biased else 1) if spread else 0
    return isinstance(correction, int | float) and count - correction <= 0


def torch_samples_not_given(site: Site) -> bool:
    return "_random_samples" not in site.inputs


#: Where the functions that pick among values take ``dim``, and what it is when it is not given.
_DIM: Mapping[str, tuple[int, int | None]] = {
    "topk": (2, -1),
    "kthvalue": (2, -1),
    "sort": (1, -1),
    "argsort": (1, -1),
    "mode": (1, -1),
    "median": (1, None),
    "nanmedian": (1, None),
}


def torch_has_ties(site: Site) -> bool:
    """Two equal values in one line along ``dim``. Without a dim (median) no index is returned."""
    array = site.array("0", "input", "self")
    position, default = _DIM[site.op_type.rpartition(".")[2]]
    dim = _argument(site, position, "dim", default)
    if array is None or dim is None or not array.size or not array.ndim:
        return False
    lines = np.moveaxis(array, int(dim), -1).reshape(-1, array.shape[int(dim)])
    return any(len(np.unique(line)) < line.size for line in lines)


def torch_orders_nan(site: Site) -> bool:
    """NaN in the first argument, or in any of those that the rule speaks of."""
    spoken_of = site.subjects() if site.subject else [site.array("0", "input", "self")]
    return any(_has(array, np.isnan) for array in spoken_of)


def _sequence_and_values(site: Site) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The sorted sequence of a search, and what is looked for: bucketize has them in the other order."""
    if site.op_type.endswith("bucketize"):
        return site.array("1", "boundaries"), site.array("0", "input", "self")
    return site.array("0", "sorted_sequence"), site.array("1", "input", "values", "self")


def torch_searches_nan(site: Site) -> bool:
    return any(_has(array, np.isnan) for array in _sequence_and_values(site))


def torch_searches_unsorted(site: Site) -> bool:
    """A line of the sequence goes down somewhere. With a ``sorter`` the sequence may lie in any order."""
    sequence, _ = _sequence_and_values(site)
    if sequence is None or not sequence.ndim or {"sorter"} & (set(site.inputs) | set(site.attributes)):
        return False
    return bool(np.any(sequence[..., 1:] < sequence[..., :-1]))


def torch_sorts_ties_unstably(site: Site) -> bool:
    return site.attributes.get("stable") is not True and torch_has_ties(site)


def torch_index_repeats(site: Site) -> bool:
    """An index tensor names a place twice and more than one value is written, without accumulating."""
    dim = _argument(site, 1, "dim", 0)
    positional = "1" if "1" in site.inputs else "2" if isinstance(site.attributes.get("1"), int) else ""
    index = site.array("index", "indices", positional)
    source = site.array("src", "source", "tensor", "values", str(int(positional or 0) + 1))
    accumulates = True in (_argument(site, 3, "accumulate", False), "reduce" in site.attributes)
    if accumulates or index is None or source is None or source.size < 2 or not index.size or not is_integer(index):
        return False
    lines = np.moveaxis(index, int(dim), -1) if index.ndim > 1 and isinstance(dim, int) else index.reshape(1, -1)
    return any(len(np.unique(line)) < line.size for line in lines.reshape(-1, lines.shape[-1]))


def torch_cast_leaves_type(site: Site) -> bool:
    array, target = site.array("0", "input", "self"), torch_cast_target(site)
    if array is None or target is None or not is_float(array):
        return False
    return _truncation_leaves(array, target)


def torch_shift_reaches_width(site: Site) -> bool:
    value, shift = site.array("0", "input", "self"), site.array("1", "other")
    number = shift if shift is not None else _argument(site, 1, "other", None)
    if value is None or number is None or not is_integer(value):
        return False
    return bool(((np.asarray(number) < 0) | (np.asarray(number) >= value.dtype.itemsize * 8)).any())


def torch_divides_integers_by_zero(site: Site) -> bool:
    """Whether whole numbers are divided by one that is zero; `div` without a rounding mode divides real numbers."""
    value, divisor = site.array("0", "input", "self"), site.array("1", "other")
    number = divisor if divisor is not None else _argument(site, 1, "other", None)
    real = "div" in site.op_type and "floor" not in site.op_type and _argument(site, 2, "rounding_mode", None) is None
    if number is None or real or not is_integer(value) or np.asarray(number).dtype.kind not in "iu":
        return False
    return bool((np.asarray(number) == 0).any())


def torch_interpolates_integers(site: Site) -> bool:
    """Whether integers that differ are interpolated; what stands between equal ones needs no rounding."""
    array, mode = site.array("0", "input"), str(_argument(site, 3, "mode", "nearest"))
    return array is not None and is_integer(array) and not mode.startswith("nearest") and len(np.unique(array)) > 1


def torch_integer_overflows(site: Site) -> bool:
    """Whether the result, or a step on the way to it, does not fit the integer type of the result."""
    kept = result_type(site)
    return kept is not None and any(_leaves(exact, kept) for exact in partial_results(site))


#: Every predicate of this file by its name, as `when` of a rule gives it.
PREDICATES: Mapping[str, Predicate] = predicates_in(globals())
