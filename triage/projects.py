"""The names of the projects as they write them."""

from __future__ import annotations

_NAMES = {
    "tvm": "TVM",
    "openvino": "OpenVINO",
    "onnxruntime": "ONNX Runtime",
    "inductor": "torch.compile (inductor)",
    "tensorrt": "TensorRT",
    "reference": "the ONNX reference evaluator",
}


def project(backend: str) -> str:
    """How the project behind a backend is called; the backend's own name for one that is not listed."""
    return _NAMES.get(backend, backend)
