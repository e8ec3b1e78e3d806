"""Structured domains: values that only make sense together (shapes, axes, pads, coordinates ...).

A function takes the slot, the shape of the array wanted and a random generator, and returns the
array, or None when too little is known of the shapes around the slot. Where the model declares the
shape of the node's output, the values are chosen to yield that shape.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np

from fuzz.operators.slots import Shape, Slot

Draw = Callable[[Slot, Shape, np.random.Generator], "np.ndarray | None"]


def _fit(values: list[int] | Shape, shape: Shape) -> np.ndarray | None:
    array = np.array(values, dtype=np.int64)
    return array.reshape(shape) if array.size == math.prod(shape) else None


def _output_shape(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    wanted = slot.of()
    return rng.integers(1, 4, shape) if wanted is None else _fit(wanted, shape)


def _reshape_target(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """The declared output shape, else the input's elements spread over the wanted number of axes."""
    output, source = slot.output(), slot.of()
    if output is not None and len(output) == math.prod(shape):
        return _fit(output, shape)
    if source is None:
        return None
    rest, dims = math.prod(source), []
    for _ in range(max(0, math.prod(shape) - 1)):
        divisors = [size for size in range(1, rest + 1) if rest % size == 0] or [0]
        dims.append(int(rng.choice(divisors)))
        rest //= max(1, dims[-1])
    return _fit([*dims, rest] if math.prod(shape) else [], shape)


