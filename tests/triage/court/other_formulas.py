"""The reference evaluator, but for BatchNormalization in training, by the mean of squares, and Det, by cofactors.

For the tests of the court: honest arithmetic in float32, by the formulas of many kernels.
"""

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    enter("convert")
    node = onnx.load_from_string(job.model).graph.node[-1]
    enter("run")
    x = dict(job.inputs)["x"]
    return [("z", normalised(x) if node.op_type == "BatchNormalization" else determinants(x))]


def normalised(x):
    count = np.float32(x.size // x.shape[1])
    mean = x.sum(axis=(0, 2), dtype=np.float32) / count
    variance = (x * x).sum(axis=(0, 2), dtype=np.float32) / count - mean * mean
    return (x - mean[:, None]) / np.sqrt(np.maximum(variance, 0) + np.float32(1e-5))[:, None]


def determinants(x):
    a, b, c = x[..., 0, :], x[..., 1, :], x[..., 2, :]
    minors = [b[..., i] * c[..., j] - b[..., j] * c[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return sum(a[..., at] * minor for at, minor in enumerate(minors)).astype(np.float32)
