"""A compiler with passes that can be left out: two are broken, one is behind another, two it cannot do without."""

import os

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"show": ("outputs", "passes", "declared"), "disable": ("none", "*"), "shape": ("right", "wrong", "unknown")}
PASSES = ("Legalize", *(f"Simplify{at}" for at in range(9)), "FuseBroken", "Tidy", "Emit", "Tidy", "FoldBroken")


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    model = onnx.load_from_string(job.model)
    operators = [node.op_type for node in model.graph.node]
    for node in list(model.graph.node):
        if node.op_type == "Asinh":  # a mistake that is noise until an operator behind it magnifies it
            [name] = node.output
            node.output[:] = [name + "_right"]
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(1e-6), name + "_noise"))
            at = list(model.graph.node).index(node) + 1
            model.graph.node.insert(at, onnx.helper.make_node("Add", [name + "_right", name + "_noise"], [name]))
    evaluator = ReferenceEvaluator(model)
    found = dict(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))
    if job.options.get("show") == "declared":
        spelled = {"right": "float32[4]", "wrong": "float32[1,4]", "unknown": "float32[?]"}
        return [("declared", np.array([spelled[job.options.get("shape", "right")]], dtype=object))]
    if job.options.get("shape", "right") != "right":
        found = {name: value.reshape(1, -1) for name, value in found.items()}
    disabled = job.options.get("disable", "none").split(",")
    passes = [name for name in PASSES if name not in disabled]
    if job.options.get("show") == "passes":
        return [("passes", np.array(passes, dtype=object))]
    enter("compile")
    missing = {"Legalize", "Emit"} - set(passes)
    if missing:
        raise RuntimeError(f"cannot compile without {sorted(missing)}")
    enter("run")
    if "Sinh" in operators and "FuseBroken" in passes:
        found = {name: value + 1 for name, value in found.items()}
    if "Tan" in operators and "FoldBroken" in passes:
        os.abort()
    if "Erf" in operators and {"Simplify3", "Tidy"} <= set(passes):  # Tidy is right alone
        found = {name: value + 1 for name, value in found.items()}
    if "Cosh" in operators:  # no pass is to blame
        found = {name: value + 1 for name, value in found.items()}
    return list(found.items())


def converters(operators):
    return [f"convert_{name.lower()}" for _, name, _ in operators]
