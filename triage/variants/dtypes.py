"""The model in the most ordinary type of its kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.variants import Variant, neighbour

_PLAIN = {
    **dict.fromkeys((TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE), TensorProto.FLOAT),
    **dict.fromkeys((TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8, TensorProto.UINT16), TensorProto.INT32),
    **dict.fromkeys((TensorProto.UINT32, TensorProto.UINT64), TensorProto.INT64),
}


def variants(case: Case) -> Iterator[Variant]:
    """The model in float32 instead of another floating-point type, in int32 instead of a smaller integer."""
    model = parsed(case.model)
    types = {info.type.tensor_type.elem_type for info in model.graph.input}
    for unusual, plain in _PLAIN.items():
        if unusual not in types:
            continue
        other = parsed(case.model)
        for info in [*other.graph.input, *other.graph.output, *other.graph.value_info]:
            if info.type.tensor_type.elem_type == unusual:
                info.type.tensor_type.elem_type = plain
        wanted = helper.tensor_dtype_to_np_dtype(plain)
        for tensor in other.graph.initializer:
            if tensor.data_type == unusual:
                tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(wanted), tensor.name))
        found = helper.tensor_dtype_to_np_dtype(unusual)
        fed = {
            name: value.astype(wanted) if isinstance(value, np.ndarray) and value.dtype == found else value
            for name, value in case.inputs.items()
        }
        sentence = f"In {wanted.name} instead of {found.name} the same model passes."
        yield Variant("dtype", found.name, sentence, (neighbour(case, other, fed),))
