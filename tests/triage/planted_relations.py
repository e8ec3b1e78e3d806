"""A compiler whose faults lie in how inputs stand to each other: the reference evaluator on another model.

Pow refuses inputs of two types, Tile gives zeros for more than three dimensions, RMSNormalization cannot begin with the
first axis, Resize knows no axes and takes the first for the batch, MaxPool knows no strides and ConstantOfShape no
scalars, Unique no rows, ThresholdedRelu lets its threshold through, Greater holds for equal numbers, and DFT never
looks at its axis. GatherElements knows no negative indices but along the first axis of three rows of three. RNN must
be told its hidden_size, and takes no batches; AveragePool must be told strides and pads. BatchNormalization wants
constants, and more dimensions than one. Softmax has two faults: zeros along a second axis of many dimensions, and ones
along the last axis, whatever the dimensions, if one has a size of three.
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
    given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    arrays = {**{one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}, **dict(job.inputs)}
    read = [arrays[name] for name in node.input if name]
    refuse(node.op_type, given, read)
    if node.op_type == "BatchNormalization" and not set(node.input[1:]).isdisjoint(dict(job.inputs)):
        raise ValueError("The parameters must be constants.")
    if node.op_type == "DFT":
        node.input[:] = [*[*node.input, ""][:2], "first_axis"]
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(1), "first_axis"))
    if node.op_type == "Resize" and len(node.input) == 3:
        kept = arrays[node.input[2]].copy()
        kept[0] = 1
        node.input[2] = "kept"
        model.graph.initializer.append(onnx.numpy_helper.from_array(kept, "kept"))
        model.graph.output[0].type.tensor_type.ClearField("shape")
    enter("run")
    evaluator = ReferenceEvaluator(model)
    found = evaluator.run(None, dict(job.inputs))
    if node.op_type == "Tile" and read[0].ndim > 3:
        found = [np.zeros_like(found[0])]
    if node.op_type == "Softmax" and "axis" in given and read[0].ndim > 3:
        found = [np.zeros_like(found[0])]
    if node.op_type == "Softmax" and "axis" not in given and 3 in read[0].shape:
        found = [np.ones_like(found[0])]
    if node.op_type == "BatchNormalization" and read[0].ndim < 2:
        raise KeyError("There are no channels.")
    if node.op_type == "ThresholdedRelu":
        found = [np.where(read[0] >= np.float32(given.get("alpha", 1.0)), read[0], found[0])]
    if node.op_type == "Greater":
        found = [read[0] >= read[1]]
    return list(zip(evaluator.output_names, found, strict=True))


def refuse(op_type, given, read):
    if op_type == "Pow" and read[0].dtype != read[1].dtype:
        raise TypeError("Both operands must have the same datatype.")
    if op_type == "RMSNormalization" and given.get("axis", -1) % read[0].ndim == 0:
        raise ValueError("Nothing is left to loop over.")
    if op_type == "Resize" and "axes" in given:
        raise ValueError("The sizes must be those of all axes.")
    if op_type == "ConstantOfShape" and not read[0].size:
        raise ValueError("The shape must have at least one dimension.")
    if op_type == "RNN" and ("hidden_size" not in given or read[0].shape[1] > 1):
        raise ValueError("No sizes are left.") if "hidden_size" not in given else KeyError("A batch is none.")
    if op_type == "AveragePool" and not {"strides", "pads"} <= given.keys():
        raise ValueError("There is nothing to step by.")
    if op_type == "GatherElements" and (read[1] < 0).any() and (given.get("axis", 0) or read[0].shape != (3, 3)):
        raise ValueError("An index is out of range.")
    if op_type == "Unique" and read[0].ndim > 1:
        raise ValueError("The shapes do not match.")
    if op_type == "MaxPool" and max(given.get("strides", [1])) > 1:
        raise ValueError("Windows must not be skipped.")
