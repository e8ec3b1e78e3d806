"""A compiler that is right: the reference evaluator with the liberties that real compilers take.

For the calibration of the court and its tests. Whatever it computes otherwise than the reference is no bug:
plain loops for sums, reciprocals for divisions, exponentials by powers of two, short range reduction,
folded batch normalisation, a variance as E[x^2] - E[x]^2, subnormal numbers as zeros, ties broken from the
end, float16 sums in float16.
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
    evaluator = ReferenceEvaluator(onnx.load_from_string(job.model))
    for node in evaluator.rt_nodes_:
        take_liberties(node)
    enter("run")
    with np.errstate(all="ignore"):
        return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))


def take_liberties(node):
    plain, other = node.run, LIBERTIES.get(node.op_type)

    def run(*inputs, **context):
        inputs = [flushed(value) for value in inputs]
        found = other(node, *inputs) if other else None
        if found is None:
            found = plain(*inputs, **context)
        return tuple(map(flushed, (found,) if isinstance(found, np.ndarray) else found))

    node.run = run


def flushed(value):
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.float32(0), value)
    return value


def loop_sum(node, x, axes=None):
    """All axes at once, one element after another; None leaves the rest to the reference."""
    if axes is not None or getattr(node, "axes", None) is not None:
        return None
    total = np.cumsum(x.ravel(), dtype=x.dtype)[-1]
    return np.asarray(total, x.dtype).reshape([1] * x.ndim if node.keepdims else [])


def loop_mean(node, x, axes=None):
    total = loop_sum(node, x, axes)
    return None if total is None else (total / x.dtype.type(x.size)).astype(x.dtype)


def loop_product(node, a, b):
    if a.ndim != 2 or b.ndim != 2:
        return None
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = (total + a[:, k : k + 1] * b[k : k + 1]).astype(a.dtype)
    return total


def by_reciprocal(node, a, b):
    return (a * (a.dtype.type(1) / b)).astype(a.dtype) if a.dtype.kind == "f" else None


def by_powers_of_two(node, x):
    found = np.exp2((x * x.dtype.type(1.4426950408889634)).astype(x.dtype))
    return np.where(found > np.finfo(x.dtype).max / 1.5, x.dtype.type(np.inf), found).astype(x.dtype)


def softmax(node, x):
    shifted = x - x.max(axis=node.axis, keepdims=True)
    powers = by_powers_of_two(node, shifted)
    return (powers / powers.sum(axis=node.axis, keepdims=True)).astype(x.dtype)


def reduced_range(function):
    def compute(node, x):
        turns = np.rint(x * x.dtype.type(0.5 / np.pi)).astype(x.dtype)
        return function((x - turns * x.dtype.type(2 * np.pi)).astype(x.dtype))

    return compute


def power(node, a, b):
    if a.dtype.kind != "f" or np.any(a <= 0):
        return None
    return np.exp2(b * np.log2(a)).astype(a.dtype)


def rational(function, error):
    """An approximation with a relative error, as of a rational function."""

    def compute(node, x):
        return (function(x.astype(np.float64)) * (1 + error * np.cos(40.0 * x))).astype(x.dtype)

    return compute


def normalised(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True, dtype=x.dtype)
    variance = (x * x).mean(axis=axes, keepdims=True, dtype=x.dtype) - mean * mean
    return ((x - mean) / np.sqrt(np.maximum(variance, 0) + x.dtype.type(epsilon))).astype(x.dtype)


def layer_norm(node, x, scale, bias=None):
    axis = -1 if node.axis is None else node.axis
    found = normalised(x, tuple(range(axis % x.ndim, x.ndim)), node.epsilon or 1e-5) * scale
    return ((found + bias) if bias is not None else found).astype(x.dtype) if len(node.output) == 1 else None


def instance_norm(node, x, scale, bias):
    shape = [-1, *[1] * (x.ndim - 2)]
    found = normalised(x, tuple(range(2, x.ndim)), node.epsilon or 1e-5)
    return (found * scale.reshape(shape) + bias.reshape(shape)).astype(x.dtype)


def folded_batch_norm(node, x, scale, bias, mean, variance):
    if len(node.output) > 1:
        return None
    shape = [-1, *[1] * (x.ndim - 2)]
    factor = (scale / np.sqrt(variance + scale.dtype.type(node.epsilon or 1e-5))).astype(x.dtype)
    return (x * factor.reshape(shape) + (bias - mean * factor).astype(x.dtype).reshape(shape)).astype(x.dtype)


def from_the_end(choose):
    def compute(node, x):
        axis = node.axis % x.ndim
        found = (x.shape[axis] - 1 - choose(np.flip(x, axis), axis=axis)).astype(np.int64)
        return np.expand_dims(found, axis) if node.keepdims else found

    return compute


def top_from_the_end(node, x, k):
    axis = node.axis % x.ndim
    if not node.largest:
        return None
    order = np.flip(np.argsort(x, axis=axis, kind="stable"), axis).take(range(int(np.ravel(k)[0])), axis=axis)
    return np.take_along_axis(x, order, axis), order.astype(np.int64)


def erf(x):
    from math import erf as exact

    return np.vectorize(exact, otypes=[np.float64])(x)


LIBERTIES = {
    "ArgMax": from_the_end(np.argmax),
    "ArgMin": from_the_end(np.argmin),
    "BatchNormalization": folded_batch_norm,
    "Cos": reduced_range(np.cos),
    "Div": by_reciprocal,
    "Erf": rational(erf, 3e-6),
    "Exp": by_powers_of_two,
    "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm,
    "MatMul": loop_product,
    "Pow": power,
    "ReduceMean": loop_mean,
    "ReduceSum": loop_sum,
    "Sin": reduced_range(np.sin),
    "Softmax": softmax,
    "Tan": reduced_range(np.tan),
    "Tanh": rational(np.tanh, 2e-5),
    "TopK": top_from_the_end,
}
