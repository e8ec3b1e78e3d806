"""When a model breaks a precondition that the specification states: one function per precondition.

These are the ``violation`` rules of ``data/violations.toml``: what neither onnx.checker nor strict shape
inference can see, because it depends on run-time values and shapes, and what numpy lets pass. As in
`_predicates`, a value that is not known makes a predicate False.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.oracles._site import Predicate, Site, is_float, predicates_in

# ---------------------------------------------------------------- ranks and shapes


def not_scalar(site: Site) -> bool:
    return any(array.ndim != 0 for array in site.subjects())


def not_one_element(site: Site) -> bool:
    """Milder than `not_scalar`: where the standard's own tests give a vector of one element, so may others."""
    return any(array.size != 1 for array in site.subjects())


def not_vector(site: Site) -> bool:
    return any(array.ndim != 1 for array in site.subjects())


def not_matrix(site: Site) -> bool:
    return any(array.ndim != 2 for array in site.subjects())


def below_rank_two(site: Site) -> bool:
    return any(array.ndim < 2 for array in site.subjects())


def not_broadcastable_to_first(site: Site) -> bool:
    """The first subject is what the others must be unidirectionally broadcastable to."""
    target = site.array(site.subject[0])
    return target is not None and any(not _broadcasts(array.shape, target.shape) for array in site.subjects()[1:])


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(size in (1, wanted) for size, wanted in zip(shape[::-1], target[::-1], strict=False))


def not_one_per_channel(site: Site) -> bool:
    """The first subject is (N, C, ...), or (N) with one channel; each other must have the shape (C)."""
    data = site.array(site.subject[0])
    if data is None or not data.ndim or site.attributes.get("spatial", 1) != 1:
        return False
    channels = data.shape[1] if data.ndim > 1 else 1
    return any(array.shape != (channels,) for array in site.subjects()[1:])


def bias_not_one_per_filter(site: Site) -> bool:
    weight, bias = site.array("W"), site.array("B")
    if weight is None or bias is None or weight.ndim < 2:
        return False
    transposed = site.op_type == "ConvTranspose"
    filters = weight.shape[1] * int(site.attributes.get("group", 1)) if transposed else weight.shape[0]
    return bias.shape != (filters,)


def shape_contradicts_declaration(site: Site) -> bool:
    declared, value = site.attributes.get("shape"), site.array("value")
    if value is None or declared is None:
        return False
    if len(declared) != value.ndim:
        return True
    return any(size is not None and size != actual for size, actual in zip(declared, value.shape, strict=True))


def type_contradicts_declaration(site: Site) -> bool:
    declared, value = site.attributes["type"], site.array("value")
    if value is None or not declared:
        return False
    expected = onnx.helper.tensor_dtype_to_np_dtype(declared)
    return (expected.kind in "OUS") != (value.dtype.kind in "OUS") or (
        expected.kind not in "OUS" and expected != value.dtype
    )


def variable_stands_for_two_sizes(site: Site) -> bool:
    return any(len(site.attributes["sizes"].get(name, ())) > 1 for name in site.attributes["variables"])


# ---------------------------------------------------------------- axes


def _axis_outside(site: Site, low: int, high: int) -> bool:
    """Whether the attribute ``axis`` lies outside [-rank + low, rank + high] of the first subject."""
    data, axis = site.array(site.subject[0]), site.attributes.get("axis")
    return data is not None and axis is not None and not -data.ndim + low <= axis <= data.ndim + high


def axis_out_of_range(site: Site) -> bool:
    return _axis_outside(site, 0, -1)


def axis_beyond_rank(site: Site) -> bool:
    return _axis_outside(site, 0, 0)


def axis_beyond_new_rank(site: Site) -> bool:
    return _axis_outside(site, -1, 0)


# ---------------------------------------------------------------- indices


def index_out_of_bounds(site: Site) -> bool:
    """GatherElements and its like: an index outside [-s, s-1] of its axis of the data."""
    data, indices = site.array("data"), site.array("indices")
    axis = int(site.attributes.get("axis", 0))
    if data is None or indices is None or not -data.ndim <= axis < data.ndim:
        return False
    return _outside(indices, -data.shape[axis], data.shape[axis] - 1)


def _outside(numbers: np.ndarray, low: int, high: int) -> bool:
    return bool(((numbers < low) | (numbers > high)).any())


def updates_unlike_indices(site: Site) -> bool:
    indices, updates = site.array("indices"), site.array("updates")
    return indices is not None and updates is not None and indices.shape != updates.shape


