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


#: Nothing is gained below: what is older than this is as exotic as what is too new.
OLDEST = 13


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """The model with its default-domain opset lowered to the newest version that one of its operators has."""
    version = default_opset(case)
    needed = _needed(case, version)
    if needed and needed < version:
        yield _lowered(case, needed)


def older(case: Case) -> Iterator[Case]:
    """The case in each older operator set in which its operators differ, newest first, down to `OLDEST`.

    An operator may mean something else there: whoever asks must ask the reference as well.
    """
    version = default_opset(case)
    while version > OLDEST:
        version = max(OLDEST, _needed(case, version - 1))
        yield _lowered(case, version)


def default_opset(case: Case) -> int:
    """The version of ONNX's own domain that the case's model asks for, 0 where it is not to be changed."""
    model = load(case)
    return next((entry.version for entry in model.opset_import if not entry.domain and not model.functions), 0)


def _lowered(case: Case, version: int) -> Case:
    model = load(case)
    for entry in model.opset_import:
        if entry.domain == "":
            entry.version = version
    model.ir_version = min(model.ir_version, max(4, _ir_version(version)))
    return with_model(case, model)


def _needed(case: Case, version: int) -> int:
    """The newest since-version among the default domain's operators, 0 when one is unknown at `version`."""
    found = [1]
    for node in walk(load(case).graph):
        if node.domain in ("", "ai.onnx"):
            try:
                found.append(int(onnx.defs.get_schema(node.op_type, version, "").since_version))
            except onnx.defs.SchemaError:
                return 0
    return max(found)


def _ir_version(opset: int) -> int:
    """The IR version of the ONNX release that brought the opset."""
    return min((row[1] for row in helper.VERSION_TABLE if row[2] >= opset), default=4)
