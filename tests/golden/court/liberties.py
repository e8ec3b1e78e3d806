"""A compiler that is right: the reference evaluator with one liberty, chosen by the option `fault`.

Whatever it computes otherwise than the reference, no maintainer would call a bug. It was written without a look at
`data/calibration/honest.py`'s use of the court's rules, as an adversary would write it.
"""

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
LIBERTIES = {}
MADE = {}

ROUNDED = {
    "Acos",
    "Add",
    "Asin",
    "Atan",
    "Cos",
    "Cosh",
    "Det",
    "Div",
    "Erf",
    "Exp",
    "Log",
    "MatMul",
    "Mul",
    "Pow",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Softmax",
    "Sqrt",
    "Sub",
    "Tan",
    "Tanh",
    "DynamicQuantizeLinear",
}


def liberty(*operators):
    def note(function):
        LIBERTIES.setdefault(function.__name__, {}).update(dict.fromkeys(operators, function))
        return function

    return note


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    evaluator = ReferenceEvaluator(onnx.load_from_string(job.model))
    taken = LIBERTIES[job.options.get("fault", "ulp")]
    for node in evaluator.rt_nodes_:
        if node.op_type in taken:
            take(node, taken[node.op_type])
    enter("run")
    with np.errstate(all="ignore"):
        return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs)), strict=True))


def take(node, other):
    plain = node.run

    def run(*inputs, **context):
        return tuple(other(node, lambda *given: plain(*given, **context), *inputs))

    node.run = run


def nudged(values, way):
    return [
        np.asarray(np.nextafter(v, v.dtype.type(way)), v.dtype)
        if getattr(v, "dtype", None) in (np.float32, np.float16)
        else v
        for v in values
    ]


@liberty(*ROUNDED)
def ulp(node, plain, *inputs):
    if node.op_type == "DynamicQuantizeLinear":
        return plain(*nudged(inputs, np.inf))
    return nudged(plain(*inputs), np.inf)


@liberty(*ROUNDED)
def ulp_down(node, plain, *inputs):
    return nudged(plain(*inputs), -np.inf)


@liberty(*ROUNDED)
def ulp_random(node, plain, *inputs):
    """Up or down by one unit, element by element, but the same in every run."""
    found = []
    for value in plain(*inputs):
        ways = np.random.default_rng(sum(map(ord, node.output[0]))).integers(0, 3, np.shape(value)) - 1
        up, down = nudged([value], np.inf)[0], nudged([value], -np.inf)[0]
        found.append(np.where(ways > 0, up, np.where(ways < 0, down, value)).astype(value.dtype))
    return found


@liberty("Div")
def reciprocal(node, plain, a, b):
    return [a * (a.dtype.type(1) / b)]


def quantised_by_reciprocal(node, plain, x, scale, zero):
    found = np.rint(x * (np.float32(1) / scale)) + zero.astype(np.float32)
    info = np.iinfo(zero.dtype)
    return [np.clip(found, info.min, info.max).astype(zero.dtype)]


LIBERTIES["reciprocal"]["QuantizeLinear"] = quantised_by_reciprocal


@liberty("Mul")
def positive_zero(node, plain, a, b):
    return [np.where((a == 0) | (b == 0), np.float32(0), a * b)]


@liberty("Mul", "Div", "Log", "Add", "Sub")
def flush(node, plain, *inputs):
    return [flushed(value) for value in plain(*map(flushed, inputs))]


def flushed(value):
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.float32(0), value)


@liberty("ReduceSum", "ReduceMean")
def loop_sum(node, plain, x, *rest):
    total = np.cumsum(x.ravel(), dtype=x.dtype)[-1]
    return [np.asarray(total / x.dtype.type(x.size) if node.op_type == "ReduceMean" else total, x.dtype)]


@liberty("MatMul")
def loop_product(node, plain, a, b):
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = (total + a[:, k : k + 1] * b[k : k + 1]).astype(a.dtype)
    return [total]


@liberty("ReduceProd")
def reversed_product(node, plain, x, *rest):
    return [np.asarray(np.cumprod(x.ravel()[::-1])[-1], x.dtype)]


