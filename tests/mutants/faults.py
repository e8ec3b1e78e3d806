"""A compiler with switchable faults, modelled on the four of Glow that section 6.2 of MT-DLComp describes.

A wrapper around ONNX Runtime: it rewrites the graph as a faulty pass would, then compiles what has become of it.
Each pass knows a pattern that mutants have and the seeds do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from fuzz.wire import Job, Value

PACKAGES = ("onnxruntime",)
KINDS = ("onnx",)
OPTIONS = {"fault": ("none", "buffers", "dead", "layout", "epilogue")}


def warm() -> None:
    """Import what is wrapped."""
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401


def devices() -> list[str]:
    """One."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> list[tuple[str, Value]]:
    """Rewrite the graph by the fault that is switched on, then run it."""
    import onnx
    import onnxruntime

    enter("convert")
    model = onnx.load_from_string(job.model)
    FAULTS[job.options.get("fault", "none")](model.graph)
    enter("compile")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    enter("run")
    names = [entry.name for entry in session.get_outputs()]
    return list(zip(names, session.run(names, dict(job.inputs)), strict=True))


def _readers(graph: Any) -> dict[str, list[Any]]:
    found = defaultdict(list)
    for node in graph.node:
        for name in dict.fromkeys(node.input):
            found[name].append(node)
    return found


def _buffers(graph: Any) -> None:
    """A square is written over what it is made of, although that is read again (ShareBuffers)."""
    readers, place = _readers(graph), {id(node): at for at, node in enumerate(graph.node)}
    for node in graph.node:
        if node.op_type == "Mul" and node.input[0] == node.input[1]:
            for reader in readers[node.input[0]]:
                if place[id(reader)] > place[id(node)] and reader.op_type in ("Add", "Sub"):
                    reader.input[:] = [node.output[0] if name == node.input[0] else name for name in reader.input]


def _dead(graph: Any) -> None:
    """A Neg before a Relu is taken for dead, and what it negates goes on (Dead Code Elimination)."""
    makers = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        before = makers.get(node.input[0]) if node.op_type == "Relu" else None
        if before is not None and before.op_type == "Neg":
            node.input[0] = before.input[0]


def _layout(graph: Any) -> None:
    """What a convolution of whole vectors of eight channels made is added with its channels turned round (DKKC8)."""
    from onnx import helper, numpy_helper

    channels = {tensor.name: tensor.dims for tensor in graph.initializer}
    eight = {node.output[0] for node in graph.node if node.op_type == "Conv" and channels[node.input[1]][0] % 8 == 0}
    import numpy as np

    for at, node in enumerate(list(graph.node)):
        if node.op_type in ("Add", "Sub") and node.input[0] in eight and node.input[1] not in eight:
            name = f"turned_{at}"
            length = next(channels[other.input[1]][0] for other in graph.node if other.output[0] == node.input[0])
            order = numpy_helper.from_array(np.arange(length)[::-1].copy(), f"{name}_order")
            graph.initializer.append(order)
            turned = helper.make_node("Gather", [node.input[0], order.name], [name], axis=1)
            graph.node.insert(list(graph.node).index(node), turned)
            node.input[0] = name


def _epilogue(graph: Any) -> None:
    """A convolution is fused with a following Add of what is no initializer; the fused kernel adds the bias twice."""
    from onnx import helper

    weights = {tensor.name for tensor in graph.initializer}
    ranks = {tensor.name: len(tensor.dims) for tensor in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    for node in list(graph.node):
        conv = makers.get(node.input[0]) if node.op_type == "Add" else None
        if conv is None or conv.op_type != "Conv" or ranks.get(conv.input[1]) != 4 or node.input[1] in weights:
            continue
        name = f"{conv.output[0]}_{node.output[0]}_twice"
        shaped = helper.make_node("Unsqueeze", [conv.input[2], f"{name}_axes"], [f"{name}_bias"])
        graph.initializer.append(helper.make_tensor(f"{name}_axes", 7, [2], [1, 2]))
        place = list(graph.node).index(node)
        graph.node.insert(place, shaped)
        graph.node.insert(place + 1, helper.make_node("Add", [conv.output[0], f"{name}_bias"], [name]))
        node.input[0] = name


FAULTS: dict[str, Callable[[Any], None]] = {
    "none": lambda graph: None,
    "buffers": _buffers,
    "dead": _dead,
    "layout": _layout,
    "epilogue": _epilogue,
}
