"""A compiler with planted types: the reference evaluator, but int64 comes out as int32 and bool as int8."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}

NARROWER = {"int64": "int32", "bool": "int8"}


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    evaluator = ReferenceEvaluator(onnx.load_from_string(job.model))
    enter("run")
    found = evaluator.run(None, dict(job.inputs))
    narrow = [value.astype(NARROWER.get(value.dtype.name, value.dtype.name)) for value in found]
    return list(zip(evaluator.output_names, narrow, strict=True))