def normalised(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True, dtype=x.dtype)
    variance = (x * x).mean(axis=axes, keepdims=True, dtype=x.dtype) - mean * mean
    return (x - mean) / np.sqrt(np.maximum(variance, 0) + x.dtype.type(epsilon))


@liberty("LayerNormalization")
def naive_variance(node, plain, x, scale, *bias):
    return [normalised(x, (-1,), node.epsilon) * scale]


def naive_instance(node, plain, x, scale, bias):
    shape = [-1, *[1] * (x.ndim - 2)]
    return [normalised(x, tuple(range(2, x.ndim)), node.epsilon) * scale.reshape(shape) + bias.reshape(shape)]


LIBERTIES["naive_variance"]["InstanceNormalization"] = naive_instance


@liberty("BatchNormalization")
def folded(node, plain, x, scale, bias, mean, variance):
    shape = [-1, *[1] * (x.ndim - 2)]
    factor = (scale / np.sqrt(variance + np.float32(node.epsilon))).astype(x.dtype)
    return [x * factor.reshape(shape) + (bias - mean * factor).reshape(shape)]


@liberty("Sin", "Cos", "Tan")
def short_range(node, plain, x):
    turns = np.rint(x * np.float32(0.5 / np.pi))
    return plain((x - turns * np.float32(2 * np.pi)).astype(x.dtype))


@liberty("Add", "Sub")
def reassociate(node, plain, a, b):
    """x + c - c is x."""
    if node.op_type == "Sub" and node.input[0] in MADE and MADE[node.input[0]][1] == node.input[1]:
        return [MADE[node.input[0]][0]]
    MADE[node.output[0]] = (a, node.input[1])
    return plain(a, b)


@liberty("Softmax", "Log")
def fused_log_softmax(node, plain, x):
    if node.op_type == "Log":
        x = MADE[node.input[0]]
        shifted = x - x.max(axis=-1, keepdims=True)
        return [shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))]
    MADE[node.output[0]] = x
    return plain(x)


@liberty("Exp")
def powers_of_two(node, plain, x):
    found = np.exp2(x * np.float32(1.442695))
    return [np.where(found > np.finfo(np.float32).max / 1.01, np.float32(np.inf), found)]


@liberty("Pow")
def by_exponential(node, plain, a, b):
    return [np.exp(b * np.log(a)).astype(a.dtype)]


@liberty("ReduceL2")
def scaled_norm(node, plain, x, *rest):
    most = np.abs(x).max()
    return [np.asarray(most * np.sqrt(((x / most) ** 2).sum()), x.dtype)]


@liberty("TopK")
def unsorted_topk(node, plain, x, k):
    values, places = plain(x, k)
    return [values[::-1].copy(), places[::-1].copy()]


@liberty("ScatterElements", "ScatterND")
def reversed_scatter(node, plain, x, indices, updates):
    return plain(x, indices[::-1].copy(), updates[::-1].copy())


@liberty("MaxPool")
def last_index(node, plain, x):
    """Of windows of 2 by 2 without overlap."""
    values, places = plain(x)
    return [values, places + x.shape[-1] + 1]


@liberty("NonMaxSuppression")
def last_box(node, plain, boxes, scores, *rest):
    found = plain(boxes[:, ::-1].copy(), scores[..., ::-1].copy(), *rest)[0].copy()
    found[:, 2] = boxes.shape[1] - 1 - found[:, 2]
    return [found]


@liberty("NonMaxSuppression")
def ulp_threshold(node, plain, boxes, scores, most, threshold):
    return plain(boxes, scores, most, np.nextafter(np.float32(threshold), np.float32(0)))


@liberty("GridSample")
def half_up(node, plain, x, grid):
    size = np.array([x.shape[3], x.shape[2]], np.float32)
    place = np.floor((grid + 1) / 2 * (size - 1) + np.float32(0.5)).astype(int)
    return [x[:, :, place[0, ..., 1], place[0, ..., 0]]]


OPTIONS = {"fault": tuple(LIBERTIES)}