def updates_of_wrong_shape(site: Site) -> bool:
    """ScatterND: q - 1 leading dimensions of the indices, then what of the data an index leaves open."""
    data, indices, updates = (site.array(name) for name in ("data", "indices", "updates"))
    if data is None or indices is None or updates is None or not indices.ndim:
        return False
    return updates.shape != indices.shape[:-1] + data.shape[indices.shape[-1] :]


def class_out_of_range(site: Site) -> bool:
    scores, labels = (site.array(name) for name in site.subject)
    if scores is None or labels is None or scores.ndim < 2:
        return False
    ignored = site.attributes.get("ignore_index")
    counted = labels if ignored is None else labels[labels != ignored]
    return _outside(counted, 0, scores.shape[1] - 1)


def image_out_of_range(site: Site) -> bool:
    images, indices = site.array("X"), site.array("batch_indices")
    return images is not None and images.ndim > 0 and indices is not None and _outside(indices, 0, len(images) - 1)


def index_is_negative(site: Site) -> bool:
    return any(bool((array < 0).any()) for array in site.subjects())


def index_beyond_output(site: Site) -> bool:
    """The first subject holds indices into a tensor whose shape is the second."""
    indices, shape = site.array(site.subject[0]), site.array(site.subject[1])
    return indices is not None and shape is not None and bool((indices >= np.prod(shape, dtype=np.int64)).any())


def insert_position_out_of_bounds(site: Site) -> bool:
    sequence, position = site.inputs.get("input_sequence"), site.array("position")
    return isinstance(sequence, list) and position is not None and _outside(position, -len(sequence), len(sequence))


#: What the dimensions of Attention's inputs mean where they have four; of three, the first two of these are left.
_ATTENTION = {
    "Q": ("batch", "query heads", "queries", "head size"),
    "K": ("batch", "heads", "keys", "head size"),
    "V": ("batch", "heads", "keys", "value size"),
    "past_key": ("batch", "heads", "past keys", "head size"),
    "past_value": ("batch", "heads", "past keys", "value size"),
}


def attention_sizes_differ(site: Site) -> bool:
    """Numpy would broadcast a batch, or a sequence, of one."""
    sizes: dict[str, set[int]] = {}
    for name, meaning in _ATTENTION.items():
        array = site.array(name)
        if array is None or array.ndim not in (3, 4):
            continue
        labels = meaning if array.ndim == 4 else (meaning[0], meaning[2])
        for label, size in zip(labels, array.shape, strict=False):
            sizes.setdefault(label, set()).add(size)
    return any(len(found) > 1 for found in sizes.values())


# ---------------------------------------------------------------- lengths and counts


def slice_lengths_differ(site: Site) -> bool:
    return len({array.size for array in site.subjects()}) > 1


def not_one_per_dimension(site: Site) -> bool:
    """The second subject has not as many elements as the first has dimensions."""
    data, counts = (site.array(name) for name in site.subject)
    return data is not None and counts is not None and counts.shape != (data.ndim,)


def crop_unlike_axes(site: Site) -> bool:
    data, shape = site.array("input_data"), site.array("shape")
    axes = site.attributes.get("axes")
    return data is not None and shape is not None and shape.size != (data.ndim if axes is None else len(axes))


def counts_unlike(site: Site) -> bool:
    """The subjects have not all the same length along their first dimension."""
    return len({len(array) for array in site.subjects() if array.ndim}) > 1


def not_two_values(site: Site) -> bool:
    return any(array.shape != (2,) for array in site.subjects())


def weights_not_one_per_class(site: Site) -> bool:
    scores, weights = (site.array(name) for name in site.subject)
    return scores is not None and scores.ndim > 1 and weights is not None and weights.shape != (scores.shape[1],)


def not_one_positive_number(site: Site) -> bool:
    return any(array.size != 1 or bool((array <= 0).any()) for array in site.subjects())


def parts_do_not_sum_up(site: Site) -> bool:
    """Split and SplitToSequence: the parts along the axis are not all its elements, or one is negative."""
    data, given = site.array("input"), site.array("split")
    parts = np.array(site.attributes.get("split", ())) if given is None else given
    axis = int(site.attributes.get("axis", 0))
    if data is None or parts.ndim != 1 or not parts.size or not -data.ndim <= axis < data.ndim:
        return False
    return int(parts.sum()) != data.shape[axis] or bool((parts < 0).any())


