"""A stand-in for the module of this name in OpenVINO's tests/layer_tests/pytorch_tests: enough to run a test outside.

Like the original it converts the module as TorchScript, or with torch.export where PYTORCH_TRACING_MODE is EXPORT, and
compares with eager PyTorch.
"""

import os

import numpy as np
import openvino as ov
import torch
from openvino.frontend import FrontEndManager
from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

TOLERANCE = 1e-4


class PytorchLayerTest:
    def _test(self, model, kind, ie_device, precision, ir_version, infer_timeout=60, dynamic_shapes=True, **kwargs):
        inputs = [np.asarray(one) for one in self._prepare_input()]
        tensors = [torch.from_numpy(one.copy()) for one in inputs]
        with torch.no_grad():
            converted = _converted(model, tensors)
            expected = torch.utils._pytree.tree_leaves(model(*[one.clone() for one in tensors]))
        for port, value in zip(converted.inputs, inputs, strict=True):
            node = port.get_node()
            if node.get_element_type().is_dynamic():
                node.set_element_type(ov.Type(value.dtype))
            node.set_partial_shape(ov.PartialShape([-1] * value.ndim if dynamic_shapes else list(value.shape)))
        converted.validate_nodes_and_infer_types()
        compiled = ov.Core().compile_model(converted, ie_device)
        results = compiled(inputs)
        assert len(compiled.outputs) == len(expected), "number of outputs not equal"
        for port, wanted in zip(compiled.outputs, expected, strict=True):
            found, wanted = torch.tensor(np.array(results[port])), torch.as_tensor(wanted)
            assert found.dtype == wanted.dtype, f"dtype validation failed: {found.dtype} vs {wanted.dtype}"
            assert found.shape == wanted.shape, f"Shapes are not equal: {found.shape} vs {wanted.shape}"
            close = np.isclose(found.numpy(), wanted.numpy(), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
            assert close.all(), "Accuracy validation failed"


def _converted(model, tensors):
    if os.environ.get("PYTORCH_TRACING_MODE") == "EXPORT":
        return ov.convert_model(torch.export.export(model, tuple(tensors)), example_input=tensors)
    frontend = FrontEndManager().load_by_framework("pytorch")
    decoder = TorchScriptPythonDecoder(model)  # it must outlive the conversion
    loaded = frontend.load(decoder)
    return frontend.convert(loaded)
