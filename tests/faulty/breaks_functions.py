"""The reference evaluator as a compiler with planted faults around functions.

Where a model has local functions, its floats come out wrong by one: plain models are right. With ``functions=closure``
those are wrong whose text asks for it. Whatever onnx.checker would say, it says nothing.
"""

import numpy as np

PACKAGES = ("onnx",)
KINDS = ("onnx",)
OPTIONS = {"functions": ("none", "closure")}
REWRITES = {"functions": "none"}


def warm():
    import onnx.reference  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    from fuzz.backends._evaluator import Evaluator

    model = onnx.load_from_string(job.model)
    asked = model.graph.doc_string
    rewritten = job.options.get("functions") == "closure" and "fault:rewriting;" in asked
    wrong = bool(model.functions) or rewritten or "fault:always;" in asked
    enter("run")
    evaluator = Evaluator(model)
    found = zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True)
    return [(name, value + 1 if wrong and value.dtype == np.float32 else value) for name, value in found]