def _expand_target(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    output, source = slot.output(), slot.of()
    if output is not None and len(output) == math.prod(shape):
        return _fit(output, shape)
    if source is None:
        return None
    rank = math.prod(shape)
    own = ((1,) * rank + source)[len(source) :][-rank:] if rank else ()
    return _fit([size if size != 1 else int(rng.integers(1, 4)) for size in own], shape)


def _repeats(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    output, source = slot.output(), slot.of()
    if output is None or source is None or len(output) != len(source):
        return rng.integers(1, 4, shape)
    return _fit([out // size if size else 1 for out, size in zip(output, source, strict=True)], shape)


def _axes_of(slot: Slot, rank: int) -> list[int]:
    """The axes that the node works on: its axes input or attribute, else the first ones in order."""
    given = slot.value("axes")
    listed = slot.attribute("axes") if given is None else given.ravel().tolist()
    return [int(axis) % rank for axis in listed] if listed is not None and rank else list(range(rank))


def _changed(slot: Slot) -> list[int]:
    """Axes along which the output differs in size from the input, when both are known."""
    output, source = slot.output(), slot.of()
    if output is None or source is None or len(output) != len(source):
        return []
    return [axis for axis, (a, b) in enumerate(zip(output, source, strict=True)) if a != b]


def _axes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Distinct axes, the ones whose size changes first."""
    source = slot.of()
    if source is None or math.prod(shape) > len(source):
        return None
    changed = _changed(slot)
    others = [axis for axis in range(len(source)) if axis not in changed]
    rng.shuffle(others)
    return _fit(sorted((changed + others)[: math.prod(shape)]), shape)


def _reduce_axes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Axes whose reduction gives the declared output shape, else any distinct ones."""
    output, source = slot.output(), slot.of()
    if output is None or source is None or len(output) == len(source):
        return _axes(slot, shape, rng)
    return _dropped(source, output, shape)


def _dropped(longer: Shape, shorter: Shape, shape: Shape) -> np.ndarray | None:
    """Axes of `longer` to remove so that `shorter` remains, matched from the left."""
    axes, at = [], 0
    for axis, size in enumerate(longer):
        if at < len(shorter) and shorter[at] == size and len(longer) - axis >= len(shorter) - at:
            at += 1
        else:
            axes.append(axis)
    return _fit(axes, shape) if at == len(shorter) else None


def _squeeze_axes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    source = slot.of()
    ones = [axis for axis, size in enumerate(source or ()) if size == 1]
    return _fit(sorted(rng.permutation(ones)[: math.prod(shape)].astype(int).tolist()), shape)


def _unsqueeze_axes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    source, output = slot.of(), slot.output()
    if source is None:
        return None
    if output is not None:
        return _dropped(output, source, shape)
    rank = len(source) + math.prod(shape)
    return _fit(sorted(rng.permutation(rank)[: math.prod(shape)].tolist()), shape)


def _pads(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Begins, then ends. Together they make up the declared growth, else at most one each."""
    source, output = slot.of(), slot.output()
    count = math.prod(shape) // 2
    if source is None or output is None or len(output) != len(source):
        return rng.integers(0, 2, shape)
    growth = [output[axis] - source[axis] for axis in _axes_of(slot, len(source))[:count]]
    begins = [int(rng.integers(0, extra + 1)) if extra > 0 else 0 for extra in growth]
    return _fit(begins + [extra - begin for extra, begin in zip(growth, begins, strict=True)], shape)


def _slice_sizes(slot: Slot, count: int) -> list[tuple[int, int]] | None:
    """(input size, wanted size) of every sliced axis; half of the axis where nothing is declared."""
    source, output = slot.of(), slot.output()
    if source is None:
        return None
    kept = output if output is not None and len(output) == len(source) else [(size + 1) // 2 for size in source]
    return [(source[axis], kept[axis]) for axis in _axes_of(slot, len(source))[:count]]


def _slice_steps(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Steps, negative ones too, that leave room for the wanted number of elements."""
    sizes = _slice_sizes(slot, math.prod(shape))
    if sizes is None:
        return np.ones(shape, np.int64)
    fitting = [[s for s in (1, 2, -1, -2) if abs(s) * (kept - 1) < max(size, 1)] or [1] for size, kept in sizes]
    return _fit([int(rng.choice(steps)) for steps in fitting], shape)


def _steps(slot: Slot, count: int) -> list[int]:
    given = slot.value("steps")
    return [1] * count if given is None else [int(step) for step in given.ravel()]


def _slice_starts(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    sizes = _slice_sizes(slot, math.prod(shape))
    if sizes is None:
        return np.zeros(shape, np.int64)
    starts = []
    for (size, kept), step in zip(sizes, _steps(slot, len(sizes)), strict=False):
        slack = max(0, size - 1 - abs(step) * (kept - 1))
        first = int(rng.integers(0, slack + 1))
        starts.append(first if step > 0 else max(0, size - 1 - first))
    return _fit(starts, shape)


def _slice_ends(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    sizes, starts = _slice_sizes(slot, math.prod(shape)), slot.value("starts")
    if sizes is None or starts is None:
        return np.full(shape, np.iinfo(np.int32).max, np.int64)
    ends = []
    for (size, kept), step, start in zip(sizes, _steps(slot, len(sizes)), starts.ravel().tolist(), strict=False):
        end = start + step * (kept - 1) + (1 if step > 0 else -1) if kept else start
        ends.append(end if end >= 0 else end - size)  # -1 would mean the last element
    return _fit(ends, shape)


def _split(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Part sizes: the declared outputs' sizes along the axis, else as even as they can be."""
    source = slot.of()
    axis = None if source is None else slot.axis(len(source))
    if source is None or axis is None:
        return None
    if not shape:
        return np.array(max(1, source[axis] // 2), np.int64)
    shapes = [slot.known.shapes.get(name) for name in slot.node.output]
    declared = [found[axis] for found in shapes if found is not None and axis < len(found)]
    if len(declared) == shape[0]:
        return _fit(declared, shape)
    parts = [len(part) for part in np.array_split(np.arange(source[axis]), max(1, shape[0]))]
    return _fit(parts, shape)


def _crop_shape(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    output = slot.output()
    if output is None:
        return rng.integers(1, 5, shape)
    return _fit([output[axis] for axis in _axes_of(slot, len(output))], shape)


def _image_shape(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    output = slot.of()
    return rng.integers(3, 6, shape) if output is None else _fit(output[2:], shape)


def _affine_size(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """(N, C, H, W) or (N, C, D, H, W) of an output grid (N, H, W, 2) or (N, D, H, W, 3)."""
    grid, theta = slot.of(), slot.shape("theta")
    if grid:
        return _fit([grid[0], 1, *grid[1:-1]], shape)
    batch = theta[0] if theta else 1
    return _fit([batch, *rng.integers(1, 5, max(0, math.prod(shape) - 1)).tolist()], shape)


def _resize_sizes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    source, output = slot.of(), slot.output()
    wanted = output or tuple(size + 1 for size in source or ())
    return _fit([wanted[axis] for axis in _axes_of(slot, len(wanted))], shape) if wanted else None


def _resize_scales(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Ratios of the declared sizes; half a step more where flooring could fall short."""
    source, output = slot.of(), slot.output()
    if not source or not output or len(source) != len(output):
        return rng.choice([1.0, 1.5, 2.0], shape)
    axes = [axis for axis in _axes_of(slot, len(source)) if source[axis]]
    exact = [output[axis] / source[axis] for axis in axes]
    scales = [s if s == np.float32(s) else (output[a] + 0.5) / source[a] for s, a in zip(exact, axes, strict=True)]
    return np.array(scales).reshape(shape) if len(scales) == math.prod(shape) else None


def _roi(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Starts, then ends of the cropped region, normalised to the unit cube."""
    half = math.prod(shape) // 2
    values = np.concatenate([rng.uniform(0.0, 0.4, half), rng.uniform(0.6, 1.0, math.prod(shape) - half)])
    return values.round(2).reshape(shape)


def _coordinates(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Tuples that index `of` (GatherND, ScatterND), no tuple twice while there are enough."""
    source = slot.of()
    batch = int(slot.attribute("batch_dims", 0) or 0)
    if source is None or not shape or shape[-1] + batch > len(source):
        return None
    dims = source[batch : batch + shape[-1]]
    space, count = math.prod(dims), math.prod(shape[:-1])
    if not space:
        return None
    flat = rng.permutation(space)[:count] if count <= space else rng.integers(0, space, count)
    return np.stack(np.unravel_index(flat, dims), -1).reshape(shape).astype(np.int64) if dims else None


def _positions(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Indices along one axis (ScatterElements), none twice in a line while there are enough."""
    source = slot.of()
    axis = None if source is None or not shape else slot.axis(len(source))
    if source is None or axis is None or not source[axis]:
        return None
    size, count = source[axis], shape[axis]
    lines = [*shape[:axis], *shape[axis + 1 :]]
    rows = np.stack([rng.permutation(max(size, count))[:count] % size for _ in range(math.prod(lines) or 1)])
    return np.moveaxis(rows.reshape([*lines, count]), -1, axis) if math.prod(lines) else np.zeros(shape, np.int64)


def _unpool_index(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Distinct flat positions in the tensor that the unpooling yields by itself (before output_shape)."""
    source, kernel = slot.of(), slot.attribute("kernel_shape")
    if source is None or not kernel or len(source) != len(kernel) + 2:
        return None
    strides = slot.attribute("strides") or [1] * len(kernel)
    extents = [(n - 1) * s + k for n, s, k in zip(source[2:], strides, kernel, strict=False)]
    space = math.prod(source[:2]) * math.prod(extents)
    count = math.prod(shape)
    return np.sort(rng.permutation(space)[:count]).reshape(shape) if count <= space else None


def _block_shape(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """Blocks (Col2Im) whose elements make up the columns and whose number is the number of columns."""
    columns, image = slot.shape("input"), slot.of()
    if columns is None or image is None or len(columns) != 3 or not image[1]:
        return None
    extents = image[2:]
    ones, zeros = [1] * len(extents), [0] * 2 * len(extents)
    strides, dilations = slot.attribute("strides") or ones, slot.attribute("dilations") or ones
    pads = slot.attribute("pads") or zeros

    def places(axis: int, block: int) -> int:
        padded = extents[axis] + pads[axis] + pads[axis + len(extents)]
        return int((padded - dilations[axis] * (block - 1) - 1) // strides[axis] + 1)

    for blocks in itertools.product(*(range(1, size + 1) for size in extents)):
        counts = [places(axis, block) for axis, block in enumerate(blocks)]
        if math.prod(blocks) * image[1] == columns[1] and math.prod(counts) == columns[2]:
            return _fit(blocks, shape)
    return None


def _corners(shape: Shape, rng: np.random.Generator, extent: float) -> np.ndarray:
    low = rng.uniform(0.0, 0.45 * extent, (*shape[:-1], 2))
    return np.concatenate([low, low + rng.uniform(0.2 * extent, 0.5 * extent, low.shape)], -1).round(2)


def _boxes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """(x1, y1, x2, y2) with x1 < x2 and y1 < y2, inside the image where there is one."""
    if not shape or shape[-1] != 4:
        return None
    image = slot.shape("X")
    scale = float(slot.attribute("spatial_scale", 1.0) or 1.0)
    return _corners(shape, rng, (min(image[-2:]) - 1) / scale if image and len(image) == 4 else 1.0)


def _pooled_boxes(slot: Slot, shape: Shape, rng: np.random.Generator) -> np.ndarray | None:
    """(batch index, x1, y1, x2, y2)."""
    boxes = _boxes(slot, (*shape[:-1], 4), rng) if shape and shape[-1] == 5 else None
    image = slot.shape("X")
    if boxes is None or not image:
        return None
    return np.concatenate([rng.integers(0, image[0], (*shape[:-1], 1)), boxes], -1)


#: Structured domains by name.
ARRAYS: Mapping[str, Draw] = {
    "output-shape": _output_shape,
    "reshape-target": _reshape_target,
    "expand-target": _expand_target,
    "repeats": _repeats,
    "axes": _axes,
    "reduce-axes": _reduce_axes,
    "squeeze-axes": _squeeze_axes,
    "unsqueeze-axes": _unsqueeze_axes,
    "pads": _pads,
    "slice-steps": _slice_steps,
    "slice-starts": _slice_starts,
    "slice-ends": _slice_ends,
    "split": _split,
    "crop-shape": _crop_shape,
    "image-shape": _image_shape,
    "affine-size": _affine_size,
    "resize-sizes": _resize_sizes,
    "resize-scales": _resize_scales,
    "roi": _roi,
    "coordinates": _coordinates,
    "positions": _positions,
    "unpool-index": _unpool_index,
    "block-shape": _block_shape,
    "boxes": _boxes,
    "pooled-boxes": _pooled_boxes,
}

#: Domains that others read must be drawn before them; all the rest comes after these, in graph order.
FIRST: tuple[str, ...] = ("axes", "reduce-axes", "slice-steps", "slice-starts", "dft-axis", "depth", "output-shape")
