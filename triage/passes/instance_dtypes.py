"""The common dtypes in place of rare ones in an operator instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._instances import parsed, with_instance

KINDS = ("instance", "keras")
#: What a rare dtype is replaced by; the common ones stay.
_COMMON = {
    "float16": "float32",
    "bfloat16": "float32",
    "float64": "float32",
    "complex128": "complex64",
    "int8": "int64",
    "int16": "int64",
    "int32": "int64",
    "uint8": "int64",
}


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All tensors of one rare dtype changed, for every such dtype; single ones would make a call of mixed types."""
    tensors = parsed(case).tensors
    rare = [dtype for dtype in dict.fromkeys(tensor.dtype for tensor in tensors) if dtype in _COMMON]
    choices = [[at for at, tensor in enumerate(tensors) if tensor.dtype == dtype] for dtype in rare]
    for choice in choices:
        common = [replace(t, dtype=_COMMON[t.dtype]) if at in choice else t for at, t in enumerate(tensors)]
        yield with_instance(case, replace(parsed(case), tensors=tuple(common)))
