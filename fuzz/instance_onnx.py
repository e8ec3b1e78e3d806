"""Operator instances of ONNX as JSON: what a document must have. The format is described in docs/instances.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzz.instance_values import InstanceError


def check(document: Mapping[str, Any]) -> None:
    """Raise InstanceError unless the document names an operator, its attributes, and inputs and outputs in pairs."""
    name = document.get("op_type")
    if not isinstance(name, str) or not name:
        raise InstanceError(f"op_type must be an operator's name such as 'Conv', got {name!r}")
    if not isinstance(document.get("kwargs"), dict):
        raise InstanceError("kwargs must be an object of attributes ({} for none)")
    _side(document, "input", required=True)
    _side(document, "output", required=False)


def _side(document: Mapping[str, Any], side: str, required: bool) -> None:
    """Shapes and element types of the inputs, or of the outputs: as many of the one as of the other."""
    dtypes, shapes = f"{side}_dtype", f"{side}_shape"
    if not required and dtypes not in document and shapes not in document:
        return
    for key in (dtypes, shapes):
        if not isinstance(document.get(key), list):
            raise InstanceError(f"{key} must be a list with one entry for each {side}")
    if len(document[dtypes]) != len(document[shapes]):
        raise InstanceError(
            f"{len(document[dtypes])} entries in {dtypes} but {len(document[shapes])} in {shapes}; give one for each"
        )
    for at, dtype in enumerate(document[dtypes]):
        if dtype is not None and not isinstance(dtype, str):
            raise InstanceError(
                f"{dtypes}[{at}] must be an element type such as 'FLOAT', or null where it is not known, got {dtype!r}"
            )
    for at, shape in enumerate(document[shapes]):
        if shape is not None and not (isinstance(shape, list) and all(map(_is_size, shape))):
            raise InstanceError(f"{shapes}[{at}] must be a list of sizes, or null where it is not known, got {shape!r}")


def _is_size(size: Any) -> bool:
    """OPERA's files have -1 where a size is not known; others have null."""
    return size is None or (type(size) is int and size >= -1)
