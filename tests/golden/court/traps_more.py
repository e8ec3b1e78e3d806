"""More failing ONNX cases that are no compiler's bug: half precision, resampling, recurrence, transforms, edges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.golden.court.entry import (
    INVALID,
    NOISE,
    RANDOM,
    REFERENCE,
    UNDEFINED,
    UNSUPPORTED,
    Entry,
    f32,
    i64,
    normal,
    uniform,
)
from tests.golden.court.traps import INF, NAN, _trap

U, N, D, S, INV = UNDEFINED, NOISE, RANDOM, UNSUPPORTED, INVALID


def half() -> Iterator[Entry]:
    why, h = "half precision: accumulated in 16 or in 32 bits", np.float16
    one = "(float16[4,300] x) => (float16[4,300] y)"
    x = normal(4, 300, dtype=h)
    for name, body in (
        ("softmax", "y = Softmax (x)"),
        ("log_softmax", "y = LogSoftmax (x)"),
        ("exp_edge", "k = Constant <value_float = 11.0> (); c = Cast <to = 10> (k); a = Add (x, c); y = Exp (a)"),
        ("cumsum", "i = Constant <value_int = 1> (); a = Abs (x); y = CumSum (a, i)"),
        ("gelu", "y = Gelu (x)"),
        ("tanh_chain", "a = Tanh (x); b = Tanh (a); c = Mul (b, b); y = Sub (c, b)"),
        ("square_cancel", "a = Mul (x, x); b = Add (x, a); c = Mul (b, b); d = Mul (a, a); y = Sub (c, d)"),
        ("step", "k = Constant <value_float = 10.0> (); c = Cast <to = 10> (k); a = Mul (x, c); y = Floor (a)"),
    ):
        yield _trap(f"half_{name}", (N, U, S), why, one, body, x=x)
    yield _trap(
        "half_layernorm",
        (N, S),
        why,
        "(float16[4,300] x, float16[300] s) => (float16[4,300] y)",
        "y = LayerNormalization (x, s)",
        x=(x + h(50)).astype(h),
        s=np.ones(300, h),
    )
    yield _trap(
        "half_layernorm_large",
        (N, U, S),
        "squares overflow half precision",
        "(float16[4,300] x, float16[300] s) => (float16[4,300] y)",
        "y = LayerNormalization (x, s)",
        x=(x * h(3000)).astype(h),
        s=np.ones(300, h),
    )
    yield _trap(
        "half_l2",
        (N, U, S),
        "squares overflow half precision",
        "(float16[4,300] x) => (float16[4,1] y)",
        "a = Constant <value_ints = [1]> (); y = ReduceL2 (x, a)",
        x=(x * h(100)).astype(h),
    )
    yield _trap(
        "half_mean_large",
        (N, U, S),
        "sums overflow half precision",
        "(float16[4,300] x) => (float16[4,1] y)",
        "a = Constant <value_ints = [1]> (); y = ReduceMean (x, a)",
        x=(np.abs(x) * h(1000)).astype(h),
    )
    yield _trap(
        "half_conv",
        (N, S),
        why,
        "(float16[1,64,9,9] x, float16[2,64,3,3] w) => (float16[1,2,7,7] y)",
        "y = Conv (x, w)",
        x=normal(1, 64, 9, 9, dtype=h),
        w=normal(2, 64, 3, 3, seed=1, dtype=h),
    )
    yield _trap(
        "half_pool_overflow",
        (N, U, S),
        "sums overflow half precision",
        "(float16[1,1,4,4] x) => (float16[1,1,1,1] y)",
        "y = GlobalAveragePool (x)",
        x=np.full((1, 1, 4, 4), 30000, h),
    )
    yield _trap(
        "half_prod",
        (N, U, S),
        "products leave half precision",
        "(float16[6] x) => (float16 y)",
        "y = ReduceProd <keepdims = 0> (x)",
        x=np.array([300, 300, 300, 0.01, 0.01, 0.01], h),
    )
    yield _trap(
        "half_instancenorm",
        (N, S),
        why,
        "(float16[1,2,400] x, float16[2] s, float16[2] b) => (float16[1,2,400] y)",
        "y = InstanceNormalization (x, s, b)",
        x=(normal(1, 2, 400) + 30).astype(h),
        s=np.ones(2, h),
        b=np.zeros(2, h),
    )
    body = "a = Cast <to = 16> (x); b = Cast <to = 16> (z); m = MatMul (a, b); y = Cast <to = 1> (m)"
    yield _trap(
        "bfloat16_matmul",
        (N, U, S),
        "bfloat16: eight bits",
        "(float[2,500] x, float[500,2] z) => (float[2,2] y)",
        body,
        x=normal(2, 500),
        z=normal(500, 2, seed=1),
    )
    body = "a = Cast <to = 16> (x); b = Exp (a); c = Mul (b, a); s = Sub (c, b); y = Cast <to = 1> (s)"
    yield _trap(
        "bfloat16_chain", (N, U, S), "bfloat16: eight bits", "(float[20] x) => (float[20] y)", body, x=normal(20)
    )
    yield _trap(
        "float8_cast",
        (N, U, S),
        "three bits",
        "(float[8] x) => (float[8] y)",
        "a = Cast <to = 17, saturate = 1> (x); y = Cast <to = 1> (a)",
        x=f32(500, -1e9, 0.001, INF, 1.0625, 3.3, 17, 0),
    )


def resampling() -> Iterator[Entry]:
    why = "coordinates and weights of float32, or places that are ties"
    scale = "s = Constant <value = float[4] {{1.0, 1.0, {0}, {0}}}> (); "
    for mode in ("linear", "cubic"):
        for way in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
            yield _trap(
                f"resize_{mode}_{way}",
                (N, U, S),
                why,
                "(float[1,1,7,7] x) => (float[1,1,A,B] y)",
                scale.format(1.5714285)
                + f'y = Resize <mode = "{mode}", coordinate_transformation_mode = "{way}"> (x, , s)',
                x=1000 * normal(1, 1, 7, 7),
            )
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield _trap(
            f"resize_nearest_{nearest}",
            (N, U, S),
            why,
            "(float[1,1,6,6] x) => (float[1,1,A,B] y)",
            scale.format(1.3333334)
            + f'y = Resize <mode = "nearest", nearest_mode = "{nearest}", coordinate_transformation_mode = "asymmetric"> (x, , s)',
            x=normal(1, 1, 6, 6),
        )
    yield _trap(
        "upsample_nearest",
        (N, U, S),
        why,
        "(float[1,1,3,3] x) => (float[1,1,A,B] y)",
        scale.format(2.3333333) + "y = Upsample (x, s)",
        opset=9,
        ir=4,
        x=normal(1, 1, 3, 3),
    )
    yield _trap(
        "grid_sample_edge",
        (N, U, S),
        "exactly on the border",
        "(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y)",
        'y = GridSample <mode = "nearest", padding_mode = "zeros"> (x, g)',
        x=normal(1, 1, 4, 4),
        g=f32([[[-1, -1], [1, 1]], [[-1.0000001, 0.5], [0.25, -0.25]]]),
    )
    yield _trap(
        "grid_sample_reflect",
        (N, U, S),
        "reflected at the border",
        "(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y)",
        'y = GridSample <padding_mode = "reflection", align_corners = 1> (x, g)',
        x=normal(1, 1, 4, 4),
        g=f32([[[-3, -3], [9, 9.5]], [[-1.5, 2.5], [100.25, -77.3]]]),
    )
    yield _trap(
        "affine_grid_huge",
        (N, U, S),
        "places of a million",
        "(float[1,2,3] t) => (float[1,1,4,4] y)",
        "z = Constant <value_ints = [1, 1, 4, 4]> (); g = AffineGrid (t, z); x = Constant <value = float[1,1,4,4] {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}> (); y = GridSample (x, g)",
        t=f32([[0.1, 1e-7, 0.3], [0.2, 0.3, 1e-3]]),
    )


def recurrent() -> Iterator[Entry]:
    why = "errors that grow from step to step"
    yield _trap(
        "rnn_relu_growing",
        (N,),
        why,
        "(float[30,1,3] x, float[1,4,3] w, float[1,4,4] r) => (float[30,1,1,4] y, float[1,1,4] h)",
        'y, h = RNN <hidden_size = 4, activations = ["Relu"]> (x, w, r)',
        x=normal(30, 1, 3),
        w=normal(1, 4, 3, seed=1),
        r=normal(1, 4, 4, seed=2),
    )
    yield _trap(
        "lstm_long",
        (N,),
        why,
        "(float[60,1,3] x, float[1,16,3] w, float[1,16,4] r) => (float[60,1,1,4] y, float[1,1,4] h)",
        "y, h = LSTM <hidden_size = 4> (x, w, r)",
        x=5 * normal(60, 1, 3),
        w=4 * normal(1, 16, 3, seed=1),
        r=4 * normal(1, 16, 4, seed=2),
    )
    body = "n = Constant <value = int64 {50}> (); t = Constant <value = bool {1}> (); y = Loop (n, t, x) <body = l (int64 i, bool c, float[8] a) => (bool d, float[8] b) { d = Identity (c); e = Sin (a); k = Constant <value = float {3.7}> (); b = Mul (e, k) }>"
    yield _trap("loop_chaos", (N, S), why, "(float[8] x) => (float[8] y)", body, x=uniform(8))
    body = "n = Constant <value = int64 {30}> (); t = Constant <value = bool {1}> (); y = Loop (n, t, x) <body = l (int64 i, bool c, float[8] a) => (bool d, float[8] b) { d = Identity (c); k = Constant <value = float {2.0}> (); e = Mul (a, k); f = Floor (e); b = Sub (e, f) }>"
    yield _trap("loop_doubling", (N, S), "exact in binary", "(float[8] x) => (float[8] y)", body, x=uniform(8))
    body = (
        "a = Exp (x); "
        + "".join(f"b{i} = MatMul ({'a' if i == 0 else f'c{i - 1}'}, w); c{i} = Relu (b{i}); " for i in range(12))
        + "y = Identity (c11)"
    )
    yield _trap(
        "deep_growing",
        (N,),
        why,
        "(float[2,16] x, float[16,16] w) => (float[2,16] y)",
        body,
        x=normal(2, 16),
        w=normal(16, 16, seed=1),
    )
    body = (
        "".join(f"a{i} = MatMul ({'x' if i == 0 else f's{i - 1}'}, w); s{i} = Sin (a{i}); " for i in range(10))
        + "y = Identity (s9)"
    )
    yield _trap(
        "deep_sine",
        (N,),
        why,
        "(float[2,16] x, float[16,16] w) => (float[2,16] y)",
        body,
        x=normal(2, 16),
        w=3 * normal(16, 16, seed=1),
    )


def transforms() -> Iterator[Entry]:
    why = "sums whose terms cancel"
    yield _trap(
        "dft_cancelling",
        (N, S),
        why,
        "(float[1,256,1] x) => (float[1,256,2] y)",
        "y = DFT (x)",
        x=(1e5 + normal(1, 256, 1)).astype(np.float32),
    )
    yield _trap(
        "dft_back",
        (N, S),
        why,
        "(float[1,64,2] x) => (float[1,64,2] y)",
        "a = DFT (x); b = DFT <inverse = 1> (a); c = Sub (b, x); k = Constant <value = float {1e7}> (); y = Mul (c, k)",
        x=normal(1, 64, 2),
    )
    yield _trap(
        "einsum_cancelling",
        (N,),
        why,
        "(float[8,500] x, float[8,500] z) => (float y)",
        'y = Einsum <equation = "ij,ij->"> (x, z)',
        x=(1e3 * normal(8, 500)).astype(np.float32),
        z=normal(8, 500, seed=1),
    )
    yield _trap(
        "gemm_cancelling",
        (N,),
        why,
        "(float[2,64] a, float[64,2] b, float[2,2] c) => (float[2,2] y)",
        "m = MatMul (a, b); n = Neg (m); y = Gemm (a, b, n)",
        a=1e3 * normal(2, 64),
        b=1e3 * normal(64, 2, seed=1),
        c=normal(2, 2),
    )
    yield _trap(
        "softmax_of_large",
        (N,),
        "a small error of a large logit",
        "(float[2,64] a, float[64,5] b) => (float[2,5] y)",
        "m = MatMul (a, b); y = Softmax (m)",
        a=300 * normal(2, 64),
        b=300 * normal(64, 5, seed=1),
    )
    yield _trap(
        "cross_entropy_large",
        (N, U),
        "a logarithm of nothing",
        "(float[2,5] x, int64[2] t) => (float y)",
        "y = SoftmaxCrossEntropyLoss (x, t)",
        x=f32([0, 500, -500, 1, 2], [1, 2, 3, 4, -1e4]),
        t=i64(2, 4),
    )
    yield _trap(
        "lp_pool_large",
        (N, U),
        "powers overflow",
        "(float[1,1,6] x) => (float[1,1,5] y)",
        "y = LpPool <kernel_shape = [2], p = 3> (x)",
        x=1e20 * uniform(1, 1, 6),
    )
    yield _trap(
        "mean_of_inputs_large",
        (N, U),
        "sums overflow",
        "(float[3] a, float[3] b) => (float[3] y)",
        "y = Mean (a, b)",
        a=f32(3e38, 1, 2),
        b=f32(3e38, 1, 2),
    )
    yield _trap(
        "layernorm_large",
        (N, U),
        "squares overflow",
        "(float[2,4] x, float[4] s) => (float[2,4] y)",
        "y = LayerNormalization (x, s)",
        x=f32([1e30, 2e30, -1e30, 0], [1, 2, 3, 4]),
        s=f32(1, 1, 1, 1),
    )
    yield _trap(
        "layernorm_equal",
        (N, U),
        "no deviation at all",
        "(float[2,4] x, float[4] s) => (float[2,4] y)",
        "y = LayerNormalization (x, s)",
        x=np.full((2, 4), 1234.567, np.float32),
        s=f32(100, 100, 100, 100),
    )
    yield _trap(
        "rmsnorm_tiny",
        (N, U, S),
        "squares are lost",
        "(float[2,4] x, float[4] s) => (float[2,4] y)",
        "y = RMSNormalization <epsilon = 0.0> (x, s)",
        opset=23,
        ir=11,
        x=np.full((2, 4), 1e-25, np.float32),
        s=f32(1, 1, 1, 1),
    )
    yield _trap(
        "variance_one_pass",
        (N,),
        why,
        "(float[2,100] x) => (float[2,1] y)",
        "a = Constant <value_ints = [1]> (); m = ReduceMean (x, a); s = ReduceSumSquare (x, a); n = Constant <value = float {100.0}> (); q = Div (s, n); p = Mul (m, m); v = Sub (q, p); r = Sqrt (v); y = Reciprocal (r)",
        x=(3000 + 0.01 * normal(2, 100)).astype(np.float32),
    )
    yield _trap(
        "determinant_singular",
        (N,),
        why,
        "(float[3,3] x) => (float y)",
        "d = Det (x); r = Reciprocal (d); y = Identity (r)",
        x=f32([1, 2, 3], [4, 5, 6], [7, 8, 9]),
    )
    yield _trap(
        "sinh_edge",
        (N, U),
        "an exponential overflows, its half does not",
        "(float[3] x) => (float[3] y)",
        "y = Sinh (x)",
        x=f32(89, -89.2, 1),
    )
    yield _trap(
        "gelu_large",
        (N, U),
        "a cube overflows",
        "(float[3] x) => (float[3] y)",
        'y = Gelu <approximate = "tanh"> (x)',
        x=f32(1e13, -1e13, 1),
    )
    yield _trap(
        "mish_large",
        (N, U),
        "exponentials overflow",
        "(float[3] x) => (float[3] y)",
        "y = Mish (x)",
        x=f32(50, 89, 200),
    )
    yield _trap(
        "acosh_edge",
        (N, U),
        "just beside one",
        "(float[3] x) => (float[3] y)",
        "y = Acosh (x)",
        x=f32(1.0000001, 1, 3e38),
    )
    yield _trap(
        "asinh_tiny",
        (N, U),
        "just beside nothing, and large",
        "(float[4] x) => (float[4] y)",
        "y = Asinh (x)",
        x=f32(1e-30, 3e38, -3e38, -2e5),
    )
    yield _trap(
        "erf_tail",
        (N,),
        "one minus almost one",
        "(float[3] x) => (float[3] y)",
        "e = Erf (x); o = Constant <value = float {1.0}> (); d = Sub (o, e); y = Log (d)",
        x=f32(3, 3.5, 3.8),
    )
    yield _trap(
        "sigmoid_tail",
        (N,),
        "one minus almost one",
        "(float[3] x) => (float[3] y)",
        "e = Sigmoid (x); o = Constant <value = float {1.0}> (); d = Sub (o, e); y = Log (d)",
        x=f32(15, 16, 14.5),
    )
    yield _trap(
        "tanh_tail",
        (N,),
        "one minus almost one",
        "(float[3] x) => (float[3] y)",
        "e = Tanh (x); y = Atanh (e)",
        x=f32(8, 8.5, 7.9),
    )


def edges() -> Iterator[Entry]:
    one = "(float[4] x) => (float[4] y)"
    yield _trap(
        "pow_edges",
        (N, U),
        "0 ** 0 and the like",
        "(float[6] x, float[6] z) => (float[6] y)",
        "y = Pow (x, z)",
        x=f32(0, -0.0, -8, INF, -1, NAN),
        z=f32(0, -1, 1 / 3, 0, INF, 0),
    )
    yield _trap(
        "mod_negative_float",
        (N, U),
        "a rounded quotient",
        "(float[4] x, float[4] z) => (float[4] y)",
        "y = Mod <fmod = 1> (x, z)",
        x=f32(-7.5, 1e10, 0.3, 5),
        z=f32(2.5, 0.1, 0.1, 0),
    )
    yield _trap(
        "where_near",
        (N,),
        "a threshold that rounding passes",
        one,
        "s = Softmax (x); m = ReduceMax (s); b = Equal (s, m); z = Constant <value = float {0.0}> (); y = Where (b, s, z)",
        x=f32(0.3, 0.30000001, 0.1, 0.3),
    )
    yield _trap(
        "argmax_of_softmax",
        (N, U),
        "equal probabilities",
        "(float[1,4] x) => (int64[1,1] y)",
        "s = Softmax (x); t = Softmax (s); y = ArgMax <axis = 1> (t)",
        x=f32([30, 30.000002, 29.999998, -5]),
    )
    yield _trap(
        "topk_near_ties",
        (N, U),
        "values that rounding orders",
        "(float[1,8] x) => (float[1,4] v, int64[1,4] i)",
        "k = Constant <value_ints = [4]> (); a = Sin (x); b = Mul (a, a); v, i = TopK (b, k)",
        x=f32([1, -1, 1.0000001, 2.1415927, 0.5, -0.5, 2.6415927, 0.4999999]),
    )
    yield _trap(
        "unique_near",
        (N, U),
        "values that rounding makes equal",
        "(float[4] x) => (float[N] y)",
        "a = Sin (x); b = Mul (a, a); y = Unique (b)",
        x=f32(1, -1, 2.1415927, 2.1415925),
    )
    yield _trap(
        "hardmax_near",
        (N, U),
        "values that rounding makes equal",
        "(float[1,4] x) => (float[1,4] y)",
        "a = Sin (x); b = Mul (a, a); y = Hardmax (b)",
        x=f32([1, -1, 2.1415927, 0.2]),
    )
    yield _trap(
        "cumsum_then_floor",
        (N,),
        "a rounded sum before a step",
        "(float[10] x) => (float[10] y)",
        "i = Constant <value_int = 0> (); a = CumSum (x, i); y = Floor (a)",
        x=np.full(10, 0.1, np.float32),
    )
    yield _trap(
        "mean_then_sign",
        (N,),
        "a sum that is zero but for rounding",
        "(float[7] x) => (float[7] y)",
        "m = ReduceMean (x); d = Sub (x, m); s = ReduceSum (d); z = Sign (s); y = Add (x, z)",
        x=uniform(7, low=0.1),
    )
    yield _trap(
        "mean_then_divide",
        (N,),
        "a sum that is zero but for rounding",
        "(float[7] x) => (float[7] y)",
        "m = ReduceMean (x); d = Sub (x, m); s = ReduceSum (d); y = Div (x, s)",
        x=uniform(7, low=0.1),
    )
    yield _trap(
        "qlinear_conv_tie",
        (N, U),
        "ties of products of scales",
        "(uint8[1,1,4,4] x, uint8[1,1,2,2] w) => (uint8[1,1,3,3] y)",
        "s = Constant <value = float {0.1}> (); z = Constant <value = uint8 {0}> (); t = Constant <value = float {0.02}> (); y = QLinearConv (x, s, z, w, s, z, t, z)",
        x=np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4),
        w=np.array([[[[1, 0], [2, 1]]]], np.uint8),
    )
    yield _trap(
        "quantize_channels",
        (N, U),
        "ties with a scale for each channel",
        "(float[2,4] x, float[2] s, int8[2] z) => (int8[2,4] y)",
        "y = QuantizeLinear <axis = 0> (x, s, z)",
        x=f32([0.05, 0.15, 0.25, 0.35], [0.15, 0.45, 0.75, 1.05]),
        s=f32(0.1, 0.3),
        z=np.array([0, 1], np.int8),
    )
    yield _trap(
        "quantize_nan",
        (U,),
        "NaN and infinity have no integer",
        "(float[4] x) => (uint8[4] y)",
        "s = Constant <value = float {0.5}> (); z = Constant <value = uint8 {3}> (); y = QuantizeLinear (x, s, z)",
        x=f32(NAN, INF, -INF, 1),
    )
    yield _trap(
        "dequantize_large",
        (N,),
        "whole numbers beyond 24 bits",
        "(int32[3] x) => (float[3] y)",
        "s = Constant <value = float {0.1}> (); z = Constant <value = int32 {0}> (); y = DequantizeLinear (x, s, z)",
        x=np.array([2**31 - 1, 16777217, -5], np.int32),
    )
    yield _trap(
        "int_to_float",
        (N, S),
        "whole numbers beyond 24 bits",
        "(int64[3] x) => (float[3] y)",
        "a = Cast <to = 1> (x); b = Cast <to = 7> (a); c = Sub (b, x); y = Cast <to = 1> (c)",
        x=i64(16777217, 123456789, 2**40 + 1),
    )
    yield _trap(
        "range_float",
        (N,),
        "how many steps fit",
        "(float d) => (float[N] y)",
        "a = Constant <value = float {0.0}> (); b = Constant <value = float {1.0}> (); y = Range (a, b, d)",
        d=np.array(0.1, np.float32),
    )
    yield _trap(
        "window_functions",
        (N, S),
        "cosines of fractions",
        "() => (float[10] y)",
        "n = Constant <value = int64 {10}> (); y = HannWindow (n)",
    )
    yield _trap(
        "mel_edges",
        (N, U, S),
        "edges that are rounded down",
        "() => (float[A,B] y)",
        "a = Constant <value = int64 {8}> (); b = Constant <value = int64 {64}> (); c = Constant <value = int64 {16000}> (); d = Constant <value = float {0.0}> (); e = Constant <value = float {8000.0}> (); y = MelWeightMatrix (a, b, c, d, e)",
    )
    yield _trap(
        "empty_matmul",
        (U, INV, S),
        "a sum of nothing",
        "(float[2,0] a, float[0,3] b) => (float[2,3] y)",
        "y = MatMul (a, b)",
        a=np.zeros((2, 0), np.float32),
        b=np.zeros((0, 3), np.float32),
    )
    yield _trap(
        "dropout_seeded",
        (U, D),
        "seeds are each implementation's own",
        "(float[64] x) => (float[64] y)",
        "r = Constant <value = float {0.5}> (); t = Constant <value = bool {1}> (); y = Dropout <seed = 7> (x, r, t)",
        x=normal(64),
    )
    yield _trap(
        "random_then_zero",
        (U, D),
        "random numbers that decide a shape",
        "(float[64] x) => (int64[1,N] y)",
        "r = RandomUniformLike (x); b = Greater (r, x); y = NonZero (b)",
        x=uniform(64),
    )
    yield _trap(
        "scatter_max_nan",
        (U,),
        "NaN among extremes",
        "(float[3] x, int64[2] i, float[2] u) => (float[3] y)",
        'y = ScatterElements <reduction = "max"> (x, i, u)',
        x=f32(1, 2, 3),
        i=i64(0, 1),
        u=f32(NAN, 9),
    )
    yield _trap(
        "string_digits",
        (S, U, N),
        "digits of a number as text",
        "(float[3] x) => (string[3] y)",
        "y = Cast <to = 8> (x)",
        x=f32(1 / 3, 1e-8, 16777216),
    )
    yield _trap(
        "softmax_infinity",
        (U, N, REFERENCE),
        "infinity among logits",
        "(float[1,4] x) => (float[1,4] y)",
        "y = Softmax (x)",
        x=f32([INF, 1, 2, -INF]),
    )
    yield _trap(
        "maxpool_nan_indices",
        (U,),
        "NaN among what is compared",
        "(float[1,1,4] x) => (float[1,1,2] y, int64[1,1,2] i)",
        "y, i = MaxPool <kernel_shape = [2], strides = [2]> (x)",
        x=f32([[NAN, 1, 2, NAN]]),
    )
    yield _trap(
        "maxpool_all_padding",
        (U,),
        "a window of padding",
        "(float[1,1,2] x) => (float[1,1,6] y)",
        "y = MaxPool <kernel_shape = [1], pads = [2, 2]> (x)",
        x=normal(1, 1, 2),
    )
    yield _trap(
        "bitshift_signed_wide",
        (U, INV, S),
        "a shift by the width",
        "(uint64[2] x, uint64[2] s) => (uint64[2] y)",
        'y = BitShift <direction = "LEFT"> (x, s)',
        x=np.array([1, 2], np.uint64),
        s=np.array([64, 65], np.uint64),
    )
    yield _trap(
        "cumsum_int_overflow",
        (U,),
        "overflow",
        "(int32[3] x) => (int32[3] y)",
        "i = Constant <value_int = 0> (); y = CumSum (x, i)",
        x=np.array([2**31 - 1, 5, 7], np.int32),
    )
    yield _trap(
        "cast_double_float",
        (N, U),
        "out of float's range",
        "(double[4] x) => (float[4] y)",
        "y = Cast <to = 1> (x)",
        x=np.array([1e300, 1e-300, 1.0000000596046448, 3.4028235677973366e38]),
    )


def traps() -> list[Entry]:
    return [entry for source in (half, resampling, recurrent, transforms, edges) for entry in source()]
