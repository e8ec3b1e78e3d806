"""Well-conditioned models on a compiler with a small fault: every one must come out as a compiler bug."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.court.entry import BUG, Entry, f32, i32, i64, model_of, normal, uniform

NAN = float("nan")


def _bug(
    fault: str, why: str, signature: str, body: str, *, name: str = "", opset: int = 20, ir: int = 9, **inputs: Any
) -> Entry:
    return Entry(name or fault, frozenset({BUG}), why, model_of(signature, body, opset, ir), None, inputs, fault)


def attributes() -> Iterator[Entry]:
    x = normal(2, 3, 4)
    one = "(float[2,3,4] x) => (float[2,3,4] y)"
    why = "an attribute is ignored"
    yield _bug(
        "layernorm_no_epsilon",
        why,
        "(float[2,3,4] x, float[4] s) => (float[2,3,4] y)",
        "y = LayerNormalization <epsilon = 0.01> (x, s)",
        x=x,
        s=f32(1, 2, 1, 1),
    )
    yield _bug(
        "batchnorm_default_epsilon",
        why,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y)",
        "y = BatchNormalization <epsilon = 0.01> (x, s, b, m, v)",
        x=x,
        s=f32(1, 1, 2),
        b=f32(0, 1, 0),
        m=f32(0.1, 0.2, 0.3),
        v=f32(1, 2, 0.5),
    )
    yield _bug(
        "instancenorm_default_epsilon",
        why,
        "(float[2,3,4] x, float[3] s, float[3] b) => (float[2,3,4] y)",
        "y = InstanceNormalization <epsilon = 0.01> (x, s, b)",
        x=x,
        s=f32(1, 1, 2),
        b=f32(0, 1, 0),
    )
    yield _bug("leakyrelu_default_alpha", why, one, "y = LeakyRelu <alpha = 0.012> (x)", x=x)
    yield _bug("elu_default_alpha", why, one, "y = Elu <alpha = 1.01> (x)", x=x)
    yield _bug("celu_default_alpha", why, one, "y = Celu <alpha = 1.05> (x)", x=x)
    yield _bug("selu_short_gamma", "a constant with too few digits", one, "y = Selu (x)", x=x + np.float32(3))
    yield _bug("hardsigmoid_alpha", why, one, "y = HardSigmoid <alpha = 0.17> (x)", x=x)
    gemm = "(float[3,4] a, float[4,2] b, float[2] c) => (float[3,2] y)"
    yield _bug(
        "gemm_no_alpha",
        why,
        gemm,
        "y = Gemm <alpha = 0.99> (a, b, c)",
        a=normal(3, 4),
        b=normal(4, 2, seed=1),
        c=f32(1, 2),
    )
    yield _bug(
        "gemm_no_beta",
        why,
        gemm,
        "y = Gemm <beta = 0.99> (a, b, c)",
        a=normal(3, 4),
        b=normal(4, 2, seed=1),
        c=f32(1, 2),
    )
    image = normal(1, 6, 3, 3)
    yield _bug(
        "lrn_default_bias",
        why,
        "(float[1,6,3,3] x) => (float[1,6,3,3] y)",
        "y = LRN <size = 5, bias = 1.01> (x)",
        x=image,
    )
    yield _bug(
        "lrn_size", why, "(float[1,6,3,3] x) => (float[1,6,3,3] y)", "y = LRN <size = 5, alpha = 0.01> (x)", x=image
    )
    yield _bug(
        "gridsample_no_align",
        why,
        "(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y)",
        "y = GridSample <align_corners = 1> (x, g)",
        x=normal(1, 1, 4, 4),
        g=uniform(1, 2, 2, 2, low=-0.2, high=0.2),
    )
    yield _bug(
        "averagepool_no_pad",
        why,
        "(float[1,1,4,4] x) => (float[1,1,4,4] y)",
        "y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (x)",
        x=normal(1, 1, 4, 4),
    )
    yield _bug(
        "resize_cubic_coefficient",
        why,
        "(float[1,1,4,4] x) => (float[1,1,8,8] y)",
        's = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> (); y = Resize <mode = "cubic"> (x, , s)',
        x=normal(1, 1, 4, 4),
    )
    yield _bug(
        "gru_reset",
        why,
        "(float[2,1,3] x, float[1,6,3] w, float[1,6,2] r, float[1,12] b) => (float[2,1,1,2] y, float[1,1,2] h)",
        "y, h = GRU <hidden_size = 2, linear_before_reset = 1> (x, w, r, b)",
        x=normal(2, 1, 3),
        w=normal(1, 6, 3, seed=1),
        r=normal(1, 6, 2, seed=2),
        b=0.5 * normal(1, 12, seed=3),
    )
    yield _bug(
        "mod_as_in_c",
        "the result has the divisor's sign",
        "(int32[4] a, int32[4] b) => (int32[4] y)",
        "y = Mod (a, b)",
        a=i32(-7, 7, -4, 5),
        b=i32(3, -3, 3, 3),
    )
    yield _bug(
        "averagepool_no_pad",
        why,
        "(float[1,1,4] x) => (float[1,1,4] y)",
        "r = Relu (x); y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (r)",
        name="averagepool_after_relu",
        x=0.01 + 0.02 * uniform(1, 1, 4),
    )


def functions() -> Iterator[Entry]:
    one, why = "(float[6] x) => (float[6] y)", "an approximation that is too coarse"
    x = f32(-2.7, -1.1, 0.3, 1.4, 2.7, 5.2)
    for op, fault in (
        ("Softplus", "softplus_threshold"),
        ("Sigmoid", "sigmoid_steps"),
        ("Tanh", "tanh_clamped"),
        ("Exp", "exp_short"),
        ("Sin", "sin_short"),
    ):
        yield _bug(fault, why, one, f"y = {op} (x)", x=x)
    yield _bug("log_short", why, one, "y = Log (x)", x=np.abs(x))
    yield _bug(
        "thresholded_at",
        "y = x only for x > alpha",
        one,
        "y = ThresholdedRelu <alpha = 1.0> (x)",
        x=f32(1, 2, 0, -1, 1, 0.5),
    )
    yield _bug(
        "round_half_away",
        "halves go to the even neighbour",
        one,
        "y = Round (x)",
        x=f32(0.5, 1.5, 2.5, -0.5, -2.5, 3.2),
    )
    yield _bug("floor_truncates", "down, not towards zero", one, "y = Floor (x)", x=f32(-0.5, 1.5, -2.5, 3, 4.2, 0))
    yield _bug("sign_of_small", "small is not zero", one, "y = Sign (x)", x=f32(0.001, 1, -2, -0.002, 0, 3))
    yield _bug(
        "clip_short",
        "the bound is not the one given",
        one,
        "lo = Constant <value_float = 0.0> (); hi = Constant <value_float = 6.0> (); y = Clip (x, lo, hi)",
        x=f32(7, 1, -1, 3, 5.99, 6.5),
    )
    yield _bug(
        "sqrt_no_nan", "the root of a negative number is NaN (IEEE 754)", one, "y = Sqrt (x)", x=f32(-1, 4, 9, 2, 1, 3)
    )
    yield _bug(
        "add_no_nan",
        "NaN + 1 is NaN (IEEE 754)",
        "(float[3] x, float[3] z) => (float[3] y)",
        "y = Add (x, z)",
        x=f32(NAN, 1, 2),
        z=f32(1, 2, 3),
    )
    yield _bug(
        "greater_or_equal",
        "equal inputs, no rounding",
        "(float[3] x, float[3] z) => (bool[3] y)",
        "y = Greater (x, z)",
        x=f32(0.1, 1, 2),
        z=f32(0.1, 2, 1),
    )
    yield _bug(
        "less_or_equal",
        "equal inputs, no rounding",
        "(float[3] x, float[3] z) => (float[3] y)",
        "b = Less (x, z); t = Add (x, z); y = Where (b, x, t)",
        x=f32(0.1, 1, 2),
        z=f32(0.2, 1, 1),
    )
    yield _bug(
        "cast_rounds",
        "towards zero",
        "(float[4] x) => (int32[4] y)",
        "y = Cast <to = 6> (x)",
        x=f32(2.7, -2.7, 1.2, 3.9),
    )
    yield _bug(
        "div_floors",
        "integer division truncates",
        "(int32[4] a, int32[4] b) => (int32[4] y)",
        "y = Div (a, b)",
        a=i32(-7, 7, -9, 8),
        b=i32(2, 2, 4, 3),
    )
    yield _bug(
        "scatter_loses",
        "reduction = add adds every duplicate",
        "(float[4] x, int64[3] i, float[3] u) => (float[4] y)",
        'y = ScatterElements <reduction = "add"> (x, i, u)',
        x=normal(4),
        i=i64(1, 1, 2),
        u=f32(5, 6, 7),
    )


def sums() -> Iterator[Entry]:
    why = "a block that is not full loses its last elements"
    yield _bug(
        "matmul_tail",
        why,
        "(float[3,17] a, float[17,2] b) => (float[3,2] y)",
        "y = MatMul (a, b)",
        a=normal(3, 17),
        b=0.05 * normal(17, 2, seed=1),
    )
    yield _bug(
        "matmul_tail",
        why,
        "(float[1,4096] a, float[4096,1] b) => (float[1,1] y)",
        "y = MatMul (a, b)",
        name="matmul_tail_wide",
        a=normal(1, 4096),
        b=np.full((4096, 1), 0.9, np.float32),
    )
    yield _bug(
        "matmul_half",
        "sums of float16 in a float32 model",
        "(float[2,256] a, float[256,2] b) => (float[2,2] y)",
        "y = MatMul (a, b)",
        a=normal(2, 256),
        b=normal(256, 2, seed=1),
    )
    yield _bug(
        "matmul_half",
        "sums of float16 in a float32 model",
        "(float[1,2048] a, float[2048,1] b) => (float[1,1] y)",
        "y = MatMul (a, b)",
        name="matmul_half_wide",
        a=normal(1, 2048),
        b=normal(2048, 1, seed=1),
    )
    yield _bug(
        "matmul_bfloat16",
        "factors of bfloat16 in a float32 model",
        "(float[2,8] a, float[8,2] b) => (float[2,2] y)",
        "y = MatMul (a, b)",
        a=normal(2, 8),
        b=normal(8, 2, seed=1),
    )
    yield _bug(
        "sum_tail", why, "(float[10003] x) => (float y)", "y = ReduceSum <keepdims = 0> (x)", x=uniform(10003, low=-1.0)
    )
    yield _bug(
        "sum_tail",
        why,
        "(float[100] x) => (float y)",
        "y = ReduceSum <keepdims = 0> (x)",
        name="sum_tail_short",
        x=0.01 * uniform(100),
    )
    yield _bug(
        "mean_less_one",
        "divided by one less",
        "(float[200] x) => (float y)",
        "y = ReduceMean <keepdims = 0> (x)",
        x=uniform(200),
    )
    yield _bug(
        "layernorm_unbiased",
        "the variance of a sample",
        "(float[2,128] x, float[128] s) => (float[2,128] y)",
        "y = LayerNormalization (x, s)",
        x=normal(2, 128),
        s=np.ones(128, np.float32),
    )
    yield _bug(
        "softmax_tail",
        why,
        "(float[2,9] x) => (float[2,9] y)",
        "y = Softmax (x)",
        x=np.concatenate([normal(2, 8), np.full((2, 1), -2.5, np.float32)], 1),
    )
    yield _bug(
        "pool_tail", why, "(float[1,2,5,5] x) => (float[1,2,1,1] y)", "y = GlobalAveragePool (x)", x=uniform(1, 2, 5, 5)
    )
    yield _bug(
        "cumsum_restarts",
        "the last lacks the first",
        "(float[20] x) => (float[20] y)",
        "i = Constant <value_int = 0> (); y = CumSum (x, i)",
        x=0.01 + 0.01 * uniform(20),
    )
    yield _bug(
        "conv_border",
        "the border",
        "(float[1,2,5,5] x, float[3,2,3,3] w) => (float[1,3,5,5] y)",
        "y = Conv <pads = [1, 1, 1, 1]> (x, w)",
        x=normal(1, 2, 5, 5),
        w=normal(3, 2, 3, 3, seed=1),
    )
    yield _bug(
        "maxpool_zero_padding",
        "padding is minus infinity, not zero",
        "(float[1,1,4,4] x) => (float[1,1,4,4] y)",
        "y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)",
        x=-0.01 - 0.01 * uniform(1, 1, 4, 4),
    )
    body = "h = MatMul (x, v); r = Tanh (h); o = MatMul (r, w); y = Softmax (o)"
    yield _bug(
        "softmax_tail",
        "deep in a small network",
        "(float[2,8] x, float[8,16] v, float[16,6] w) => (float[2,6] y)",
        body,
        name="network_softmax",
        x=normal(2, 8),
        v=0.3 * normal(8, 16, seed=1),
        w=0.3 * normal(16, 6, seed=2),
    )
    yield _bug(
        "tanh_clamped",
        "deep in a small network",
        "(float[2,8] x, float[8,16] v, float[16,6] w) => (float[2,6] y)",
        body.replace("y = Softmax (o)", "y = Sigmoid (o)"),
        name="network_tanh",
        x=normal(2, 8),
        v=normal(8, 16, seed=1),
        w=0.5 * normal(16, 6, seed=2),
    )


def quantised() -> Iterator[Entry]:
    quantize = "(float[6] x, float s, uint8 z) => (uint8[6] y)"
    half, zero = np.array(0.5, np.float32), np.array(0, np.uint8)
    yield _bug(
        "quantize_half_away",
        "exact ties go to the even neighbour",
        quantize,
        "y = QuantizeLinear (x, s, z)",
        x=f32(0.25, 0.75, 1.25, 2.25, 3, 4),
        s=half,
        z=zero,
    )
    yield _bug(
        "quantize_wraps",
        "it saturates",
        quantize,
        "y = QuantizeLinear (x, s, z)",
        x=f32(130, 200, 1.3, -3, 3, 4),
        s=half,
        z=zero,
    )
    yield _bug(
        "dequantize_off",
        "off by one step",
        "(uint8[3] x, float s, uint8 z) => (float[3] y)",
        "y = DequantizeLinear (x, s, z)",
        x=np.array([1, 7, 255], np.uint8),
        s=np.array(0.004, np.float32),
        z=np.array(3, np.uint8),
    )
    body = "as = Constant <value_float = 0.1> (); z = Constant <value = uint8 {0}> (); ys = Constant <value_float = 0.03> (); y = QLinearMatMul (a, as, z, b, as, z, ys, z)"
    yield _bug(
        "qlinear_truncates",
        "rounds to nearest",
        "(uint8[2,3] a, uint8[3,2] b) => (uint8[2,2] y)",
        body,
        a=np.array([[1, 2, 3], [5, 7, 1]], np.uint8),
        b=np.array([[3, 1], [1, 1], [2, 4]], np.uint8),
    )
    yield _bug(
        "matmulinteger_zero",
        "a zero point is ignored",
        "(uint8[2,3] a, uint8[3,2] b, uint8 p, uint8 q) => (int32[2,2] y)",
        "y = MatMulInteger (a, b, p, q)",
        a=np.array([[1, 2, 3], [5, 7, 1]], np.uint8),
        b=np.array([[3, 1], [1, 1], [2, 4]], np.uint8),
        p=np.array(1, np.uint8),
        q=np.array(1, np.uint8),
    )


def outputs() -> Iterator[Entry]:
    why = "one element of a well-conditioned result"
    yield _bug(
        "last_element",
        why,
        "(float[2,8] a, float[8,3] b) => (float[2,3] y)",
        "y = MatMul (a, b)",
        name="element_matmul",
        a=normal(2, 8),
        b=normal(8, 3, seed=1),
    )
    yield _bug(
        "last_element",
        why,
        "(float[1,512] a, float[512,3] b) => (float[1,3] y)",
        "y = MatMul (a, b)",
        name="element_matmul_wide",
        a=normal(1, 512),
        b=normal(512, 3, seed=1),
    )
    yield _bug(
        "last_element",
        why,
        "(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y)",
        "y = Conv (x, w)",
        name="element_conv",
        x=normal(1, 3, 8, 8),
        w=normal(4, 3, 3, 3, seed=1),
    )
    yield _bug(
        "last_element", why, "(float[5] x) => (float[5] y)", "y = Exp (x)", name="element_exp", x=f32(1, 2, 3, 4, 5)
    )
    yield _bug(
        "last_element",
        why,
        "(float[5] x) => (float[5] y)",
        "a = Mul (x, x); s = Sqrt (a); y = Add (s, x)",
        name="element_chain",
        x=f32(1, -2, 3, 4, 0.5),
    )
    yield _bug(
        "last_element",
        why,
        "(float[5] x) => (float[5] y)",
        "c = Constant <value_float = 100.0> (); a = Add (x, c); y = Sub (a, c)",
        name="element_mild_cancellation",
        x=normal(5),
    )
    yield _bug(
        "last_element",
        why,
        "(float[64] x) => (float[64] y)",
        "s = Softmax (x); l = Log (s); y = Neg (l)",
        name="element_log_softmax",
        x=normal(64),
    )
    yield _bug(
        "last_element",
        why,
        "(float[2,32] x, float[32] s) => (float[2,32] y)",
        "y = LayerNormalization (x, s)",
        name="element_layernorm",
        x=10 + normal(2, 32),
        s=np.ones(32, np.float32),
    )
    yield _bug(
        "last_element",
        why,
        "(double[4] x) => (double[4] y)",
        "y = Tanh (x)",
        name="element_double",
        x=normal(4, dtype=np.float64),
    )
    yield _bug(
        "last_element_more",
        why,
        "(float16[4,16] a, float16[16,2] b) => (float16[4,2] y)",
        "y = MatMul (a, b)",
        name="element_half",
        a=0.5 * normal(4, 16, dtype=np.float16),
        b=normal(16, 2, dtype=np.float16),
    )
    yield _bug(
        "one_more",
        why,
        "(int32[4] a, int32[4] b) => (int32[4] y)",
        "y = Add (a, b)",
        name="element_int",
        a=i32(1, 2, 3, 4),
        b=i32(5, 6, 7, 8),
    )
    yield _bug(
        "one_more",
        why,
        "(float[4] a, float[4] b) => (bool[4] y)",
        "y = Less (a, b)",
        name="element_bool",
        a=f32(1, 2, 3, 4),
        b=f32(5, 1, 7, 3),
    )
    yield _bug(
        "one_more",
        why,
        "(float[2,4] a) => (int64[2] y)",
        "y = ArgMax <axis = 1, keepdims = 0> (a)",
        name="element_argmax",
        a=normal(2, 4),
    )
    yield _bug(
        "relative",
        "one percent of a large number",
        "(float[4] x) => (float[4] y)",
        "y = Mul (x, x)",
        name="element_large",
        x=f32(100, 200, 300, 1000),
    )
    yield _bug(
        "negative_lane",
        "a small number's sign",
        "(float[4] x) => (float[4] y)",
        "y = Sin (x)",
        name="element_sign",
        x=f32(1, 2, 3, 0.002),
    )
    yield _bug(
        "infinite",
        "an infinity from nowhere",
        "(float[4] x) => (float[4] y)",
        "y = Exp (x)",
        name="element_infinite",
        x=f32(1, 2, 3, 4),
    )
    yield _bug("more_dimensions", "a shape", "(float[4] x) => (float[4] y)", "y = Relu (x)", x=normal(4))
    yield _bug("more_bits", "a type", "(float[4] x) => (float[4] y)", "y = Relu (x)", x=normal(4))
    for fault in ("segfault", "abort", "raises", "hangs"):
        yield _bug(
            fault,
            "a valid model kills or stops the compiler",
            "(float[4] x) => (float[4] y)",
            "a = Tanh (x); y = Relu (a)",
            x=normal(4),
        )


def masked() -> Iterator[Entry]:
    """What may be excused lies elsewhere in the same case."""
    yield _bug(
        "cast_up",
        "element 0 is out of range, element 1 is not",
        "(float[3] x) => (int8[3] y)",
        "y = Cast <to = 3> (x)",
        name="masked_cast",
        x=f32(300, 5.5, 7.2),
    )
    yield _bug(
        "last_element_more",
        "element 0 is NaN, the last is not",
        "(float[4] x) => (float[4] y)",
        "a = Relu (x); y = Add (a, a)",
        name="masked_nan",
        x=f32(NAN, -1, 2, 3),
    )
    yield _bug(
        "last_element_more",
        "row 1 is written twice, the last is not written",
        "(float[4] x, int64[2] i, float[2] u) => (float[4] y)",
        "y = ScatterElements (x, i, u)",
        name="masked_scatter",
        x=normal(4),
        i=i64(1, 1),
        u=f32(5, 6),
    )
    yield _bug(
        "one_more",
        "element 0 is divided by zero, element 1 is not",
        "(int32[3] a, int32[3] b) => (int32[3] y)",
        "y = Div (a, b)",
        name="masked_division",
        a=i32(1, 9, 8),
        b=i32(0, 3, 2),
    )
    yield _bug(
        "last_element_more",
        "the random numbers are another output",
        "(float[4] x) => (float[4] y, float[4] r)",
        "y = Tanh (x); r = RandomUniformLike (x)",
        name="masked_random",
        x=normal(4),
    )
    yield _bug(
        "last_element_more",
        "element 0 is on the threshold, the last is not",
        "(float[3] x) => (float[3] y)",
        "c = Constant <value_float = 0.3> (); t = Constant <value_float = 3.0> (); a = Mul (x, t); "
        "b = GreaterOrEqual (a, c); n = Neg (x); y = Where (b, x, n)",
        name="masked_threshold",
        x=f32(0.1, 2, 3),
    )
    yield _bug(
        "last_element_more",
        "the ill-conditioned value is another output",
        "(float[4] x) => (float[4] y, float[4] z)",
        "y = Sin (x); c = Constant <value_float = 1e8> (); a = Add (x, c); z = Sub (a, c)",
        name="masked_conditioning",
        x=normal(4),
    )
    yield _bug(
        "last_element_more",
        "element 0 cancels, the last does not",
        "(float[3] x, float[3] z) => (float[3] y)",
        "a = Add (x, z); y = Sub (a, z)",
        name="masked_cancellation",
        x=f32(1, 2, 3),
        z=f32(1e8, 1, 1),
    )
    yield _bug(
        "one_more",
        "element 0 overflows, element 1 does not",
        "(int32[3] a, int32[3] b) => (int32[3] y)",
        "y = Add (a, b)",
        name="masked_overflow",
        a=i32(2**31 - 1, 4, 5),
        b=i32(9, 1, 1),
    )
    yield _bug(
        "last_element_more",
        "the sign of a zero at element 0",
        "(float[3] x) => (float[3] y)",
        "a = Relu (x); y = Reciprocal (a)",
        name="masked_zero",
        x=f32(-0.0, 2, 0.7),
    )
    yield _bug(
        "one_more",
        "a shift too far at element 0",
        "(uint8[3] a, uint8[3] b) => (uint8[3] y)",
        'y = BitShift <direction = "LEFT"> (a, b)',
        name="masked_shift",
        a=np.array([1, 2, 3], np.uint8),
        b=np.array([9, 1, 1], np.uint8),
    )
    yield _bug(
        "last_element_more",
        "a huge argument at element 0",
        "(float[3] x) => (float[3] y)",
        "y = Sin (x)",
        name="masked_huge",
        x=f32(1e10, 2, 0.7),
    )
    yield _bug(
        "one_more",
        "a quantised tie at element 0",
        "(float[3] x) => (uint8[3] y)",
        "s = Constant <value_float = 0.1> (); z = Constant <value = uint8 {3}> (); y = QuantizeLinear (x, s, z)",
        name="masked_tie",
        x=f32(0.05, 0.72, 1.3),
    )


#: Well-conditioned models of which one element is off by hardly more, or hardly less, than the tolerance.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    op.lower(): ("(float[6] x) => (float[6] y)", f"y = {op} (x)", {"x": f32(-2.2, -1.1, 0.3, 1.4, 2.7, 0.9)})
    for op in (
        "Tanh",
        "Sigmoid",
        "Gelu",
        "Erf",
        "Softplus",
        "Elu",
        "Selu",
        "Mish",
        "Exp",
        "Sin",
        "Atan",
        "HardSwish",
        "Celu",
        "Softsign",
    )
} | {
    "log": ("(float[6] x) => (float[6] y)", "y = Log (x)", {"x": f32(2.2, 1.1, 0.3, 8.4, 2.7, 5.2)}),
    "pow": (
        "(float[6] x, float[6] z) => (float[6] y)",
        "y = Pow (x, z)",
        {"x": f32(2.2, 1.1, 0.3, 1.4, 2.7, 5.2), "z": f32(2, 0.5, 3, -1, 1.5, 0.1)},
    ),
    "softmax": ("(float[2,5] x) => (float[2,5] y)", "h = Softmax (x); y = Exp (h)", {"x": 2 * normal(2, 5)}),
    "log_softmax": ("(float[2,5] x) => (float[2,5] y)", "y = LogSoftmax (x)", {"x": 2 * normal(2, 5)}),
    "layernorm": (
        "(float[2,16] x, float[16] s) => (float[2,16] y)",
        "y = LayerNormalization (x, s)",
        {"x": normal(2, 16), "s": uniform(16, low=0.5)},
    ),
    "groupnorm": (
        "(float[1,4,3,3] x, float[4] s, float[4] b) => (float[1,4,3,3] y)",
        "y = GroupNormalization <num_groups = 2> (x, s, b)",
        {"x": normal(1, 4, 3, 3), "s": uniform(4, low=0.8), "b": uniform(4, low=0.8)},
    ),
    "instancenorm": (
        "(float[1,2,4,4] x, float[2] s, float[2] b) => (float[1,2,4,4] y)",
        "y = InstanceNormalization (x, s, b)",
        {"x": normal(1, 2, 4, 4, seed=5), "s": uniform(2), "b": uniform(2)},
    ),
    "batchnorm": (
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y)",
        "y = BatchNormalization (x, s, b, m, v)",
        {"x": normal(2, 3, 4), "s": f32(1, 1, 2), "b": f32(0, 1, 0), "m": f32(0.1, 0.2, 0.3), "v": f32(1, 2, 0.5)},
    ),
    "lrn": ("(float[1,6,3,3] x) => (float[1,6,3,3] y)", "y = LRN <size = 5> (x)", {"x": normal(1, 6, 3, 3)}),
    "matmul": (
        "(float[3,32] a, float[32,3] b) => (float[3,3] y)",
        "y = MatMul (a, b)",
        {"a": normal(3, 32), "b": normal(32, 3, seed=1)},
    ),
    "matmul_wide": (
        "(float[1,2048] a, float[2048,3] b) => (float[1,3] y)",
        "y = MatMul (a, b)",
        {"a": 0.05 * normal(1, 2048), "b": normal(2048, 3, seed=1)},
    ),
    "conv": (
        "(float[1,8,6,6] x, float[4,8,3,3] w) => (float[1,4,4,4] y)",
        "y = Conv (x, w)",
        {"x": normal(1, 8, 6, 6), "w": 0.3 * normal(4, 8, 3, 3, seed=1)},
    ),
    "conv_transpose": (
        "(float[1,4,4,4] x, float[4,3,3,3] w) => (float[1,3,6,6] y)",
        "y = ConvTranspose (x, w)",
        {"x": normal(1, 4, 4, 4), "w": 0.3 * normal(4, 3, 3, 3, seed=1)},
    ),
    "sum": (
        "(float[3,500] x) => (float[3,1] y)",
        "a = Constant <value_ints = [1]> (); y = ReduceSum (x, a)",
        {"x": 0.1 * normal(3, 500)},
    ),
    "mean": (
        "(float[3,500] x) => (float[3,1] y)",
        "a = Constant <value_ints = [1]> (); y = ReduceMean (x, a)",
        {"x": uniform(3, 500)},
    ),
    "resize_linear": (
        "(float[1,1,4,4] x) => (float[1,1,8,8] y)",
        's = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> (); y = Resize <mode = "linear"> (x, , s)',
        {"x": normal(1, 1, 4, 4)},
    ),
    "resize_cubic": (
        "(float[1,1,4,4] x) => (float[1,1,8,8] y)",
        's = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> (); y = Resize <mode = "cubic"> (x, , s)',
        {"x": normal(1, 1, 4, 4)},
    ),
    "grid_sample": (
        "(float[1,1,4,4] x, float[1,3,3,2] g) => (float[1,1,3,3] y)",
        "y = GridSample (x, g)",
        {"x": normal(1, 1, 4, 4), "g": uniform(1, 3, 3, 2, low=-0.8, high=0.8)},
    ),
    "roi_align": (
        "(float[1,1,8,8] x, float[1,4] r, int64[1] b) => (float[1,1,3,3] y)",
        "y = RoiAlign <output_height = 3, output_width = 3, sampling_ratio = 2> (x, r, b)",
        {"x": normal(1, 1, 8, 8), "r": f32([1, 1, 6, 7]), "b": i64(0)},
    ),
    "gru": (
        "(float[3,1,3] x, float[1,6,3] w, float[1,6,2] r) => (float[3,1,1,2] y, float[1,1,2] h)",
        "s, h = GRU <hidden_size = 2> (x, w, r); y = Exp (s)",
        {"x": normal(3, 1, 3), "w": normal(1, 6, 3, seed=1), "r": normal(1, 6, 2, seed=2)},
    ),
    "lstm": (
        "(float[3,1,3] x, float[1,8,3] w, float[1,8,2] r) => (float[3,1,1,2] y, float[1,1,2] h)",
        "s, h = LSTM <hidden_size = 2> (x, w, r); y = Exp (s)",
        {"x": normal(3, 1, 3), "w": normal(1, 8, 3, seed=1), "r": normal(1, 8, 2, seed=2)},
    ),
    "det": ("(float[3,3] x) => (float y)", "y = Det (x)", {"x": f32([2, 0.5, 0.3], [0.1, 3, 0.2], [0.4, 0.2, 1.5])}),
    "einsum": (
        "(float[3,8] a, float[8,2] b) => (float[3,2] y)",
        'y = Einsum <equation = "ij,jk->ik"> (a, b)',
        {"a": normal(3, 8), "b": normal(8, 2, seed=1)},
    ),
    "network": (
        "(float[2,8] x, float[8,16] v, float[16,6] w) => (float[2,6] y)",
        "h = MatMul (x, v); r = Tanh (h); o = MatMul (r, w); y = Sigmoid (o)",
        {"x": normal(2, 8), "v": 0.4 * normal(8, 16, seed=1), "w": 0.4 * normal(16, 6, seed=2)},
    ),
    "attention": (
        "(float[1,2,5,4] q, float[1,2,5,4] k, float[1,2,5,4] v) => (float[1,2,5,4] y)",
        "y = Attention (q, k, v)",
        {"q": normal(1, 2, 5, 4), "k": normal(1, 2, 5, 4, seed=1), "v": normal(1, 2, 5, 4, seed=2)},
    ),
    "dequantize": (
        "(uint8[4] x) => (float[4] y)",
        "s = Constant <value = float {0.02}> (); z = Constant <value = uint8 {3}> (); y = DequantizeLinear (x, s, z)",
        {"x": np.array([1, 70, 255, 9], np.uint8)},
    ),
}


def near() -> Iterator[Entry]:
    for name, (signature, body, inputs) in MODELS.items():
        for fault in ("just_beyond", "just_within"):
            yield _bug(
                fault,
                "one element is off by about the tolerance",
                signature,
                body,
                name=f"{fault}_{name}",
                opset=23 if name in ("attention", "groupnorm") else 20,
                ir=11,
                **inputs,
            )


def planted() -> list[Entry]:
    return [entry for source in (attributes, functions, sums, quantised, outputs, masked, near) for entry in source()]
