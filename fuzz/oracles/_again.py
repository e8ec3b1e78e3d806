"""One operator asked again, by the reference evaluator, for other numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from fuzz.oracles._site import Site


def again(site: Site, changed: Mapping[str, np.ndarray], without: Collection[str] = ()) -> np.ndarray | None:
    """What the operator gives in float64 for these inputs, with everything else as it is but inputs that are left out.

    None where an input is not known or the evaluator raises.
    """
    if not site.given <= site.inputs.keys():
        return None
    given = {name: value for name, value in site.inputs.items() if isinstance(value, np.ndarray)}
    feeds = {name: value for name, value in given.items() if name not in without}
    feeds.update((name, value.astype(np.float64)) for name, value in changed.items())
    try:
        [found] = ReferenceEvaluator(_model(site, feeds)).run(None, feeds)
    except RuntimeError:  # an attribute that the evaluator lacks
        return None
    return np.asarray(found)


def _model(site: Site, feeds: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    formal = [each.name for each in onnx.defs.get_schema(site.op_type, site.version).inputs]
    names = [name if name in feeds else "" for name in formal]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    node = helper.make_node(site.op_type, names, ["result"], **dict(site.attributes))
    result = helper.make_tensor_value_info("result", onnx.TensorProto.DOUBLE, None)
    graph = helper.make_graph([node], "again", infos, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", site.version)])
