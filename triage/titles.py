"""Titles in the style of each project's own issue list."""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx
from onnx import AttributeProto

from fuzz.case import Case, Outcome, Stage
from triage.construct import parsed
from triage.drawing import dtype_text
from triage.messages import core
from triage.scrub import scrub

LONGEST = 140
#: How each project marks the component: (backend, case kind) -> prefix.
PREFIXES = {
    ("tvm", "onnx"): "[Bug][Relax][ONNX]",
    ("tvm", "instance"): "[Bug][Relax][PyTorch]",
    ("openvino", "onnx"): "[Bug]: [ONNX]",
    ("openvino", "instance"): "[Bug]: [PyTorch]",
    ("onnxruntime", "onnx"): "[CPU EP]",
    ("inductor", "instance"): "[inductor]",
    ("tensorrt", "onnx"): "[TensorRT][ONNX]",
}
_STAGES = {
    Stage.START: "starting with",
    Stage.LOAD: "loading",
    Stage.CONVERT: "converting",
    Stage.COMPILE: "compiling",
    Stage.RUN: "running",
}
_SIGNALS = {
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGABRT": "Abort",
    "SIGFPE": "Floating-point exception (SIGFPE)",
    "SIGILL": "Illegal instruction",
}
_WRONG = {
    "values": "gives wrong values",
    "shape": "gives a result of the wrong shape",
    "dtype": "gives a result of the wrong dtype",
    "count": "gives the wrong number of outputs",
    "nan": "gets NaN wrong",
    "inf": "gets infinity wrong",
}


def title(backend: str, case: Case, outcome: Outcome, symptom: str, operators: Sequence[str]) -> str:
    """One line of at most `LONGEST` characters, without anything private or anything GitHub acts upon."""
    prefix = PREFIXES.get((backend, case.kind), f"[{backend}]")
    text = f"{prefix} {happening(outcome, symptom, subject(case, operators))}"
    flat = " ".join(scrub(text).replace("`", "'").replace("@", "(at)").split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1].rstrip() + "…"


def subject(case: Case, operators: Sequence[str]) -> str:
    """What the bug is about: ``AveragePool with ceil_mode=1``, ``Conv + Relu``, ``torch.nn.functional.pad``."""
    named = " + ".join(operators[:3]) + (" + …" if len(operators) > 3 else "") or "the model"
    if case.kind != "onnx":
        return named
    model = parsed(case.model)
    if len(model.graph.node) != 1:
        return named
    named += _unusual_dtype(model)
    telling = _telling_attributes(model.graph.node[0], model)
    return f"{named} with {', '.join(telling)}" if telling else named


def _unusual_dtype(model: onnx.ModelProto) -> str:
    """The dtype of the node's first input, unless it is float32 or unknown."""
    graph = model.graph
    types = {info.name: info.type.tensor_type.elem_type for info in graph.input}
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    number = next((types.get(name, 0) for name in graph.node[0].input), 0)
    return f" ({dtype_text(number)})" if number not in (0, onnx.TensorProto.FLOAT) else ""


def _telling_attributes(node: onnx.NodeProto, model: onnx.ModelProto) -> list[str]:
    """The attributes that differ from their defaults, when they are few and short."""
    defaults = _defaults(node, model)
    shown = [text for attribute in node.attribute if (text := _attribute(attribute, defaults))]
    return shown if len(", ".join(shown)) <= 50 else []


def _defaults(node: onnx.NodeProto, model: onnx.ModelProto) -> dict[str, AttributeProto]:
    opset = next((one.version for one in model.opset_import if one.domain == node.domain), 1)
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, node.domain)
    except onnx.defs.SchemaError:
        return {}
    return {name: attribute.default_value for name, attribute in schema.attributes.items()}


def _attribute(attribute: AttributeProto, defaults: dict[str, AttributeProto]) -> str:
    if attribute.type not in (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS):
        return ""
    value = onnx.helper.get_attribute_value(attribute)
    default = defaults.get(attribute.name)
    if default is not None and default.type and onnx.helper.get_attribute_value(default) == value:
        return ""
    if isinstance(value, float):
        value = float(f"{value:.6g}")
    return f"{attribute.name}={value.decode('utf-8', 'replace') if isinstance(value, bytes) else value}"


def happening(outcome: Outcome, symptom: str, subject: str, *, message: bool = True) -> str:
    """What goes wrong in a clause: ``Segmentation fault when compiling Conv``.

    An exception's own words are part of it when `message` is wanted.
    """
    kind, _, tail = symptom.partition(":")
    doing = f"{_STAGES[outcome.stage]} {subject}"
    if kind == "wrong":
        return f"{subject} {_WRONG.get(tail, 'gives a wrong result')}"
    if kind == "crash":
        return f"{_SIGNALS.get(tail, tail or 'Crash')} when {doing}"
    if kind == "dies-on-invalid":
        died = tail.rpartition(":")[2]
        return f"{_SIGNALS.get(died, died or 'Crash')} instead of an error when {doing} (invalid model)"
    if kind in ("hang", "timeout"):
        return f"Hang when {doing}"
    if kind == "oom":
        return f"Out of memory when {doing}"
    return f"{doing[0].upper()}{doing[1:]} fails with {_exception(outcome, message)}"


def _exception(outcome: Outcome, message: bool) -> str:
    error = outcome.error
    name = (error.type if error else "").rpartition(".")[2] or "Exception"
    if not message:
        return name
    lines = [line.strip() for line in scrub(core(error.message) if error else "").splitlines()]
    telling = next((line for line in lines if len(re.sub(r"\W", "", line)) >= 8), "")
    return f"{name}: {telling[:60].rstrip()}{'…' if len(telling) > 60 else ''}" if telling else name
