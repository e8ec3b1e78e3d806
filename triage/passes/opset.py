"""The oldest opset and IR version in which the model means the same: maintainers trust what is long settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """The model with its default-domain opset lowered to the newest version that one of its operators has."""
    model = load(case)
    imported = {entry.domain: entry for entry in model.opset_import}
    default = imported.get("")
    if default is None or model.functions:
        return
    needed = _needed(model, default.version)
    if needed and needed < default.version:
        default.version = needed
        model.ir_version = min(model.ir_version, max(4, _ir_version(needed)))
        yield with_model(case, model)


def _needed(model: onnx.ModelProto, version: int) -> int:
    """The newest since-version among the default domain's operators, 0 when one is unknown."""
    found = [1]
    for node in walk(model.graph):
        if node.domain in ("", "ai.onnx"):
            if not onnx.defs.has(node.op_type):
                return 0
            found.append(int(onnx.defs.get_schema(node.op_type, version, "").since_version))
    return max(found)


def _ir_version(opset: int) -> int:
    """The IR version of the ONNX release that brought the opset."""
    return min((row[1] for row in helper.VERSION_TABLE if row[2] >= opset), default=4)
