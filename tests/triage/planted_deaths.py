"""A compiler that dies of ReduceMax and ReduceMin on no numbers; the reference evaluator on everything else."""

import ctypes

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
    enter("run")
    dying = {node.op_type for node in model.graph.node} & {"ReduceMax", "ReduceMin"}
    if dying and any(value.size == 0 for value in dict(job.inputs).values()):
        ctypes.string_at(0)
    evaluator = ReferenceEvaluator(model)
    return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))
