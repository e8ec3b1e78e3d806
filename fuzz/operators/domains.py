"""Value domains: intervals (numbers in ``data/operators/domains.toml``, or bounds that follow from shapes).

Domains whose values depend on each other (shapes, axes, coordinates ...) are in `fuzz.operators.arrays`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import onnx

from fuzz.data import data_path
from fuzz.operators.slots import Slot


@dataclass(frozen=True)
class Interval:
    """Closed interval of values; `nonzero` leaves 0 out, `distinct` repeats no value."""

    low: float
    high: float
    nonzero: bool = False
    distinct: bool = False

    def __and__(self, other: Interval) -> Interval:
        """The intersection; where the two do not meet, the other one (the later demand) stands."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            low, high = other.low, other.high
        return Interval(low, high, self.nonzero or other.nonzero, self.distinct or other.distinct)


@cache
def named() -> Mapping[str, Interval]:
    """The domains of ``data/operators/domains.toml``."""
    document = tomllib.loads(data_path("operators", "domains.toml").read_text("utf-8"))
    return {name: Interval(**entry) for name, entry in document.items()}


def _index(slot: Slot) -> Interval | None:
    size = slot.dimension()
    return Interval(-size, size - 1) if size else None


def _positive_index(slot: Slot) -> Interval | None:
    size = slot.dimension()
    return Interval(0, size - 1) if size else None


def _one_hot_index(slot: Slot) -> Interval | None:
    """Indices outside the depth are defined (all off), but say little: stay inside where it is known."""
    depth, output = slot.value("depth"), slot.output()
    size = int(depth.ravel()[0]) if depth is not None and depth.size else 0
    if not size and output:
        size = output[int(slot.attribute("axis", -1)) % len(output)]
    return Interval(-size, size - 1) if size > 0 else Interval(0, 2)


def _length(slot: Slot) -> Interval | None:
    size = slot.dimension()
    return Interval(1, size) if size else None


def _sequence_length(slot: Slot) -> Interval | None:
    """Dynamic lengths of RNN, GRU, LSTM: time is the first axis, the second with layout=1."""
    shape = slot.of()
    size = shape[1 if slot.attribute("layout", 0) == 1 else 0] if shape and len(shape) == 3 else 0
    return Interval(1, size) if size else None


def _write_position(slot: Slot) -> Interval | None:
    """TensorScatter: a linear write must fit between the position and the end of the cache."""
    size, update = slot.dimension(), slot.shape("update")
    if not size or update is None:
        return None
    axis = slot.axis(len(update))
    return None if axis is None else Interval(0, max(0, size - update[axis]))


def _axis(slot: Slot) -> Interval | None:
    shape = slot.of()
    return Interval(-len(shape), len(shape) - 1) if shape else Interval(0, 0)


def _diagonal(slot: Slot) -> Interval | None:
    shape = slot.of()
    return Interval(-shape[-2], shape[-1]) if shape and len(shape) >= 2 else None


def _shift(slot: Slot) -> Interval | None:
    """Less than the width: shifts beyond it are undefined before opset 28."""
    code = slot.known.dtypes.get(slot.actual.get("X", ""), onnx.TensorProto.UINT8)
    bits = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code)).itemsize * 8
    return Interval(0, bits - 1)


def _castable(slot: Slot) -> Interval | None:
    """Values that the target dtype can hold: casting others to an integer is undefined."""
    target = slot.attribute("to") or slot.known.dtypes.get(slot.actual.get("target_type", ""))
    if not target:
        return None
    name = onnx.TensorProto.DataType.Name(target)
    everything = named()["any"]
    if name == "FLOAT8E8M0":
        return named()["positive"]
    if name.startswith("UINT"):
        return replace(everything, low=0.0)
    return Interval(-2, 1) if name == "INT2" else everything


def _top_k(slot: Slot) -> Interval | None:
    output, size = slot.output(), slot.dimension()
    if output:
        axis = slot.axis(len(output))
        return None if axis is None else Interval(output[axis], output[axis])
    return Interval(1, min(size, 3)) if size else None


def _depth(slot: Slot) -> Interval | None:
    output = slot.shape("output")
    axis = None if not output else slot.axis(len(output))
    return Interval(2, 5) if output is None or axis is None else Interval(output[axis], output[axis])


def _dimension_of_axis(slot: Slot) -> Interval | None:
    """DFT length: the output's size along the axis (an attribute before opset 20, then an input)."""
    output, axis = slot.of(), slot.value("axis")
    if not output:
        return None
    number = int(axis.ravel()[0]) if axis is not None else slot.attribute("axis", -2)
    if not isinstance(number, int) or not -len(output) <= number < len(output):
        return None
    size = output[number]
    if slot.attribute("onesided", 0) == 1:
        size = 2 * (size - 1) if slot.attribute("inverse", 0) == 0 else size
    return Interval(size, size)


def _dft_axis(slot: Slot) -> Interval | None:
    """Any axis but the last, which holds the real and imaginary parts."""
    shape = slot.of()
    return Interval(-2, -2) if shape is None or len(shape) < 2 else Interval(1, len(shape) - 2)


def _range_limit(slot: Slot) -> Interval | None:
    output = slot.of()
    return Interval(output[0], output[0]) if output else Interval(1, 4)


def _frame_length(slot: Slot) -> Interval | None:
    """STFT: the window's length where there is one, else what the number of output bins implies."""
    window, output, signal = slot.shape("window"), slot.output(), slot.of()
    if window:
        return Interval(window[0], window[0])
    if output and len(output) == 4:
        size = (output[2] - 1) * 2 if slot.attribute("onesided", 1) else output[2]
        return Interval(size, size)
    return Interval(1, max(1, signal[1] // 2)) if signal and len(signal) > 1 else None


def _frame_step(slot: Slot) -> Interval | None:
    signal, output = slot.of(), slot.output()
    frame = _frame_length(slot)
    if not signal or len(signal) < 2:
        return None
    if output and len(output) == 4 and output[1] > 1 and frame:
        step = (signal[1] - int(frame.high)) // (output[1] - 1)
        return Interval(step, step)
    return Interval(1, max(1, signal[1] // 4))


#: Interval domains that follow from the shapes around a slot; None when too little is known.
INTERVALS: Mapping[str, Callable[[Slot], Interval | None]] = {
    "index": _index,
    "positive-index": _positive_index,
    "one-hot-index": _one_hot_index,
    "length": _length,
    "sequence-length": _sequence_length,
    "write-position": _write_position,
    "axis": _axis,
    "diagonal": _diagonal,
    "shift": _shift,
    "castable": _castable,
    "top-k": _top_k,
    "depth": _depth,
    "dimension-of-axis": _dimension_of_axis,
    "dft-axis": _dft_axis,
    "range-limit": _range_limit,
    "frame-length": _frame_length,
    "frame-step": _frame_step,
}


def interval(slot: Slot) -> Interval | None:
    """The interval that the slot demands, None when it demands none or it cannot be known."""
    name = slot.spec.domain
    return INTERVALS[name](slot) if name in INTERVALS else named().get(name)
