"""Smaller numbers where an operator takes a size, a count or a position from a tensor: repeats, targets, pads, k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.passes._sizes import HUMAN
from triage.submodel import load, open_shapes, tensors, with_tensors

KINDS = ("onnx",)
#: The inputs of standard operators that hold sizes, counts and positions, as the operators' documents say.
_EXTENTS: Mapping[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "Loop": (0,),
    "MaxUnpool": (2,),
    "NonMaxSuppression": (2,),
    "OneHot": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (3,),
    "Slice": (1, 2, 4),
    "Split": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
}


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """The large numbers of one such tensor all small; then each alone. What is declared of the results is left open."""
    model = load(case)
    taken = {
        node.input[at]
        for node in walk(model.graph)
        for at in (_EXTENTS.get(node.op_type, ()) if not node.domain else ())
        if at < len(node.input)
    }
    for name, array in tensors(case, model).items():
        if name in taken and array.dtype.kind in "iu":
            for smaller in _smaller(array):
                changed = load(case)
                open_shapes(changed)
                yield with_tensors(case, changed, {name: smaller})


def _smaller(array: np.ndarray) -> Iterator[np.ndarray]:
    """With numbers of up to `HUMAN`; signs stay."""
    large = np.abs(array.astype(np.float64)) > HUMAN
    for target in (HUMAN - 1, HUMAN, 1) if large.any() else ():
        yield np.where(large, np.sign(array) * target, array).astype(array.dtype)
    for at in np.flatnonzero(large) if np.count_nonzero(large) > 1 else ():
        alone = array.copy()
        alone.flat[at] = np.sign(array.flat[at]) * (HUMAN - 1)
        yield alone
