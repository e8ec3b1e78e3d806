"""A compiler with planted mistakes about attributes: the reference evaluator, on a model that is not quite the given.

LeakyRelu takes 1 - alpha for alpha, Softmax and its kin do not look at the axis, ArgMax looks at select_last_index only
where there are more than two elements, LayerNormalization gives zeros for what it computes on the way, Elu is three
times too large between -2 and 0, Selu is always zero, Sub gives its first input, and Reciprocal is refused.
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
    node = model.graph.node[0]
    if node.op_type in ("Softmax", "LogSoftmax", "Hardmax"):
        drop(node, "axis")
    elif node.op_type == "ArgMax" and all(value.size < 3 for value in job.inputs.values()):
        drop(node, "select_last_index")
    elif node.op_type == "Reciprocal":
        raise RuntimeError("the reciprocal of anything but a constant is refused")
    elif node.op_type == "LeakyRelu":
        for attribute in node.attribute:
            attribute.f = 1 - attribute.f
    enter("run")
    evaluator = ReferenceEvaluator(model)
    found = evaluator.run(None, dict(job.inputs))
    if node.op_type == "LayerNormalization":
        inner = set(node.output[1:])
        found = [np.zeros_like(v) if n in inner else v for n, v in zip(evaluator.output_names, found, strict=True)]
    if node.op_type == "Elu":
        given = next(iter(job.inputs.values()))
        found = [np.where((given < 0) & (given > -2), 3 * found[0], found[0])]
    if node.op_type == "Sub":
        found = [job.inputs[node.input[0]]]
    if node.op_type == "Selu":
        found = [np.zeros_like(found[0])]
    return list(zip(evaluator.output_names, found, strict=True))


def drop(node, name):
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
