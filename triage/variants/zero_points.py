"""A zero point that a model leaves out, given as zeros: the default is one number, where scales may be many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import TensorProto, helper

from fuzz.case import Case
from triage.leftout import TEXT
from triage.submodel import add_initializer, load, tensors, with_tensors
from triage.variants import Variant

_QUANTIZES, _DEQUANTIZES = "QuantizeLinear", "DequantizeLinear"


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node that quantises, or the reverse, with zeros of the scale's shape."""
    model = load(case)
    node = model.graph.node[0] if len(model.graph.node) == 1 else None
    if node is None or node.op_type not in (_QUANTIZES, _DEQUANTIZES) or len([one for one in node.input if one]) != 2:
        return
    known = tensors(case, model)
    scale, data = known.get(node.input[1]), known.get(node.input[0])
    if scale is None or data is None:
        return
    kind = next((one.i for one in node.attribute if one.name == "output_dtype"), TensorProto.UINT8)
    dtype = data.dtype if node.op_type == _DEQUANTIZES else helper.tensor_dtype_to_np_dtype(kind)
    name = "zero_point"
    add_initializer(model, name, np.zeros(scale.shape, dtype))
    node.input[:] = [*node.input[:2], name]
    formal = f"{'x' if node.op_type == _DEQUANTIZES else 'y'}_zero_point"
    sentence = f"With zeros of the scale's shape given as `{formal}` the same model passes."
    yield Variant("value", f"{formal}{TEXT}", sentence, (with_tensors(case, model, {}),))
