"""The ONNX reference evaluator with what it gets wrong about valid models mended, so that they can be tests.

A model that the evaluator refuses, or evaluates to other sizes than ONNX says, counts as invalid, and all that it
could have shown is lost. Imported by workers only.
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Tuple

import numpy as np
from onnx import NodeProto
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_dequantize_linear, op_gather_elements, op_loop, op_one_hot

#: What the base class makes for the attribute `body`: one iteration.
_ITERATE = "_run_body"


class Loop(op_loop.Loop):
    """Loop as ONNX defines it: scan outputs are stacked along a new first axis, and no condition means true."""

    def __init__(self, onnx_node: NodeProto, run_params: Any) -> None:
        super().__init__(onnx_node, run_params)  # type: ignore[no-untyped-call]
        self._collected: List[List[Any]] = []
        self._iterate: Any = getattr(self, _ITERATE)
        setattr(self, _ITERATE, self._remembering)

    def _remembering(self, *args: Any, **kwargs: Any) -> List[Any]:
        results = list(self._iterate(*args, **kwargs))
        self._collected.append(results[len(results) - self.K :])
        return results

    def _run(self, M: Any, cond: Any, *args: Any, **kwargs: Any) -> Tuple[Any, ...]:
        self._collected = []
        begun = np.array(True) if cond is None else cond
        results = super()._run(M, begun, *args, **kwargs)  # type: ignore[no-untyped-call]
        columns = [np.stack(column) for column in zip(*self._collected)]
        return (*results[: len(results) - len(columns)], *columns)


class OneHot(op_one_hot.OneHot):
    """OneHot as ONNX defines it: "In case 'indices' is of non-integer type, the values will be casted to int64"."""

    def _run(self, indices: Any, *args: Any, **kwargs: Any) -> Tuple[Any, ...]:
        whole = np.asarray(indices).astype(np.int64)
        return tuple(super()._run(whole, *args, **kwargs))  # type: ignore[no-untyped-call]


class GatherElements(op_gather_elements.GatherElements):
    """GatherElements along axes of any length; places beyond an axis are taken round, as onnx does."""

    def _run(self, data: Any, indices: Any, axis: Any = None) -> Tuple[Any, ...]:
        along = (axis or 0) % data.ndim
        wanted = [slice(None) if at == along else slice(size) for at, size in enumerate(indices.shape)]
        places = np.mod(indices, max(1, data.shape[along]))
        return (np.take_along_axis(data[tuple(wanted)], places.astype(np.int64), along),)


_MENDED: Dict[Tuple[str, str], Any] = {
    ("", "GatherElements"): GatherElements,
    ("", "Loop"): Loop,
    ("", "OneHot"): OneHot,
}
#: What the evaluator has no code for, with the first version that it has code for, which does what the older ones did.
_SINCE: Dict[Tuple[str, str], Tuple[int, Any]] = {
    ("", "DequantizeLinear"): (19, getattr(op_dequantize_linear, "DequantizeLinear_19", None)),
}


class Evaluator(ReferenceEvaluator):
    """Evaluates models, with the operators from above; functions may hand their attributes on to unary operators."""

    def _load_impl(self, node: NodeProto, input_types: Any = None) -> Any:
        found = self._mended(node) or super()._load_impl(node, input_types)
        return _linked(found) if any(attribute.ref_attr_name for attribute in node.attribute) else found

    def _mended(self, node: NodeProto) -> Any:
        since, newer = _SINCE.get((node.domain, node.op_type), (0, None))
        old = self.opsets.get(node.domain, since) < since
        return newer if old else _MENDED.get((node.domain, node.op_type))


_LINKED: Dict[Any, Any] = {}


def _linked(operator: Any) -> Any:
    """The class of an operator, able to take attributes of the function that it stands in."""
    if "linked_attributes" in inspect.signature(operator.run).parameters:
        return operator
    if operator not in _LINKED:
        _LINKED[operator] = type(operator.__name__, (operator,), {"run": OpRun.run})
    return _LINKED[operator]
