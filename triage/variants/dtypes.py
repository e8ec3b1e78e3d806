"""The model in the most ordinary type of its kind, and in the other types of that kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.drawing import dtype_text
from triage.passes.dtypes import with_element_types
from triage.submodel import load, tensors, with_tensors

_PLAIN = {
    **dict.fromkeys((TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE), TensorProto.FLOAT),
    **dict.fromkeys((TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8, TensorProto.UINT16), TensorProto.INT32),
    **dict.fromkeys((TensorProto.UINT32, TensorProto.UINT64), TensorProto.INT64),
}
#: Types that are handled alike, so that a failure in one is to be expected in the others. float32 and int64 stay: to
#: change them would change scales, axes and indices as well.
_KINDS = (
    (TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16),
    (TensorProto.UINT32, TensorProto.UINT64),
    (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE),
    (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ),
    (TensorProto.UINT4, TensorProto.INT4),
)


@dataclass(frozen=True)
class Alternatives:
    """An unusual type of a case, and the cases with others in its place: the plain one, if any, and its `kin`.

    `limits` is the plain one with its own limits where numbers are at those of the unusual type, and what these are in
    words; None where no number is.
    """

    name: str
    plain: tuple[str, Case] | None
    kin: tuple[tuple[str, Case], ...]
    limits: tuple[str, Case] | None = None


def alternatives(case: Case) -> Iterator[Alternatives]:
    """For each unusual type of inputs, constants and outputs the case in the other types, everywhere at once."""
    graph = parsed(case.model).graph
    types = [info.type.tensor_type.elem_type for info in graph.input]
    types += [tensor.data_type for tensor in graph.initializer]
    types += [info.type.tensor_type.elem_type for info in graph.output]
    for unusual in dict.fromkeys(types):
        kin = [one for kind in _KINDS if unusual in kind for one in kind if one not in (unusual, _PLAIN.get(unusual))]
        if kin:
            plain = _with(case, unusual, _PLAIN[unusual]) if unusual in _PLAIN else None
            others = tuple(_with(case, unusual, other) for other in kin)
            limits = _at_limits(case, unusual, plain[1]) if plain else None
            yield Alternatives(dtype_text(unusual), plain, others, limits)


def _with(case: Case, old: int, new: int) -> tuple[str, Case]:
    return dtype_text(new), with_element_types(case, {old: new})


def _at_limits(case: Case, old: int, plain: Case) -> tuple[str, Case] | None:
    """A maximum that starts from the least number of its type goes wrong on 0 in uint8 alone, and yet in all types."""
    kind = helper.tensor_dtype_to_np_dtype(old)
    if kind.kind not in "iu":
        return None
    was, model = tensors(case, load(case)), load(plain)
    moved, said = {}, set()
    for name, array in tensors(plain, model).items():
        if was[name].dtype != kind or array.dtype == kind:
            continue
        least, most = was[name] == np.iinfo(kind).min, was[name] == np.iinfo(kind).max
        said |= {word for word, places in (("smallest number", least), ("largest number", most)) if places.any()}
        ends = np.iinfo(array.dtype)
        moved[name] = np.where(least, ends.min, np.where(most, ends.max, array)).astype(array.dtype)
    return (" and ".join(sorted(said, reverse=True)), with_tensors(plain, model, moved)) if said else None
