"""The reference evaluator, with the last row of the result a little off; exponentials end at that of 88, or of 10.

For the tests of the court.
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
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    model = onnx.load_from_string(job.model)
    operator = model.graph.node[-1].op_type
    enter("run")
    [found] = ReferenceEvaluator(model).run(None, dict(job.inputs))
    if operator == "Exp":
        return [("z", np.minimum(found, np.exp(found.dtype.type(88 if found.dtype == np.float32 else 10))))]
    spoilt = found.copy()
    spoilt[-1:] += spoilt.dtype.type(0.05 if spoilt.dtype == np.float32 else 0.4)
    return [("z", spoilt)]