def parts_given_twice(site: Site) -> bool:
    return "split" in site.given and "num_outputs" in site.attributes


def size_below_minus_one(site: Site) -> bool:
    return any(bool((array < -1).any()) for array in site.subjects())


def window_unlike_frame(site: Site) -> bool:
    window, length = site.array("window"), site.array("frame_length")
    return window is not None and length is not None and length.size == 1 and window.size != int(length.reshape(()))


# ---------------------------------------------------------------- padding and resizing


def pads_beside_auto_pad(site: Site) -> bool:
    """Zeros beside VALID say the same thing twice; anything else contradicts."""
    return site.attributes.get("auto_pad", "NOTSET") != "NOTSET" and any(site.attributes.get("pads", ()))


def padding_is_negative(site: Site) -> bool:
    return any(size < 0 for size in site.attributes.get("pads", ()))


def pads_of_wrong_length(site: Site) -> bool:
    data, pads = site.array(site.subject[0]), site.attributes.get("pads", ())
    return data is not None and data.ndim > 2 and len(pads) not in (0, 2 * (data.ndim - 2))


def constant_is_not_one_element(site: Site) -> bool:
    return site.attributes.get("mode", "constant") == "constant" and not_one_element(site)


def scale_not_positive(site: Site) -> bool:
    return any(bool((array <= 0).any()) for array in site.subjects())


def scale_below_one(site: Site) -> bool:
    """The scales are an input or, in older operator sets, an attribute."""
    scales = [*site.subjects(), np.asarray(site.attributes.get("scales", []), dtype=np.float32)]
    return any(bool((array < 1).any()) for array in scales)


def both_given(site: Site) -> bool:
    """All subjects are there; an empty tensor stands for an absent one."""
    return all((array := site.array(name)) is not None and array.size for name in site.subject)


# ---------------------------------------------------------------- quantization


def zero_point_unlike_scale(site: Site) -> bool:
    """The subjects are pairs of a scale and its zero point, whose shapes must be the same.

    A scalar beside a vector of one element is let pass: the standard's own tests pair them.
    """
    pairs = zip(site.subject[::2], site.subject[1::2], strict=True)
    found = ((site.array(scale), site.array(zero)) for scale, zero in pairs)
    return any(
        scale is not None and zero is not None and scale.shape != zero.shape and (scale.size, zero.size) != (1, 1)
        for scale, zero in found
    )


def scale_not_as_long_as_axis(site: Site) -> bool:
    data, scale = (site.array(name) for name in site.subject)
    axis = int(site.attributes.get("axis", 1))
    if data is None or scale is None or scale.ndim != 1 or site.attributes.get("block_size", 0):
        return False
    return -data.ndim <= axis < data.ndim and scale.size != data.shape[axis]


