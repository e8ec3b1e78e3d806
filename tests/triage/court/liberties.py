"""A compiler that is right, and takes one liberty at a time (option `how`): in arithmetic, or where words are silent.

For the tests of the court; ``data/calibration/honest.py`` takes others.
"""

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
LIBERTIES = {}
F = np.float32


def liberty(operator):
    def known(function):
        LIBERTIES[function.__name__] = (operator, function)
        return function

    return known


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    from fuzz.backends._evaluator import Evaluator

    enter("convert")
    evaluator = Evaluator(onnx.load_from_string(job.model))
    operator, function = LIBERTIES[job.options["how"]]
    for node in evaluator.rt_nodes_:
        if node.op_type == operator:
            node.run = taken(node, function)
    enter("run")
    with np.errstate(all="ignore"):
        return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))


def taken(node, function):
    return lambda *inputs, **context: (function(node, *inputs),)


@liberty("Sigmoid")
def sigmoid_by_tanh(node, x):
    return (F(0.5) + F(0.5) * np.tanh(F(0.5) * x)).astype(x.dtype)


@liberty("Softplus")
def softplus_by_log(node, x):
    return np.log(F(1) + np.exp(x)).astype(x.dtype)


@liberty("ReduceLogSumExp")
def logarithm_of_a_sum(node, x, *axes):
    return np.log(np.exp(x).sum(keepdims=True)).astype(x.dtype)


@liberty("LayerNormalization")
def scaled_first(node, x, scale):
    y = x / np.abs(x).max(axis=-1, keepdims=True)
    return ((y - y.mean(axis=-1, keepdims=True)) / y.std(axis=-1, keepdims=True) * scale).astype(x.dtype)


@liberty("Mean")
def shares_added(node, *inputs):
    return sum(each / F(len(inputs)) for each in inputs).astype(F)


@liberty("Elu")
def elu_by_exp(node, x):
    return np.where(x > 0, x, np.exp(x) - F(1)).astype(x.dtype)


@liberty("Sinh")
def sinh_by_exp(node, x):
    return ((np.exp(x) - np.exp(-x)) / F(2)).astype(x.dtype)


@liberty("Neg")
def zero_less_x(node, x):
    return F(0) - x


@liberty("Mod")
def mod_by_quotient(node, a, b):
    return (a - b * np.trunc((a / b).astype(a.dtype))).astype(a.dtype)


@liberty("ReduceL2")
def scaled_norm(node, x, axes=None):
    largest = np.abs(x).max()
    return np.asarray(largest * np.sqrt(np.sum(np.square(x / largest), dtype=x.dtype))).reshape([1] * x.ndim)


@liberty("ReduceProd")
def product_by_halves(node, x, axes=None):
    half = x.size // 2
    return np.asarray(np.prod(x[:half]) * np.prod(x[half:])).astype(x.dtype).reshape([1] * x.ndim)


@liberty("CumProd")
def running_product_by_halves(node, x, axis):
    half = x.size // 2
    first, second = np.cumprod(x[:half], dtype=x.dtype), np.cumprod(x[half:], dtype=x.dtype)
    return np.concatenate([first, first[-1] * second])


@liberty("LRN")
def sliding_squares(node, x):
    total, squares = np.zeros_like(x[:, 0]), np.square(x)
    found = np.zeros_like(x)
    for channel in range(x.shape[1]):
        total = total + squares[:, channel]
        if channel >= node.size:
            total = total - squares[:, channel - node.size]
        found[:, channel] = total
    return (x / (F(node.bias) + F(node.alpha / node.size) * found) ** F(node.beta)).astype(x.dtype)


@liberty("LpNormalization")
def normalised_by_a_scaled_norm(node, x):
    largest = np.abs(x).max(node.axis, keepdims=True)
    scaled = x / largest
    return scaled / np.sqrt(np.sum(np.square(scaled), axis=node.axis, keepdims=True, dtype=x.dtype))


@liberty("BatchNormalization")
def divided_first(node, x, scale, bias, mean, variance):
    return (x * (scale / np.sqrt(variance + F(node.epsilon))) + bias).astype(x.dtype)


@liberty("Sqrt")
def root_by_a_power(node, x):
    return np.nextafter(np.sqrt(x), np.where(np.arange(x.size) % 2, F(9), F(0)).reshape(x.shape)).astype(x.dtype)


@liberty("BlackmanWindow")
def window_a_little_smaller(node, size):
    n = np.arange(int(size), dtype=F) / F(int(size) - 1)
    found = F(0.42) - F(0.5) * np.cos(2 * F(np.pi) * n) + F(0.08) * np.cos(4 * F(np.pi) * n)
    return np.minimum(found, F(1) - F(2**-24)).astype(F)


@liberty("LayerNormalization")
def normalised_in_float32(node, x, scale):
    wide = x.astype(F)
    deviation = wide - wide.mean(-1, keepdims=True)
    found = deviation / np.sqrt(np.square(deviation).mean(-1, keepdims=True) + F(node.epsilon))
    return found.astype(x.dtype) * scale


@liberty("Softmax")
def softmax_by_the_words(node, x):
    powers = np.exp(x)
    return powers / powers.sum(-1, keepdims=True)


@liberty("Softmax")
def softmax_in_half(node, x):
    powers = np.exp((x - x.max(-1, keepdims=True)).astype(x.dtype)).astype(x.dtype)
    return (powers / np.cumsum(powers, -1, dtype=x.dtype)[..., -1:]).astype(x.dtype)


@liberty("GridSample")
def nearest_half_up(node, x, grid):
    height, width = x.shape[2:]
    rows = np.floor(((grid[0, ..., 1] + 1) * height - 1) / 2 + 0.5).astype(int)
    columns = np.floor(((grid[0, ..., 0] + 1) * width - 1) / 2 + 0.5).astype(int)
    return x[:, :, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]


@liberty("BatchNormalization")
def folded(node, x, scale, bias, mean, variance):
    factor = scale / np.sqrt(variance + F(node.epsilon))
    return (x * factor + (bias - mean * factor)).astype(x.dtype)


@liberty("ScatterElements")
def added_backwards(node, x, indices, updates):
    found = x.copy()
    for at, update in zip(indices[::-1], updates[::-1], strict=True):
        found[at] = found[at] + update
    return found


@liberty("MatMul")
def saturated(node, a, b):
    limits = np.iinfo(a.dtype)
    return np.clip(a.astype(object) @ b.astype(object), limits.min, limits.max).astype(a.dtype)


@liberty("ReduceMean")
def mean_of_wide_sum(node, x, axes=None):
    return np.asarray([int(np.mean(x.astype(np.int64)))], x.dtype)


@liberty("Sign")
def sign_of_nan_is_zero(node, x):
    return ((x > 0) * F(1) - (x < 0) * F(1)).astype(x.dtype)


@liberty("Clip")
def lower_bound_wins(node, x, low, high):
    return np.maximum(np.minimum(x, high), low)


@liberty("Pad")
def mirrored_once(node, x, pads, *rest):
    places = np.abs(np.arange(-int(pads[0]), x.size + int(pads[1])))
    return x[np.clip(np.where(places >= x.size, 2 * (x.size - 1) - places, places), 0, x.size - 1)]


@liberty("Cast")
def eight_digits(node, x):
    return np.asarray([f"{value:.8g}" for value in x.ravel().tolist()], dtype=object).reshape(x.shape)


@liberty("Cast")
def half_away_from_zero(node, x):
    import ml_dtypes

    return np.trunc(x + np.copysign(F(0.5), x)).astype(ml_dtypes.uint4)


OPTIONS = {"how": tuple(LIBERTIES)}
