"""An ONNX model in float64, plain and under rounding noise (Monte Carlo arithmetic, Parker 1997).

How far the outputs of `fuzz.backends._evaluation` move, trial after trial, is the noise that honest float
arithmetic may make of them.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from fuzz.backends import _rounding as rounding
from fuzz.backends._evaluation import Evaluation
from fuzz.backends._trials import trials


def evaluate(data: bytes, inputs: Dict[str, Any]) -> Tuple[List[Any], List[Any], Dict[str, Any]]:
    """The outputs in float64, their noise, and what is to be said of both.

    Noise is absolute, one number an element; for integers and booleans it is 0 or infinity. None stands
    for an output that has neither (a sequence, strings).
    """
    import onnx

    plain = Evaluation(onnx.load_from_string(data), inputs)
    plain.native()
    wide = plain.wide()
    subject = _expanded(data, inputs, wide) or plain
    clean = wide if subject is plain else subject.wide()
    table, begun = rounding.model(), time.monotonic()
    noise = [_still(value) for value in wide]
    resized: Dict[int, None] = {}
    done = 0
    for trial in trials(table["trials"], subject):
        if done >= 2 and time.monotonic() - begun > table["seconds"]:
            break
        found = subject.wide(trial)
        rounding.cover(noise, clean, found)
        resized.update((at, None) for at, value in enumerate(found) if _shape(value) != _shape(clean[at]))
        done += 1
    spread = [value if value is None else value * table["spread"] for value in noise]
    said = {
        "trials": done,
        "unwidened": sorted(plain.unwidened),
        "first": plain.first,
        "resized": sorted(resized),
    }
    return wide, spread, said


def _expanded(data: bytes, inputs: Dict[str, Any], wide: List[Any]) -> Optional[Evaluation]:
    """The model with composite operators replaced by their functions, if that means the same."""
    import onnx
    import onnx.inliner

    model = onnx.load_from_string(data)
    wanted = set(rounding.model()["operators"]["expanded"])
    if not any(node.op_type in wanted for node in model.graph.node):
        return None
    try:
        model = onnx.shape_inference.infer_shapes(model)
        declared = {info.name for info in model.graph.input}
        for tensor in model.graph.initializer:  # the inliner wants their types said
            if tensor.name not in declared:
                info = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
                model.graph.value_info.append(info)
        names = [("", name) for name in sorted(wanted)]
        found = Evaluation(onnx.inliner.inline_selected_functions(model, names, inline_schema_functions=True), inputs)
        found.native()
        again = found.wide()
    except Exception:  # noqa: BLE001  the inliner and the functions are foreign; without them noise is coarser
        return None
    same = all(_close(one, other) for one, other in zip(wide, again))
    return found if same and len(wide) == len(again) else None


def _shape(value: Any) -> Any:
    """What rounding must not change: a tensor's shape, a sequence's length."""
    return value.shape if isinstance(value, np.ndarray) else len(value) if isinstance(value, list) else None


def _close(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or one.dtype.kind not in "fiub":
        return True
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True))


def _still(value: Any) -> Optional[np.ndarray]:
    """No noise at all, for values that may have some."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return None
    return np.zeros(value.shape)
