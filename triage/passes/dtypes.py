"""Common dtypes in place of rare ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.wire import Value
from triage.literals import Array
from triage.submodel import inner_tensors, load, open_shapes, tensors, with_tensors

KINDS = ("onnx",)
#: What a rare element type is replaced by; the common ones stay.
_COMMON = {
    TensorProto.FLOAT16: TensorProto.FLOAT,
    TensorProto.BFLOAT16: TensorProto.FLOAT,
    TensorProto.DOUBLE: TensorProto.FLOAT,
    TensorProto.COMPLEX128: TensorProto.COMPLEX64,
    TensorProto.INT8: TensorProto.INT64,
    TensorProto.INT16: TensorProto.INT64,
    TensorProto.INT32: TensorProto.INT64,
    TensorProto.UINT8: TensorProto.INT64,
    TensorProto.UINT16: TensorProto.INT64,
    TensorProto.UINT32: TensorProto.INT64,
    TensorProto.UINT64: TensorProto.INT64,
}


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every rare dtype replaced wherever it stands; then one of them at a time; then single inputs."""
    arrays = tensors(case, load(case))
    kinds = {
        name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items() if array.dtype != object
    }
    rare = [kind for kind in dict.fromkeys(kinds.values()) if kind in _COMMON]
    for chosen in [rare] * (len(rare) > 1) + [[kind] for kind in rare]:
        yield _with(case, {kind: _COMMON[kind] for kind in chosen}, set(kinds))
    if len(kinds) > 1:
        for name, kind in kinds.items():
            if kind in _COMMON:
                yield _with(case, {kind: _COMMON[kind]}, {name})


def with_element_types(case: Case, changes: Mapping[int, int]) -> Case:
    """The case with other element types wherever they stand; `changes` are numbers of onnx.TensorProto."""
    return _with(case, changes, set(tensors(case, load(case))))


def _with(case: Case, changes: Mapping[int, int], names: set[str]) -> Case:
    model = load(case)
    everywhere = names >= set(tensors(case, model))
    open_shapes(model)
    for info in [*model.graph.input, *model.graph.output]:
        kind = info.type.tensor_type
        if info.type.HasField("tensor_type") and (everywhere or info.name in names):
            kind.elem_type = changes.get(kind.elem_type, kind.elem_type)
    if everywhere:
        _inside(model, changes)
    arrays = {
        name: _cast(array, changes[kind])
        for name, array in tensors(case, model).items()
        if name in names and array.dtype != object
        if (kind := helper.np_dtype_to_tensor_dtype(array.dtype)) in changes
    }
    return with_tensors(case, model, arrays)


def _cast(array: Array, kind: int) -> Array:
    """The array in a type of onnx.TensorProto. Integers of four bits know no way to each other but by a wider type."""
    wanted = helper.tensor_dtype_to_np_dtype(kind)
    with np.errstate(over="ignore"):
        direct = np.can_cast(array.dtype, wanted, "unsafe")
        return array.astype(wanted) if direct else array.astype(np.int8).astype(wanted)


def _inside(model: onnx.ModelProto, changes: Mapping[int, int]) -> None:
    """Element types that nodes and bodies name, in place."""
    for node in walk(model.graph):
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype", "output_dtype"):
                attribute.i = changes.get(attribute.i, attribute.i)
        for body in bodies(node):
            for info in [*body.input, *body.output]:
                kind = info.type.tensor_type
                kind.elem_type = changes.get(kind.elem_type, kind.elem_type)
    for tensor in inner_tensors(model.graph):
        if tensor.data_type in changes:
            cast = _cast(numpy_helper.to_array(tensor), changes[tensor.data_type])
            tensor.CopyFrom(numpy_helper.from_array(cast, tensor.name))
