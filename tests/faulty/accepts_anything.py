"""A compiler that takes every model and says nothing, unless it is broken in its data types: that it refuses."""

import numpy as np

PACKAGES = ("onnx",)
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    import onnx  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    model = onnx.load_from_string(job.model)
    enter("convert")
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        if "unsupported type" in str(error):
            raise ValueError("this data type cannot be used here") from error
        enter("run")
        return [(output.name, np.zeros(1, np.float32)) for output in model.graph.output]
    from fuzz.backends._evaluator import Evaluator

    enter("run")
    evaluator = Evaluator(model)
    return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))
