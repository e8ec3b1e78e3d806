"""Every floating-point tensor of an ONNX model's main graph, and how far float64 is from it: mutants are made of them.

Not a compiler: the leading underscore keeps it out of the registry. Of every tensor that depends on an input it gives
``value/NAME`` (in the tensor's own dtype) and ``error/NAME`` (one float64: the largest distance of any element from
its value in float64, infinity where shapes differ).
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

import numpy as np

from fuzz.wire import Job, Value

PACKAGES = ("onnx",)
KINDS = ("onnx",)
OPTIONS: Dict[str, Tuple[str, ...]] = {}
#: The dtypes that are profiled.
FLOATS = ("float16", "float32", "float64")
#: AttributeProto.GRAPH and GRAPHS.
_GRAPHS = (5, 10)


def warm() -> None:
    """Import onnx and its evaluator."""
    for name in ("onnx.checker", "onnx.reference", "onnx.reference.ops.op_abs", "onnx.shape_inference", "ml_dtypes"):
        importlib.import_module(name)


def devices() -> List[str]:
    """Numpy runs on the CPU."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Check the model, then evaluate it twice."""
    import onnx

    model = onnx.load_from_string(job.model)
    enter("convert")
    onnx.checker.check_model(model, full_check=True)
    enter("run")
    found: List[Tuple[str, Value]] = []
    for name, (value, error) in profile(model, dict(job.inputs)).items():
        found += [("value/" + name, value), ("error/" + name, np.array(error))]
    return found


def profile(model: Any, inputs: Dict[str, Any]) -> Dict[str, Tuple[np.ndarray, float]]:
    """By name: the value of every such tensor, and its largest distance from float64.

    Raises whatever the reference evaluator does for a model that it cannot run.
    """
    import onnx

    from fuzz.backends._evaluation import Evaluation

    names = list(_dependent(model.graph))
    tapped = onnx.ModelProto()
    tapped.CopyFrom(model)
    del tapped.graph.output[:]
    tapped.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    evaluation = Evaluation(tapped, inputs)
    native, wide = evaluation.native(), evaluation.wide()
    named = [(each, inputs[each], inputs[each]) for each in inputs] + list(zip(names, native, wide))
    return {name: (value, _error(value, other)) for name, value, other in named if _is_float(value)}


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in FLOATS


def _error(value: np.ndarray, wide: Any) -> float:
    if not isinstance(wide, np.ndarray) or wide.shape != value.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        distance = np.abs(value.astype(np.float64) - wide.astype(np.float64))
    largest = float(np.max(distance, initial=0.0))
    return largest if np.isfinite(largest) else float("inf")


def _dependent(graph: Any) -> Iterator[str]:
    """The results of nodes that hang on a graph input, directly or through a body."""
    constants = {tensor.name for tensor in graph.initializer}
    reached: Set[str] = {entry.name for entry in graph.input} - constants
    for node in graph.node:
        if reached.intersection(read_by(node)):
            found = [name for name in node.output if name]
            reached.update(found)
            yield from found


def read_by(node: Any) -> Iterator[str]:
    """The names that a node reads: its inputs, and all that its bodies mention."""
    yield from (name for name in node.input if name)
    yield from mentioned_by(node)


def mentioned_by(node: Any) -> Iterator[str]:
    """The names that the bodies of a node mention, their own included."""
    for attribute in node.attribute:
        for body in (*attribute.graphs, attribute.g) if attribute.type in _GRAPHS else ():
            yield from (output.name for output in body.output)
            for inner in body.node:
                yield from read_by(inner)
