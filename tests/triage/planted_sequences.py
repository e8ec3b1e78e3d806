"""A compiler that takes a sequence of passes: two of them break Sinh, each in its own way."""

import os

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

    enter("convert")
    model = onnx.load_from_string(job.model)
    enter("run")
    return compute(model, dict(job.inputs), job.options.get("sequence", "none"))


def compute(model, inputs, sequence):
    from onnx.reference import ReferenceEvaluator

    operators = [node.op_type for node in model.graph.node]
    evaluator = ReferenceEvaluator(model)
    found = dict(zip(evaluator.output_names, evaluator.run(None, inputs), strict=True))
    passes = sequence.split(",")
    off = 1 if "BreakLate" in passes else 1000 if "BreakEarly" in passes and "Tidy" in passes else 0
    if "Sinh" in operators and off:
        found = {name: value + off for name, value in found.items()}
    return list(found.items())


def converters(operators):
    return ["" for _ in operators]


def reproduce(kind, options, inputs=(), outputs=()):
    """The lines of a script that uses this compiler: it is this file."""
    return (
        "import runpy\n\n"
        f"planted = runpy.run_path({os.path.abspath(__file__)!r})\n"
        f"[(_, actual)] = planted['compute'](model, inputs, {options.get('sequence', 'none')!r})"
    )
