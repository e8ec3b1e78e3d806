"""A compiler with one operator wrong by a little: the reference evaluator with a fault, chosen by the option `fault`."""

import ctypes
import os
import signal
import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
FAULTS = {}


def fault(*operators):
    def note(function):
        FAULTS[function.__name__] = (operators, function)
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
    operators, wrong = FAULTS[job.options["fault"]]
    for node in evaluator.rt_nodes_:
        if node.op_type in operators:
            break_(node, wrong)
    enter("run")
    with np.errstate(all="ignore"):
        found = evaluator.run(None, dict(job.inputs))
    if not operators:
        found = [wrong(np.array(value)) for value in found[:1]] + found[1:]
    return list(zip(evaluator.output_names, found, strict=True))


def break_(node, wrong):
    plain = node.run

    def run(*inputs, **context):
        results = wrong(node, lambda *given, **other: plain(*given, **{**context, **other}), *inputs)
        return tuple(np.asarray(r) for r in results)

    node.run = run


# ---------------------------------------------------------------- attributes


def with_attribute(operator, name, value, called):
    def wrong(node, plain, *inputs):
        kept = getattr(node, name)
        setattr(node, name, value)
        try:
            return plain(*inputs)
        finally:
            setattr(node, name, kept)

    FAULTS[called] = ((operator,), wrong)


for each in (
    ("LayerNormalization", "epsilon", 0.0, "layernorm_no_epsilon"),
    ("BatchNormalization", "epsilon", 1e-5, "batchnorm_default_epsilon"),
    ("InstanceNormalization", "epsilon", 1e-5, "instancenorm_default_epsilon"),
    ("LeakyRelu", "alpha", 0.01, "leakyrelu_default_alpha"),
    ("Elu", "alpha", 1.0, "elu_default_alpha"),
    ("Celu", "alpha", 1.0, "celu_default_alpha"),
    ("Selu", "gamma", 1.047, "selu_short_gamma"),
    ("HardSigmoid", "alpha", 1 / 6, "hardsigmoid_alpha"),
    ("Gemm", "alpha", 1.0, "gemm_no_alpha"),
    ("Gemm", "beta", 1.0, "gemm_no_beta"),
    ("LRN", "bias", 1.0, "lrn_default_bias"),
    ("LRN", "size", 3, "lrn_size"),
    ("GridSample", "align_corners", 0, "gridsample_no_align"),
    ("AveragePool", "count_include_pad", 0, "averagepool_no_pad"),
    ("Resize", "cubic_coeff_a", -0.5, "resize_cubic_coefficient"),
    ("GRU", "linear_before_reset", 0, "gru_reset"),
    ("Mod", "fmod", 1, "mod_as_in_c"),
    ("Trilu", "upper", 0, "trilu_lower"),
):
    with_attribute(*each)

# ---------------------------------------------------------------- approximations and constants


def function(operator, called, compute):
    FAULTS[called] = ((operator,), lambda node, plain, x, *rest: [compute(x, *rest).astype(x.dtype)])


function("Softplus", "softplus_threshold", lambda x: np.where(x > 5, x, np.log1p(np.exp(np.minimum(x, 5)))))
function("Sigmoid", "sigmoid_steps", lambda x: np.round(1 / (1 + np.exp(-x)) * 128) / 128)
function("Tanh", "tanh_clamped", lambda x: np.where(np.abs(x) > 2.5, np.sign(x), np.tanh(x)))
function("Exp", "exp_short", lambda x: np.exp(x) * (1 + 3e-3 * np.sin(20 * x)))
function("Sin", "sin_short", lambda x: np.sin(x) + 2.5e-3 * np.cos(7 * x))
function("Log", "log_short", lambda x: np.log(x) + 2.5e-3 * np.cos(7 * x))
function("ThresholdedRelu", "thresholded_at", lambda x: np.where(x >= 1, x, 0))
function("Round", "round_half_away", lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5))
function("Floor", "floor_truncates", np.trunc)
function("Sign", "sign_of_small", lambda x: np.where(np.abs(x) < 5e-3, 0, np.sign(x)))
function("Clip", "clip_short", lambda x, low, high: np.clip(x, low, high * 0.9975))
function("Sqrt", "sqrt_no_nan", lambda x: np.nan_to_num(np.sqrt(x), nan=0.0))
function("Add", "add_no_nan", lambda a, b: np.nan_to_num(a + b, nan=0.0))
FAULTS["greater_or_equal"] = (("Greater",), lambda node, plain, a, b: [np.greater_equal(a, b)])
FAULTS["less_or_equal"] = (("Less",), lambda node, plain, a, b: [np.less_equal(a, b)])
FAULTS["cast_rounds"] = (("Cast",), lambda node, plain, x: plain(np.rint(x)))
FAULTS["cast_up"] = (("Cast",), lambda node, plain, x: [plain(x)[0] + (np.arange(x.size).reshape(x.shape) == 1)])
FAULTS["div_floors"] = (("Div",), lambda node, plain, a, b: [np.floor_divide(a, b)])
FAULTS["scatter_loses"] = (("ScatterElements",), lambda node, plain, x, i, u: plain(x, i, u, reduction="none"))

# ---------------------------------------------------------------- sums


@fault("MatMul")
def matmul_tail(node, plain, a, b):
    """The last row of a block that is not full is left out."""
    return plain(a[..., :-1], b[..., :-1, :])