def blocks_do_not_fill_axis(site: Site) -> bool:
    """The scale has not one number for each block along the axis, or another shape than the data beside it.

    Of ``n`` numbers, ``s`` scales and blocks of ``b`` holds ``ceil(n / s) <= b <= ceil(n / (s - 1)) - 1``.
    """
    data, scale = (site.array(name) for name in site.subject)
    block, axis = int(site.attributes.get("block_size", 0)), int(site.attributes.get("axis", 1))
    if data is None or scale is None or block < 1 or not -data.ndim <= axis < data.ndim:
        return False
    if scale.ndim != data.ndim:
        return True
    count, scales = data.shape[axis], scale.shape[axis]
    others = [np.delete(np.array(array.shape), axis).tolist() for array in (data, scale)]
    return others[0] != others[1] or scales != -(-count // block)


def neither_one_nor_one_per_channel(site: Site) -> bool:
    data, slope = (site.array(name) for name in site.subject)
    if data is None or slope is None or slope.size == 1:
        return False
    return slope.size != (data.shape[1] if data.ndim > 1 else data.size)


def row_zero_point_of_wrong_length(site: Site) -> bool:
    rows, zero = site.array("A"), site.array("a_zero_point")
    if rows is None or zero is None or rows.ndim != 2 or zero.ndim != 1:
        return False
    return zero.size not in (1, rows.shape[0])


# ---------------------------------------------------------------- sequences


def _batch_and_time(site: Site) -> tuple[int, int] | None:
    """How many sequences the input holds and how long the longest may be."""
    data = site.array("input", "X")
    if data is None or data.ndim < 2:
        return None
    layout = int(site.attributes.get("layout", 0))
    time, batch = int(site.attributes.get("time_axis", layout)), int(site.attributes.get("batch_axis", 1 - layout))
    return data.shape[batch], data.shape[time]


def lengths_not_one_per_sequence(site: Site) -> bool:
    sizes, lengths = _batch_and_time(site), site.array("sequence_lens")
    return sizes is not None and lengths is not None and lengths.shape != (sizes[0],)


def length_beyond_sequence(site: Site) -> bool:
    sizes, lengths = _batch_and_time(site), site.array("sequence_lens")
    return sizes is not None and lengths is not None and _outside(lengths, 0, sizes[1])


def initial_state_of_wrong_shape(site: Site) -> bool:
    sizes, recurrence = _batch_and_time(site), site.array("R")
    if sizes is None or recurrence is None or recurrence.ndim != 3:
        return False
    directions, hidden = recurrence.shape[0], recurrence.shape[2]
    leading = (sizes[0], directions) if site.attributes.get("layout", 0) else (directions, sizes[0])
    return any(state.shape != (*leading, hidden) for state in site.subjects())


def weights_unlike_kernel_shape(site: Site) -> bool:
    kernel, weights = site.attributes.get("kernel_shape"), site.array("W")
    return kernel is not None and weights is not None and weights.shape[2:] != tuple(kernel)


def weights_unlike_hidden_size(site: Site) -> bool:
    """Where the attribute is left out, R tells the size."""
    recurrence = site.array("R")
    if recurrence is None or recurrence.ndim != 3:
        return False
    weights, hidden = site.array("W"), site.attributes.get("hidden_size", recurrence.shape[2])
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[site.op_type] * hidden
    if recurrence.shape[1:] != (gates, hidden):
        return True
    return weights is not None and weights.ndim == 3 and weights.shape[1] != gates


def parameters_unlike_hidden_size(site: Site) -> bool:
    """Numpy splits a vector into as many parts whatever their length is, and broadcasts those of one number."""
    recurrence = site.array("R")
    if recurrence is None or recurrence.ndim != 3:
        return False
    directions, gates, hidden = recurrence.shape
    wanted = {"B": 2 * gates, "P": 3 * hidden}
    found = {name: site.array(name) for name in site.subject}
    return any(array is not None and array.shape != (directions, wanted[name]) for name, array in found.items())


def boxes_of_wrong_shape(site: Site) -> bool:
    boxes, scores = site.array("boxes"), site.array("scores")
    if boxes is None or scores is None:
        return False
    if boxes.ndim != 3 or scores.ndim != 3 or boxes.shape[2] != 4:
        return True
    return (scores.shape[0], scores.shape[2]) != boxes.shape[:2]


# ---------------------------------------------------------------- values


def ratio_out_of_range(site: Site) -> bool:
    return any(not 0 <= number < 1 for number in _numbers(site))


def threshold_out_of_range(site: Site) -> bool:
    return any(not 0 <= number <= 1 for number in _numbers(site))


def _numbers(site: Site) -> Iterator[float]:
    return (number for array in site.subjects() for number in array.astype(np.float64).ravel().tolist())


def float_modulo_of_integers(site: Site) -> bool:
    return site.attributes.get("fmod", 0) == 0 and is_float(site.array("A"))


def order_neither_one_nor_two(site: Site) -> bool:
    return site.attributes.get("p", 2) not in (1, 2)


def one_sided_of_complex(site: Site) -> bool:
    signal = site.array("input")
    forward = site.attributes.get("onesided", 0) == 1 and site.attributes.get("inverse", 0) == 0
    return forward and signal is not None and signal.ndim > 1 and signal.shape[-1] == 2


def more_than_one_row(site: Site) -> bool:
    return any(array.ndim != 1 and (array.ndim != 2 or array.shape[0] != 1) for array in site.subjects())


def batch_unlike_size(site: Site) -> bool:
    theta, size = site.array("theta"), site.array("size")
    return theta is not None and theta.ndim > 0 and size is not None and size.size > 0 and len(theta) != int(size[0])


#: Every precondition of this file by its name, as `when` of a rule gives it.
# ---------------------------------------------------------------- calls


def torch_index_is_no_integer(site: Site) -> bool:
    """The tensor behind the axis, by position or by name; eager refuses it where it holds anything."""
    index = site.array("index", "2")
    return index is not None and index.dtype.kind not in "iu"


PREDICATES: Mapping[str, Predicate] = predicates_in(globals())
