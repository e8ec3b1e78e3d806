"""Defaults that the shape of an input tells."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from fuzz.case import Case, Origin
from triage.leftout import with_defaults


def test_weights_without_a_kernel_tell_no_kernel_shape() -> None:
    """A convolution that is broken on purpose."""
    given = {"x": np.ones((1, 1, 3), np.float32), "w": np.ones((1, 1), np.float32)}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in given.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "g", infos, [out])
    spelled = with_defaults(Case("onnx", helper.make_model(graph).SerializeToString(), given, Origin("test")))
    assert spelled is not None and b"kernel_shape" not in spelled.model