@fault("MatMul")
def matmul_half(node, plain, a, b):
    """Accumulated in float16."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1].astype(np.float16) * b[k : k + 1].astype(np.float16)
    return [total.astype(a.dtype)]


def short(x):
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


@fault("MatMul")
def matmul_bfloat16(node, plain, a, b):
    return plain(short(a), short(b))


@fault("ReduceSum")
def sum_tail(node, plain, x, *rest):
    return [np.asarray(x.ravel()[:-8].sum(dtype=np.float64), x.dtype)]


@fault("ReduceMean")
def mean_less_one(node, plain, x, *rest):
    return [np.asarray(x.sum(dtype=np.float64) / (x.size - 1), x.dtype)]


@fault("LayerNormalization")
def layernorm_unbiased(node, plain, x, scale, *bias):
    return [(y * np.sqrt((x.shape[-1] - 1) / x.shape[-1])).astype(x.dtype) for y in plain(x, scale, *bias)[:1]]


@fault("Softmax")
def softmax_tail(node, plain, x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return [powers / powers[..., :-1].sum(axis=-1, keepdims=True)]


@fault("GlobalAveragePool")
def pool_tail(node, plain, x):
    flat = x.reshape(*x.shape[:2], -1)
    return [flat[..., :-1].mean(axis=-1).reshape(*x.shape[:2], 1, 1).astype(x.dtype)]


@fault("CumSum")
def cumsum_restarts(node, plain, x, axis):
    found = plain(x, axis)[0].copy()
    found[-1] -= x[0]
    return [found]


@fault("Conv")
def conv_border(node, plain, x, w, *bias):
    """The padding repeats the last column instead of being zero: seen in the last column alone."""
    found = plain(x, w, *bias)[0].copy()
    found[..., -1] += 0.02 * x[:, :1, :, -1]
    return [found]


@fault("MaxPool")
def maxpool_zero_padding(node, plain, x, *rest):
    found = plain(x, *rest)[0].copy()
    found[..., 0] = np.maximum(found[..., 0], 0)
    return [found]


# ---------------------------------------------------------------- quantisation


@fault("QuantizeLinear")
def quantize_half_away(node, plain, x, scale, zero):
    q = x / scale
    found = np.sign(q) * np.floor(np.abs(q) + 0.5) + zero
    return [np.clip(found, 0, 255).astype(np.uint8)]


@fault("QuantizeLinear")
def quantize_wraps(node, plain, x, scale, zero):
    return [(np.rint(x / scale).astype(np.int64) + zero).astype(np.uint8)]


@fault("DequantizeLinear")
def dequantize_off(node, plain, x, scale, zero):
    return [((x.astype(np.float32) - zero - 1) * scale).astype(np.float32)]


@fault("QLinearMatMul")
def qlinear_truncates(node, plain, a, sa, za, b, sb, zb, sy, zy):
    found = (a.astype(np.int32) - za) @ (b.astype(np.int32) - zb) * (sa * sb / sy) + zy
    return [np.clip(np.floor(found), 0, 255).astype(np.uint8)]


@fault("MatMulInteger")
def matmulinteger_zero(node, plain, a, b, za, zb):
    return plain(a, b, za)


# ---------------------------------------------------------------- outputs


@fault()
def last_element(value):
    flat = value.ravel()
    flat[-1] = flat[-1] + np.asarray(2.5e-3 * max(1, abs(flat[-1]))).astype(value.dtype)
    return flat.reshape(value.shape)


def off(share):
    """The first element beside the middle is off by a share of the tolerance, 1e-3 + 1e-3 |value|."""

    def wrong(value):
        flat = value.ravel()
        at = flat.size // 2
        flat[at] = flat[at] + np.asarray(share * 1e-3 * (1 + abs(float(flat[at])))).astype(value.dtype)
        return flat.reshape(value.shape)

    return wrong


FAULTS["just_beyond"] = ((), off(1.15))
#: Within the sum of the two terms, beyond the larger of them: only the court looks there.
FAULTS["just_within"] = ((), off(0.9))


@fault()
def last_element_more(value):
    flat = value.ravel()
    flat[-1] = flat[-1] + np.asarray(0.02 * max(1, abs(flat[-1]))).astype(value.dtype)
    return flat.reshape(value.shape)


@fault()
def one_more(value):
    flat = value.ravel()
    flat[1] = ~flat[1] if value.dtype == bool else flat[1] + 1
    return flat.reshape(value.shape)


@fault()
def relative(value):
    """The third element is 1 percent too large, however small it is."""
    flat = value.ravel()
    flat[2] = flat[2] * value.dtype.type(1.01)
    return flat.reshape(value.shape)


@fault()
def negative_lane(value):
    flat = value.ravel()
    flat[3] = -flat[3]
    return flat.reshape(value.shape)


@fault()
def infinite(value):
    flat = value.ravel()
    flat[1] = np.inf
    return flat.reshape(value.shape)


@fault()
def more_dimensions(value):
    return value[None]


@fault()
def more_bits(value):
    return value.astype(np.float64)


@fault()
def segfault(value):
    ctypes.string_at(0)


@fault()
def abort(value):
    os.kill(os.getpid(), signal.SIGABRT)


@fault()
def raises(value):
    raise RuntimeError("Check failed: (lanes == 4) is false: internal invariant violated")


@fault()
def hangs(value):
    time.sleep(600)


OPTIONS = {"fault": tuple(FAULTS)}
