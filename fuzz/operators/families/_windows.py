"""Windows that slide over spatial axes: kernels, strides, dilations and pads of convolutions and pools."""

from __future__ import annotations

from dataclasses import dataclass

from fuzz.operators import encoding
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import Shape


@dataclass(frozen=True)
class Window:
    """A sliding window: the sizes that it leaves, its kernel, and its attributes but `kernel_shape`, encoded."""

    result: Shape
    kernel: Shape
    attributes: bytes


def window(
    g: Growth,
    spatial: Shape,
    *,
    kernel: Shape | None = None,
    dilated: bool = True,
    auto: bool = True,
    pool: bool = False,
    ceil: bool = False,
    uneven: bool = False,
    stepped: bool = False,
) -> Window:
    """A window that fits: the kernel, unless it is given, then dilation, pads and stride for each axis.

    `auto`: auto_pad may be set. `pool`: no pad reaches the kernel's size, since a window of nothing but padding has
    no largest element. `ceil`: ceil_mode may be set. `uneven`: the reference takes pads only together with a stride,
    and auto_pad only without (MaxPool). `stepped`: some stride is not 1.
    """
    turn = g.random() if auto and len(spatial) > 1 else 1.0  # the reference takes no auto_pad with one axis
    rounding = ceil and len(spatial) > 1 and g.random() < 0.3  # and rounds one axis down
    sizes = kernel or tuple([1 + g.below(min(3, size)) for size in spatial])
    dilations = [1] * len(spatial)
    if dilated and turn >= 0.3 and g.random() < 0.4:
        dilations = [
            2 if size > 1 and 2 * (size - 1) + 1 <= space else 1 for size, space in zip(sizes, spatial, strict=True)
        ]
    strides = [1 + g.below(2) for _ in spatial] if g.random() < 0.6 else [1] * len(spatial)
    if turn < 0.3 and not rounding:
        mode = ("SAME_UPPER", "SAME_LOWER", "VALID")[int(turn * 10)]
        if mode != "VALID":  # the reference pads by less than nothing where a stride exceeds the kernel
            strides = [1 if uneven else min(pair) for pair in zip(strides, sizes, strict=True)]
            return _automatic(spatial, sizes, strides, mode)
        if all(size <= space for size, space in zip(sizes, spatial, strict=True)):
            return _automatic(spatial, sizes, strides, mode)
    padded = g.random() < 0.6
    if stepped or (uneven and padded):
        strides[g.below(len(strides))] = 2
    begins, ends, result = [], [], []
    for space, size, dilation, stride in zip(spatial, sizes, dilations, strides, strict=True):
        extent = (size - 1) * dilation + 1
        most = (min(2, size - 1) if pool else 2) if padded else 0
        begin, end = g.below(most + 1), g.below(most + 1)
        short = extent - space - begin - end  # a kernel that was given may be longer than the axis
        end += max(0, short)
        begins.append(begin)
        ends.append(end)
        free = space + begin + end - extent
        count = free // stride + 1
        if rounding and free % stride and count * stride < space + begin:
            count += 1  # a last window that starts within the input or the padding before it
        result.append(count)
    attributes = encoding.integers("pads", (*begins, *ends)) if any(begins + ends) or g.random() < 0.2 else b""
    attributes += _lists(strides, dilations, dilated)
    if rounding:
        attributes += encoding.integer("ceil_mode", 1)
    return Window(tuple(result), sizes, attributes)


def _automatic(spatial: Shape, sizes: Shape, strides: list[int], mode: str) -> Window:
    if mode == "VALID":
        result = [(space - size) // stride + 1 for space, size, stride in zip(spatial, sizes, strides, strict=True)]
    else:
        result = [-(-space // stride) for space, stride in zip(spatial, strides, strict=True)]
    return Window(tuple(result), sizes, encoding.text("auto_pad", mode) + _lists(strides, [1] * len(sizes), False))


def _lists(strides: list[int], dilations: list[int], dilated: bool) -> bytes:
    attributes = encoding.integers("strides", tuple(strides)) if any(stride > 1 for stride in strides) else b""
    if dilated and any(dilation > 1 for dilation in dilations):
        attributes += encoding.integers("dilations", tuple(dilations))
    return attributes
