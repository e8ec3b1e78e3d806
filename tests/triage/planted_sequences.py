"""A compiler that takes a sequence of passes: two of them break Sinh, each in its own way."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"sequence": ("none", "*")}
REWRITES = {"sequence": "none"}


def warm():
    import onnx.reference.ops.op_sinh  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    model = onnx.load_from_string(job.model)
    operators = [node.op_type for node in model.graph.node]
    evaluator = ReferenceEvaluator(model)
    enter("run")
    found = dict(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))
    passes = job.options.get("sequence", "none").split(",")
    off = 1 if "BreakLate" in passes else 1000 if "BreakEarly" in passes and "Tidy" in passes else 0
    if "Sinh" in operators and off:
        found = {name: value + off for name, value in found.items()}
    return list(found.items())


def converters(operators):
    return ["" for _ in operators]
