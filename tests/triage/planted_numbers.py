"""A compiler with faults that certain numbers and types show: the reference evaluator on another model.

No input may be a sequence, DequantizeLinear is not known, EyeLike wants the type of its input, OneHot a depth of
integers, Pow floats alone, and Bernoulli its seed. QuantizeLinear wants its zero point and rounds halves up, ReduceMax
begins with the lowest finite number, a Cast to float8e4m3fn never saturates, Expand takes the shape for that of the
result, Neg is wrong beyond three dimensions, and Resize knows no axes but all, and gives zeros where a scaled size is
no whole number. Tanh is a half everywhere, Sin off by one, Relu 99 at most.
"""

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}

SPOILED = {
    "Tanh": lambda value: value * 0 + 0.5,
    "Sin": lambda value: value + 1,
    "Relu": lambda value: value.clip(max=99),
}


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
    if any(isinstance(value, list) for value in dict(job.inputs).values()):
        raise TypeError("A sequence is no input.")
    if node.op_type == "Expand":
        node.input[0] = "first"
        cut = read[0][tuple(slice(1 if size == 1 else None) for size in read[1][-read[0].ndim :])]
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ascontiguousarray(cut), "first"))
        model.graph.output[0].type.tensor_type.ClearField("shape")
    enter("run")
    found = ReferenceEvaluator(model).run(None, dict(job.inputs))
    return [(info.name, spoiled(node, given, read, found[0])) for info in model.graph.output]


def refuse(operator, given, read):
    import onnx

    if (
        operator == "EyeLike"
        and "dtype" in given
        and given["dtype"] != onnx.helper.np_dtype_to_tensor_dtype(read[0].dtype)
    ):
        raise ValueError("The two types differ.")
    if operator == "DequantizeLinear":
        raise ValueError("There are no blocks.")
    if operator == "QuantizeLinear" and len(read) < 3:
        raise ValueError("There is no zero point.")
    if operator == "OneHot" and read[1].dtype.kind == "f":
        raise TypeError("The depth is no integer.")
    if operator == "Resize" and len(given.get("axes", ())) not in (0, read[0].ndim):
        raise ValueError("These are not all axes.")
    if operator == "Pow" and read[0].dtype.kind == "i":
        raise TypeError("Only floats have powers.")
    if operator == "Bernoulli" and "seed" not in given:
        raise KeyError("seed")


def spoiled(node, given, read, right):
    if node.op_type == "QuantizeLinear":
        return (np.floor(read[0] / read[1] + 0.5) + read[2]).astype(right.dtype) if not read[1].ndim else right
    if node.op_type == "ReduceMax":
        return np.where(np.isneginf(right), np.finfo(right.dtype).min, right).astype(right.dtype)
    if node.op_type == "Cast" and right.dtype.name == "float8_e4m3fn":
        return np.where(np.abs(read[0]) > 448, np.nan, read[0]).astype(right.dtype)
    if node.op_type == "Neg" and right.ndim > 3:
        return right + 1
    if node.op_type == "Resize" and "axes" not in given and ((np.array(read[0].shape) * read[1]) % 1 > 1e-5).any():
        return np.zeros_like(right)
    return SPOILED.get(node.op_type, lambda value: value)(right)
