"""An ONNX model in float64, plain and under rounding noise (Monte Carlo arithmetic, Parker 1997).

How far the outputs of `fuzz.backends._evaluation` move, trial after trial, is the noise that honest float
arithmetic may make of them.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np

from fuzz.backends import _rounding as rounding
from fuzz.backends._coherence import Coherence
from fuzz.backends._evaluation import PICKING, Evaluation
from fuzz.backends._trials import Trial, decisions, trials

#: Outputs in float64, their noise, what is to be said of both, and more values by name (`_widened`).
Evaluated = Tuple[List[Any], List[Any], Dict[str, Any], Dict[str, Any]]


def evaluate(data: bytes, inputs: Dict[str, Any]) -> Evaluated:
    """The outputs in float64, their noise, what is to be said of both, and more values by name (`_widened`).

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
    noise, finite = ([rounding.still(value) for value in wide] for _ in range(2))
    resized: Dict[int, None] = {}
    together = Coherence()
    counted, done = amounts(onnx.load_from_string(data)), 0
    for trial in trials(table["trials"], subject):
        if done >= 2 and time.monotonic() - begun > table["seconds"]:
            break
        found = _tried(subject, trial)
        rounding.cover(noise, clean, found, counted)
        rounding.cover(finite, clean, found, counted, finite=True)
        resized.update((at, None) for at, value in enumerate(found) if _shape(value) != _shape(clean[at]))
        if trial.is_random:
            together.see(clean, found)
        done += 1
    spread, bounded = ([_spread(v, one, table["spread"]) for v, one in zip(each, clean)] for each in (noise, finite))
    if subject.is_near_a_jump:
        for found in (_tried(subject, each) for each in decisions()):
            rounding.cover(spread, clean, found, counted)
            rounding.cover(bounded, clean, found, counted, finite=True)
            resized.update((at, None) for at, value in enumerate(found) if _shape(value) != _shape(clean[at]))
    if subject is not plain:
        rounding.cover(spread, wide, clean, counted)  # what ONNX's own function rounds on its way
        rounding.cover(bounded, wide, clean, counted, finite=True)
    said = {
        "trials": done,
        "unwidened": sorted(plain.unwidened),
        "first": plain.first,
        "resized": sorted(resized),
        "seconded": dict(plain.seconded),
        "coherence": together.usual(),
    }
    more: Dict[str, Any] = {"places/" + name: value * table["spread"] for name, value in subject.picked_from.items()}
    more.update(("finite/%d" % at, value) for at, value in enumerate(bounded) if value is not None)
    if not all(plain.seconded.values()):
        more.update(("second/%d" % at, value) for at, value in enumerate(plain.wide(by_definition=True)))
    return wide, spread, said, more


def _tried(subject: Evaluation, trial: Trial) -> List[Any]:
    """The outputs in one trial; none at all where rounding decides a shape that later nodes cannot take."""
    try:
        return subject.wide(trial)
    except Exception:  # noqa: BLE001  the operators' code is foreign
        return [None] * len(subject.dtypes)


def _spread(noise: Optional[np.ndarray], clean: Any, factor: float) -> Optional[np.ndarray]:
    """The noise of one output. A whole number that moves by one may be its neighbour, and no other."""
    if noise is None:
        return None
    if clean.dtype.kind == "f":
        return noise * factor
    return np.where(noise <= 1, noise, noise * factor)


_BODIES = frozenset(("If", "Loop", "Scan", "SequenceMap"))
#: Operators whose results are places and choices, or decide which values there are: integers that hang on them may
#: be anything once they move.
_CHOOSING = PICKING | _BODIES | {"Compress", "NonMaxSuppression", "NonZero", "Range", "Unique"}


def amounts(model: Any) -> Set[int]:
    """The positions of outputs whose integers are amounts: of two that are near, one may be the other's rounding."""
    makers = {name: node for node in model.graph.node for name in node.output}
    return {at for at, info in enumerate(model.graph.output) if not _chooses(info.name, makers, set())}


def _chooses(name: str, makers: Dict[str, Any], seen: Set[str]) -> bool:
    waiting = [name]
    while waiting:
        node = makers.get(waiting.pop())
        if node is None or node.output[0] in seen:
            continue
        seen.add(node.output[0])
        if node.op_type in _CHOOSING or node.domain not in ("", "ai.onnx"):
            return True
        waiting.extend(node.input)
    return False


def _expanded(data: bytes, inputs: Dict[str, Any], wide: List[Any]) -> Optional[Evaluation]:
    """The model with composite operators replaced by their functions, if that means the same."""
    import onnx
    import onnx.inliner

    model = onnx.load_from_string(data)
    wanted = set(rounding.model()["traits"]["expanded"])
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
