"""The ONNX reference evaluator with what it gets wrong about valid models mended, so that they can be tests.

A model that the evaluator refuses, or evaluates to other sizes than ONNX says, counts as invalid, and all that it
could have shown is lost. Imported by workers only.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
from onnx import NodeProto, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_dequantize_linear, op_gather_elements, op_loop, op_one_hot, op_unique

#: What the base class makes for the attribute `body`: one iteration.
_ITERATE = "_run_body"
#: The attribute itself, which the base class sets by its name.
_BODY = "body"


class Loop(op_loop.Loop):
    """Loop as ONNX defines it: scan outputs are stacked along a new first axis, and no condition means true.

    One that never runs collects nothing, in the type and shape that its body declares.
    """

    def __init__(self, onnx_node: NodeProto, run_params: Any) -> None:
        super().__init__(onnx_node, run_params)  # type: ignore[no-untyped-call]
        self._collected: List[List[Any]] = []
        self._iterate: Any = getattr(self, _ITERATE)
        body: Any = getattr(self, _BODY)
        self._rows = list(body.output_types)[1 + self.N :]
        setattr(self, _ITERATE, self._remembering)

    def _remembering(self, *args: Any, **kwargs: Any) -> List[Any]:
        results = list(self._iterate(*args, **kwargs))
        self._collected.append(results[len(results) - self.K :])
        return results

    def _run(self, M: Any, cond: Any, *args: Any, **kwargs: Any) -> Tuple[Any, ...]:
        self._collected = []
        begun = np.array(True) if cond is None else cond
        if not np.all(begun) or (M is not None and not np.all(np.asarray(M) > 0)):
            return (*args, *map(_nothing, self._rows))
        results = super()._run(M, begun, *args, **kwargs)  # type: ignore[no-untyped-call]
        columns = [np.stack(column) for column in zip(*self._collected)]
        return (*results[: len(results) - len(columns)], *columns)


def _nothing(declared: Any) -> np.ndarray:
    """No row at all of what a body declares. Raises ValueError where it does not say how large a row is."""
    shape = declared.tensor_type.shape if declared.tensor_type.HasField("shape") else None
    if shape is None or not all(dim.HasField("dim_value") for dim in shape.dim):
        raise ValueError("a loop that never runs collects rows of an unknown shape")
    dtype = helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type)
    return np.empty((0, *(dim.dim_value for dim in shape.dim)), dtype)


class Unique(op_unique.Unique):
    """Unique as ONNX defines it: unsorted elements come in the order in which they occur first, and along an axis."""

    def _run(self, x: Any, axis: Any = None, sorted: Any = None) -> Tuple[Any, ...]:
        if sorted:
            return tuple(super()._run(x, axis=axis, sorted=sorted))  # type: ignore[no-untyped-call]
        found, first, place, count = np.unique(x, True, True, True, axis=axis)
        order = np.argsort(first)
        found = np.take(found, order, axis=0 if axis is None else axis)
        results = (found, first[order], np.argsort(order)[place.reshape(-1)], count[order])
        return results[: len(self.onnx_node.output)]


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
    ("", "Unique"): Unique,
}
#: What the evaluator has no code for, with the first version that it has code for, which does what the older ones did.
_SINCE: Dict[Tuple[str, str], Tuple[int, Any]] = {
    ("", "DequantizeLinear"): (19, getattr(op_dequantize_linear, "DequantizeLinear_19", None)),
}


class Evaluator(ReferenceEvaluator):
    """Evaluates models, with the operators from above; functions may hand their attributes on to unary operators.

    Results that are left out have the empty name, and so have inputs that are left out: the one is not the other.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for node in self.rt_nodes_:
            if "" in node.output:
                node.run = _without_absent(node.run, list(node.output))

    def _load_impl(self, node: NodeProto, input_types: Any = None) -> Any:
        found = self._mended(node) or super()._load_impl(node, input_types)
        return _linked(found) if any(attribute.ref_attr_name for attribute in node.attribute) else found

    def _mended(self, node: NodeProto) -> Any:
        since, newer = _SINCE.get((node.domain, node.op_type), (0, None))
        old = self.opsets.get(node.domain, since) < since
        return newer if old else _MENDED.get((node.domain, node.op_type))


def _without_absent(run: Callable[..., Tuple[Any, ...]], names: List[str]) -> Callable[..., Tuple[Any, ...]]:
    """A node's `run` that yields None in place of what has no name."""

    def named(*args: Any, **kwargs: Any) -> Tuple[Any, ...]:
        return tuple(value if name else None for name, value in zip(names, run(*args, **kwargs)))

    return named


_LINKED: Dict[Any, Any] = {}


def _linked(operator: Any) -> Any:
    """The class of an operator, able to take attributes of the function that it stands in."""
    if "linked_attributes" in inspect.signature(operator.run).parameters:
        return operator
    if operator not in _LINKED:
        _LINKED[operator] = type(operator.__name__, (operator,), {"run": OpRun.run})
    return _LINKED[operator]
