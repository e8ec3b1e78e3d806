"""Failing ONNX cases that are no compiler's bug, whatever it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.golden.court.entry import (
    ENVIRONMENT,
    INVALID,
    NOISE,
    RANDOM,
    REFERENCE,
    UNDEFINED,
    UNSUPPORTED,
    Entry,
    f32,
    i32,
    i64,
    model_of,
    normal,
    uniform,
)

U, N, D, S, INV, ENV = UNDEFINED, NOISE, RANDOM, UNSUPPORTED, INVALID, ENVIRONMENT
_BUILDERS: list[Callable[[], Iterator[Entry]]] = []
NAN, INF = float("nan"), float("inf")


def _trap(
    name: str,
    expected: tuple[str, ...],
    why: str,
    signature: str,
    body: str,
    *,
    opset: int = 20,
    ir: int = 9,
    domains: str = "",
    fault: str = "",
    **inputs: Any,
) -> Entry:
    return Entry(name, frozenset(expected), why, model_of(signature, body, opset, ir, domains), None, inputs, fault)


def casts() -> Iterator[Entry]:
    cast = "(float[4] x) => ({}[4] y)"
    out = "a float outside the integer's range: ONNX leaves the result open"
    yield _trap("cast_int8_range", (U,), out, cast.format("int8"), "y = Cast <to = 3> (x)", x=f32(300, -129, 128.5, 1))
    yield _trap("cast_nan_int32", (U,), out, cast.format("int32"), "y = Cast <to = 6> (x)", x=f32(NAN, 1, 2, 3))
    yield _trap("cast_inf_int64", (U,), out, cast.format("int64"), "y = Cast <to = 7> (x)", x=f32(INF, -INF, 2, 3))
    yield _trap("cast_minus_uint8", (U,), out, cast.format("uint8"), "y = Cast <to = 2> (x)", x=f32(-1, -200, 2, 3))
    yield _trap("cast_minus_uint32", (U,), out, cast.format("uint32"), "y = Cast <to = 12> (x)", x=f32(-1, 5e9, 2, 3))
    body = "a = Cast <to = 6> (x); b = Cast <to = 1> (a); y = Mul (b, x)"
    yield _trap("cast_range_downstream", (U,), out, cast.format("float"), body, x=f32(3e9, -3e10, 1, 2))
    body = "b = Mul (x, x); y = Cast <to = 6> (b)"
    yield _trap("cast_range_computed", (U,), out, cast.format("int32"), body, x=f32(1e5, 7e4, 1, 2))
    body = "b = Mul (x, s); y = Cast <to = 6> (b)"
    signature = "(float[4] x, float[4] s) => (int32[4] y)"
    why = "truncation of a product that rounding puts on either side of an integer"
    for fault in ("", "ulp"):
        yield _trap(
            f"cast_at_integer{fault}",
            (N,),
            why,
            signature,
            body,
            fault=fault,
            x=f32(0.1, 0.7, 2.3, 1.1),
            s=f32(10, 10, 10, 10),
        )
    body = "h = Cast <to = 16> (x); y = Cast <to = 1> (h)"
    why = "bfloat16 by truncation or to nearest: half a unit of a type of eight bits"
    yield _trap(
        "cast_bfloat16", (U, N), why, cast.format("float"), body, x=f32(1.00390625, 1.01171875, 3.1415927, -2.7)
    )
    body = "s = Cast <to = 8> (x); y = Identity (s)"
    yield _trap(
        "cast_to_string",
        (U, S),
        "how a float is spelt is not fixed",
        "(float[4] x) => (string[4] y)",
        body,
        x=f32(0.1, 1e-7, 123456789.0, 1e20),
    )


def integers() -> Iterator[Entry]:
    two = "(int32[3] a, int32[3] b) => (int32[3] y)"
    zero = "division of integers by zero is undefined"
    yield _trap("div_zero", (U,), zero, two, "y = Div (a, b)", a=i32(1, 0, -5), b=i32(0, 0, 0))
    yield _trap("mod_zero", (U,), zero, two, "y = Mod (a, b)", a=i32(1, 0, -5), b=i32(0, 0, 2))
    wrap = "overflow of a signed integer: nothing says that it wraps"
    least = -(2**31)
    yield _trap("div_least_by_minus_one", (U,), wrap, two, "y = Div (a, b)", a=i32(least, 7, 9), b=i32(-1, 2, 2))
    yield _trap("add_overflow", (U,), wrap, two, "y = Add (a, b)", a=i32(2**31 - 1, 1, 2), b=i32(5, 1, 2))
    yield _trap("mul_overflow", (U,), wrap, two, "y = Mul (a, b)", a=i32(2**20, 1, 2), b=i32(2**20, 1, 2))
    one = "(int8[3] a) => (int8[3] y)"
    small = np.array([-128, 1, -3], np.int8)
    yield _trap("abs_least_int8", (U,), wrap, one, "y = Abs (a)", a=small)
    yield _trap("neg_least_int8", (U,), wrap, one, "y = Neg (a)", a=small)
    bytes_ = "(uint8[3] a, uint8[3] b) => (uint8[3] y)"
    high, low = np.array([200, 255, 7], np.uint8), np.array([100, 1, 9], np.uint8)
    yield _trap("add_uint8_overflow", (U,), "wraps or saturates", bytes_, "y = Add (a, b)", a=high, b=low)
    yield _trap("sub_uint8_underflow", (U,), "wraps or saturates", bytes_, "y = Sub (b, a)", a=high, b=low)
    wide = "a shift by the width of the type or more"
    for way in ("LEFT", "RIGHT"):
        yield _trap(
            f"shift_too_far_{way.lower()}",
            (U,),
            wide,
            bytes_,
            f'y = BitShift <direction = "{way}"> (a, b)',
            a=high,
            b=np.array([8, 9, 33], np.uint8),
        )
    yield _trap(
        "pow_minus_int",
        (U, INV),
        "an integer to a negative power",
        two,
        "y = Pow (a, b)",
        a=i32(2, 3, 1),
        b=i32(-1, -2, -1),
    )
    signature = "(int32[3] a, float[3] b) => (int32[3] y)"
    yield _trap(
        "pow_int_float",
        (N,),
        "5 ** 2 by exp and log is 24.99, truncated",
        signature,
        "y = Pow (a, b)",
        fault="ulp_down",
        a=i32(5, 3, 7),
        b=f32(2, 3, 2),
    )
    body = "y = ReduceSum <keepdims = 0> (a)"
    yield _trap("reducesum_overflow", (U,), wrap, "(int32[3] a) => (int32 y)", body, a=i32(2**31 - 1, 2**30, 5))


def not_numbers() -> Iterator[Entry]:
    one, why = "(float[4] x) => (float[4] y)", "nothing says what becomes of NaN where values are compared"
    x = f32(NAN, -1, 2, NAN)
    for name, body in (
        ("relu", "y = Relu (x)"),
        ("clip", "lo = Constant <value_float = -1.0> (); hi = Constant <value_float = 1.0> (); y = Clip (x, lo, hi)"),
        ("hardsigmoid", "y = HardSigmoid (x)"),
        ("hardswish", "y = HardSwish (x)"),
        ("thresholded", "y = ThresholdedRelu (x)"),
        ("shrink", "y = Shrink <lambd = 0.5> (x)"),
        ("sign", "y = Sign (x)"),
        ("elu", "y = Elu (x)"),
        ("hardmax", "y = Hardmax (x)"),
    ):
        yield _trap(f"nan_{name}", (U,), why, one, body, x=x)
    two = "(float[4] x, float[4] z) => (float[4] y)"
    for op in ("Max", "Min"):
        yield _trap(f"nan_{op.lower()}", (U,), why, two, f"y = {op} (x, z)", x=x, z=f32(0, NAN, 1, 1))
    for op in ("ReduceMax", "ReduceMin"):
        yield _trap(f"nan_{op.lower()}", (U,), why, "(float[4] x) => (float y)", f"y = {op} <keepdims = 0> (x)", x=x)
    for op in ("ArgMax", "ArgMin"):
        body = f"y = {op} <keepdims = 0> (x)"
        yield _trap(f"nan_{op.lower()}", (U,), why, "(float[4] x) => (int64 y)", body, x=f32(1, NAN, 3, NAN))
    k = "k = Constant <value_ints = [2]> (); "
    yield _trap(
        "nan_topk", (U,), why, "(float[4] x) => (float[2] y, int64[2] i)", k + "y, i = TopK (x, k)", x=f32(1, NAN, 3, 2)
    )
    pool = "(float[1,1,4,4] x) => (float[1,1,3,3] y)"
    grid = normal(1, 1, 4, 4)
    grid[0, 0, 1, 1] = NAN
    yield _trap("nan_maxpool", (U,), why, pool, "y = MaxPool <kernel_shape = [2, 2]> (x)", x=grid)
    yield _trap(
        "nan_globalmaxpool", (U,), why, "(float[1,1,4,4] x) => (float[1,1,1,1] y)", "y = GlobalMaxPool (x)", x=grid
    )
    yield _trap("nan_unique", (U,), why, "(float[5] x) => (float[N] y)", "y = Unique (x)", x=f32(NAN, 1, NAN, 0, 1))
    yield _trap(
        "nan_softmax_masked",
        (U,),
        "a row that is wholly masked is 0/0",
        "(float[2,2] x) => (float[2,2] y)",
        "y = Softmax (x)",
        x=f32([-INF, -INF], [0, 1]),
    )
    body = "b = Greater (x, z); y = Where (b, x, z)"


def zeros() -> Iterator[Entry]:
    one, why = "(float[3] x) => (float[3] y)", "the sign of a zero is left open"
    x = f32(-0.0, 0.0, 1)
    yield _trap("minus_zero_relu", (U,), why, one, "a = Relu (x); y = Reciprocal (a)", x=x)
    yield _trap(
        "minus_zero_max",
        (U,),
        why,
        "(float[3] x, float[3] z) => (float[3] y)",
        "a = Max (x, z); y = Reciprocal (a)",
        x=x,
        z=f32(0.0, -0.0, 2),
    )
    yield _trap("minus_zero_round", (U,), why, one, "a = Round (x); y = Reciprocal (a)", x=f32(-0.3, 0.2, 1))
    yield _trap(
        "minus_zero_mul",
        (U,),
        why,
        one,
        "z = Constant <value_float = 0.0> (); a = Mul (x, z); y = Reciprocal (a)",
        x=f32(-3, 2, 1),
        fault="positive_zero",
    )
    tiny = "subnormal numbers are often flushed"
    yield _trap("subnormal_log", (U, N), tiny, one, "y = Log (x)", x=f32(1e-40, 1e-42, 1), fault="flush")
    yield _trap(
        "subnormal_scale",
        (U, N),
        tiny,
        one,
        "c = Constant <value_float = 1e38> (); a = Mul (x, c); y = Mul (a, c)",
        x=f32(1e-40, 3e-41, 1e-45),
        fault="flush",
    )
    yield _trap(
        "subnormal_made", (U, N), tiny, one, "a = Mul (x, x); y = Div (a, a)", x=f32(1e-20, 3e-20, 1), fault="flush"
    )


def thresholds() -> Iterator[Entry]:
    one, two = "(float[3] x) => (float[3] y)", "(float[3] x, float[3] z) => (float[3] y)"
    why = "a step whose argument rounding puts on either side"
    c = "c = Constant <value_float = {}> (); "
    faults = ("ulp", "ulp_down", "")
    for op, x in (("Ceil", f32(0.1, 0.7, 1.1)), ("Floor", f32(0.7, 2.3, 0.3)), ("Round", f32(0.05, 0.15, 0.35))):
        for fault in faults:
            yield _trap(
                f"step_{op.lower()}_{fault or 'real'}",
                (N,),
                why,
                one,
                c.format("10.0") + f"a = Mul (x, c); y = {op} (a)",
                x=x,
                fault=fault,
            )
    yield _trap(
        "step_sign",
        (N,),
        why,
        two,
        "a = Mul (x, z); b = Mul (z, x); t = Sin (a); u = Sin (b); d = Sub (t, u); y = Sign (d)",
        x=f32(0.3, 0.7, 1.3),
        z=f32(1.1, 2.2, 3.3),
        fault="ulp_random",
    )
    bodies = {
        "where": c.format(0.3)
        + "t = Constant <value_float = 3.0> (); a = Mul (x, t); b = GreaterOrEqual (a, c); y = Where (b, z, x)",
        "equal": c.format(0.3)
        + "t = Constant <value_float = 3.0> (); a = Mul (x, t); b = Equal (a, c); y = Where (b, z, x)",
        "less_softmax": c.format(0.33333334) + "a = Softmax (x); b = Less (a, c); y = Where (b, z, x)",
    }
    for name, body in bodies.items():
        for fault in ("ulp", "ulp_down"):
            yield _trap(f"step_{name}_{fault}", (N,), why, two, body, x=f32(0.1, 0.1, 0.1), z=f32(7, 8, 9), fault=fault)
    fmod = "y = Mod <fmod = 1> (a, c)"
    for fault in ("ulp", "ulp_down"):
        yield _trap(
            f"step_fmod_{fault}",
            (N,),
            why,
            one,
            c.format(0.5) + "t = Constant <value_float = 5.0> (); a = Mul (x, t); " + fmod,
            x=f32(0.1, 0.3, 0.7),
            fault=fault,
        )
    yield _trap(
        "fmod_by_quotient",
        (N, U),
        "x - y*trunc(x/y) with rounding, of 1.0 and 0.1",
        two,
        "y = Mod <fmod = 1> (x, z)",
        x=f32(1.0, 0.6, 5.3),
        z=f32(0.1, 0.2, 0.1),
    )
    argmax = "(float[2,3] x, float[3,3] w) => (int64[2] y)"
    for fault in ("ulp", "ulp_random"):
        yield _trap(
            f"step_argmax_{fault}",
            (N,),
            why,
            argmax,
            "a = MatMul (x, w); s = Softmax (a); y = ArgMax <axis = 1, keepdims = 0> (s)",
            x=f32([0.1, 0.2, 0.3], [0.3, 0.1, 0.7]),
            w=f32([0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.7, 0.7, 0.7]),
            fault=fault,
        )
    yield _trap(
        "step_topk",
        (N,),
        why,
        "(float[4] x, float[4] z) => (float[2] v, int64[2] i)",
        "k = Constant <value_ints = [2]> (); a = Mul (x, z); b = Sin (a); v, i = TopK (b, k)",
        x=f32(0.1, 0.2, 0.3, 0.6),
        z=f32(6, 3, 2, 1),
        fault="ulp_random",
    )
    yield _trap(
        "step_nonzero",
        (N,),
        why,
        "(float[3] x, float[3] z) => (int64[1,N] y)",
        "a = Mul (x, z); b = Exp (a); c = Log (b); d = Sub (c, a); y = NonZero (d)",
        x=f32(0.3, 0.7, 1.3),
        z=f32(1.1, 2.2, 3.3),
        fault="ulp_random",
    )
    yield _trap(
        "step_nonzero_real",
        (N,),
        why,
        "(float[3] x, float[3] z) => (int64[1,N] y)",
        "a = Mul (x, z); b = Exp (a); c = Log (b); d = Sub (c, a); y = NonZero (d)",
        x=f32(0.3, 0.7, 1.3),
        z=f32(1.1, 2.2, 3.3),
    )
    yield _trap(
        "step_range",
        (N,),
        "how many steps fit is a rounded quotient",
        "(float s) => (float[N] y)",
        "a = Constant <value_float = 0.0> (); e = Constant <value_float = 3.0> (); t = Mul (s, e); y = Range (a, t, s)",
        s=np.array(0.1, np.float32),
        fault="ulp_down",
    )
    yield _trap(
        "step_sqrt_of_nothing",
        (N,),
        "the root of a difference that is zero but for rounding",
        two,
        "a = Mul (x, z); b = Mul (z, x); s = Sin (a); t = Sin (b); d = Sub (s, t); y = Sqrt (d)",
        x=f32(0.3, 0.7, 1.3),
        z=f32(1.1, 2.2, 3.3),
        fault="ulp_random",
    )
    yield _trap(
        "step_acos",
        (N,),
        "the cosine of one and a little more",
        one,
        "a = Mul (x, x); b = Sqrt (a); c = Div (x, b); y = Acos (c)",
        x=f32(0.3, 0.7, 1.3),
        fault="ulp",
    )
    yield _trap(
        "step_isnan",
        (N,),
        why,
        "(float[3] x) => (bool[3] y)",
        "a = Sin (x); b = Mul (a, a); e = Cos (x); d = Mul (e, e); s = Add (b, d); o = Constant <value_float = 1.0> (); r = Sub (o, s); q = Sqrt (r); y = IsNaN (q)",
        x=f32(0.3, 0.7, 1.3),
        fault="ulp",
    )
    yield _trap(
        "step_if",
        (N,),
        why,
        "(float[1] x) => (float[1] y)",
        "t = Constant <value = float[1] {0.3}> (); n = Constant <value = float[1] {3.0}> (); a = Mul (x, n); b = Greater (a, t); "
        "d = Squeeze (b); y = If (d) <then_branch = p () => (float[1] u) { u = Neg (x) }, else_branch = q () => (float[1] w) { w = Add (x, n) }>",
        x=f32(0.1),
        fault="ulp_down",
    )


def quantised() -> Iterator[Entry]:
    why = "a tie after a scale that is no power of two: the quotient's rounding decides"
    signature = "(float[4] x) => (uint8[4] y)"
    scale = "s = Constant <value_float = 0.1> (); z = Constant <value = uint8 {3}> (); "
    for fault in ("", "reciprocal"):
        yield _trap(
            f"quantize_tie{fault}",
            (N, U),
            why,
            signature,
            scale + "y = QuantizeLinear (x, s, z)",
            fault=fault,
            x=f32(0.05, 0.15, 0.25, 0.35),
        )
    for fault in ("", "ulp"):
        yield _trap(
            f"dynamic_quantize_tie{fault}",
            (N,),
            why,
            "(float[6] x) => (uint8[6] y)",
            "y, s, z = DynamicQuantizeLinear (x)",
            x=f32(-1, -0.5, 0.0, 0.5, 1.0, 1.55),
            fault=fault,
        )
    yield _trap(
        "quantize_then_scale",
        (N,),
        why,
        "(float[4] x) => (float[4] y)",
        scale
        + "q = QuantizeLinear (x, s, z); d = DequantizeLinear (q, s, z); h = Constant <value_float = 100.0> (); y = Mul (d, h)",
        x=f32(0.05, 0.15, 0.25, 0.35),
        fault="reciprocal",
    )
    body = "as = Constant <value_float = 0.1> (); z = Constant <value = uint8 {0}> (); ys = Constant <value_float = 0.02> (); y = QLinearMatMul (a, as, z, b, as, z, ys, z)"
    yield _trap(
        "qlinear_tie",
        (N,),
        "0.01 n / 0.02 is a tie for every odd n",
        "(uint8[2,3] a, uint8[3,2] b) => (uint8[2,2] y)",
        body,
        a=np.array([[1, 2, 3], [5, 7, 1]], np.uint8),
        b=np.array([[3, 1], [1, 1], [2, 4]], np.uint8),
    )
    yield _trap(
        "fp8_saturate",
        (U, N, S),
        "ties of a type of three bits",
        "(float[3] x) => (float[3] y)",
        "a = Cast <to = 17> (x); y = Cast <to = 1> (a)",
        x=f32(1.0625, 1.1875, 17),
    )


def conditioning() -> Iterator[Entry]:
    one, why = "(float[8] x) => (float[8] y)", "the digits that are left after cancellation are rounding"
    scalar = "(float[8] x) => (float y)"
    c = "c = Constant <value_float = {}> (); "
    big = 1e4 + uniform(8, seed=1)
    yield _trap(
        "sub_large",
        (N,),
        why,
        one,
        c.format("1e8") + "a = Add (x, c); y = Sub (a, c)",
        x=normal(8),
        fault="reassociate",
    )
    yield _trap(
        "var_naive",
        (N,),
        why,
        scalar,
        "m = ReduceMean <keepdims = 0> (x); s = Mul (x, x); q = ReduceMean <keepdims = 0> (s); "
        "mm = Mul (m, m); y = Sub (q, mm)",
        x=big,
    )
    for fault in ("", "loop_sum"):
        yield _trap(
            f"var_naive_scaled{fault}",
            (N,),
            why,
            scalar,
            "m = ReduceMean <keepdims = 0> (x); s = Mul (x, x); "
            "q = ReduceMean <keepdims = 0> (s); mm = Mul (m, m); d = Sub (q, mm); y = Sqrt (d)",
            x=big + 1e4,
            fault=fault,
        )
    norm = "s = Constant <value = float[8] {1,1,1,1,1,1,1,1}> (); y = LayerNormalization <epsilon = 1e-12> (x, s)"
    for fault in ("", "naive_variance"):
        yield _trap(f"layernorm_constant{fault}", (N,), why, one, norm, x=1e4 + 1e-3 * normal(8), fault=fault)
    inst = "s = Constant <value = float[1] {1}> (); b = Constant <value = float[1] {0}> (); y = InstanceNormalization (x, s, b)"
    yield _trap(
        "instancenorm_constant",
        (N,),
        why,
        "(float[1,1,8] x) => (float[1,1,8] y)",
        inst,
        x=np.full((1, 1, 8), 1234.567, np.float32),
        fault="naive_variance",
    )
    yield _trap(
        "instancenorm_near",
        (N,),
        why,
        "(float[1,1,8] x) => (float[1,1,8] y)",
        inst,
        x=(3e4 + 1e-2 * normal(1, 1, 8)).astype(np.float32),
    )
    yield _trap(
        "mvn_constant",
        (N, U, INV),
        why,
        "(float[1,2,4,4] x) => (float[1,2,4,4] y)",
        "y = MeanVarianceNormalization (x)",
        opset=13,
        ir=8,
        x=np.full((1, 2, 4, 4), 0.1, np.float32),
    )
    yield _trap(
        "batchnorm_tiny_variance",
        (N,),
        why,
        "(float[1,2,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2,3] y)",
        "y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v)",
        x=np.float32(1000) + normal(1, 2, 3),
        s=f32(1, 1),
        b=f32(0, 0),
        m=f32(1000, 1000),
        v=f32(1e-8, 1e-9),
        fault="folded",
    )
    yield _trap(
        "quotient_of_noise",
        (N,),
        why,
        one,
        c.format("0.1")
        + "a = Mul (x, c); b = Mul (a, c); d = Add (a, b); e = Sub (d, b); f = Sub (e, a); y = Div (f, b)",
        x=1e3 * normal(8),
        fault="ulp_random",
    )
    yield _trap(
        "noise_scaled_up",
        (N,),
        why,
        one,
        c.format("1e6")
        + "a = Sin (x); b = Mul (a, a); d = Cos (x); e = Mul (d, d); s = Add (b, e); o = Constant <value_float = 1.0> (); r = Sub (s, o); y = Mul (r, c)",
        x=normal(8),
    )
    yield _trap(
        "noise_scaled_up_ulp",
        (N,),
        why,
        one,
        c.format("1e6")
        + "a = Sin (x); b = Mul (a, a); d = Cos (x); e = Mul (d, d); s = Add (b, e); o = Constant <value_float = 1.0> (); r = Sub (s, o); y = Mul (r, c)",
        x=normal(8),
        fault="ulp_random",
    )
    for op in ("Sin", "Cos", "Tan"):
        for fault in ("", "short_range"):
            yield _trap(
                f"huge_{op.lower()}{fault}",
                (N, U),
                "an argument whose rounding spans a period",
                one,
                f"y = {op} (x)",
                x=f32(1e8, 1e10, 3e7, 1e20, 12345678, -1e9, 5e15, 1e30),
                fault=fault,
            )
    yield _trap(
        "tan_pole", (N,), "beside a pole", one, "y = Tan (x)", x=np.full(8, np.pi / 2, np.float32), fault="ulp_random"
    )
    yield _trap(
        "sin_of_product",
        (N,),
        "an error of an argument of thousands",
        one,
        c.format("54321.7") + "a = Mul (x, c); b = Mul (a, c); y = Sin (b)",
        x=normal(8),
        fault="ulp_random",
    )
    yield _trap(
        "exp_of_large",
        (N,),
        "a relative error is the argument's absolute one",
        one,
        c.format("80.0")
        + "a = Tanh (x); b = Mul (a, c); d = Exp (b); e = Log (d); f = Sub (e, b); g = Mul (f, d); y = Identity (g)",
        x=uniform(8),
        fault="ulp_random",
    )
    yield _trap(
        "exp_edge",
        (N, U),
        "an ulp decides whether it overflows",
        one,
        "y = Exp (x)",
        x=np.full(8, 88.72283, np.float32),
        fault="powers_of_two",
    )
    yield _trap(
        "pow_large",
        (N,),
        "a relative error times 2000",
        one,
        c.format("2000.0") + "y = Pow (x, c)",
        x=1 + 0.005 * uniform(8),
        fault="by_exponential",
    )
    chaos = "r = Constant <value_float = 3.99> (); o = Constant <value_float = 1.0> (); x0 = Identity (x); "
    chaos += (
        "".join(f"a{i} = Sub (o, x{i}); b{i} = Mul (x{i}, a{i}); x{i + 1} = Mul (r, b{i}); " for i in range(40))
        + "y = Identity (x40)"
    )
    yield _trap(
        "chaos",
        (N,),
        "forty rounds of the logistic map double an error each",
        one,
        chaos,
        x=0.1 + 0.8 * uniform(8),
        fault="ulp_random",
    )
    yield _trap("chaos_real", (N,), "the same on real compilers", one, chaos, x=0.1 + 0.8 * uniform(8))
    hilbert = np.array([[1 / (i + j + 1) for j in range(6)] for i in range(6)], np.float32)
    yield _trap(
        "det_hilbert",
        (N,),
        "a nearly singular matrix",
        "(float[6,6] x) => (float y)",
        "d = Det (x); c = Constant <value_float = 1e18> (); y = Mul (d, c)",
        x=hilbert,
        fault="ulp_random",
    )
    yield _trap(
        "log_softmax_far",
        (N, U),
        "Log of Softmax is log-softmax, which does not underflow",
        "(float[1,3] x) => (float[1,3] y)",
        "a = Softmax (x); y = Log (a)",
        x=f32([0, -200, -90]),
        fault="fused_log_softmax",
    )
    yield _trap(
        "log_softmax_far_real",
        (N, U),
        "the same on real compilers",
        "(float[1,3] x) => (float[1,3] y)",
        "a = Softmax (x); y = Log (a)",
        x=f32([0, -200, -90]),
    )
    yield _trap(
        "logsumexp_large",
        (N, U, REFERENCE),
        "exp overflows unless the maximum is taken out",
        "(float[3] x) => (float y)",
        "y = ReduceLogSumExp <keepdims = 0> (x)",
        x=f32(1000, 999, 3),
    )
    yield _trap(
        "logsumexp_of_nothing",
        (N, U, REFERENCE),
        "the logarithm of a sum of zeros",
        "(float[3] x) => (float y)",
        "y = ReduceLogSumExp <keepdims = 0> (x)",
        x=f32(-INF, -INF, -INF),
    )
    yield _trap(
        "softplus_large",
        (N, U, REFERENCE),
        "log(1 + exp(x)) overflows, x does not",
        "(float[3] x) => (float[3] y)",
        "y = Softplus (x)",
        x=f32(100, 500, 88.8),
    )
    yield _trap(
        "l2_overflow",
        (N, U),
        "squares overflow unless they are scaled",
        "(float[3] x) => (float y)",
        "y = ReduceL2 <keepdims = 0> (x)",
        x=f32(1e30, 2e30, 3),
        fault="scaled_norm",
    )
    yield _trap(
        "atanh_edge",
        (N,),
        "a pole at one",
        one,
        "a = Mul (x, x); b = Sqrt (a); c = Div (x, b); d = Constant <value_float = 0.9999999> (); e = Mul (c, d); y = Atanh (e)",
        x=uniform(8, low=0.1),
        fault="ulp_down",
    )


def sums() -> Iterator[Entry]:
    why = "sums in another order or width"
    spread = (normal(20000) * np.exp(8 * normal(20000, seed=1))).astype(np.float32)
    for fault in ("", "loop_sum"):
        yield _trap(
            f"sum_spread{fault}",
            (N,),
            why,
            "(float[20000] x) => (float y)",
            "y = ReduceSum <keepdims = 0> (x)",
            x=spread,
            fault=fault,
        )
        yield _trap(
            f"sum_cancelling{fault}",
            (N,),
            why,
            "(float[6] x) => (float y)",
            "y = ReduceSum <keepdims = 0> (x)",
            x=f32(1e20, 1, -1e20, 3, 1e10, -1e10),
            fault=fault,
        )
    wide = (1e4 * normal(1, 65536)).astype(np.float32)
    for fault in ("", "loop_product"):
        yield _trap(
            f"matmul_wide{fault}",
            (N,),
            why,
            "(float[1,65536] a, float[65536,1] b) => (float[1,1] y)",
            "y = MatMul (a, b)",
            a=wide,
            b=normal(65536, 1, seed=3),
            fault=fault,
        )
    yield _trap(
        "cumsum_long",
        (N,),
        why,
        "(float[100000] x) => (float[100000] y)",
        "i = Constant <value_int = 0> (); y = CumSum (x, i)",
        x=uniform(100000),
    )
    half = normal(1, 2048, dtype=np.float16)
    for fault in ("", "loop_product"):
        yield _trap(
            f"matmul_float16{fault}",
            (N,),
            why,
            "(float16[1,2048] a, float16[2048,1] b) => (float16[1,1] y)",
            "y = MatMul (a, b)",
            a=half,
            b=normal(2048, 1, seed=3, dtype=np.float16),
            fault=fault,
        )
    for fault in ("", "loop_sum"):
        yield _trap(
            f"sum_half{fault}",
            (N,),
            why,
            "(float16[5000] x) => (float16 y)",
            "y = ReduceSum <keepdims = 0> (x)",
            x=uniform(5000).astype(np.float16),
            fault=fault,
        )
    yield _trap(
        "mean_half_overflow",
        (N, U),
        "the sum overflows, the mean does not",
        "(float16[4] x) => (float16 y)",
        "y = ReduceMean <keepdims = 0> (x)",
        x=np.full(4, 30000, np.float16),
        fault="loop_sum",
    )
    weights = normal(1, 8, 3, 3, seed=2) * 1e5
    weights[0, :4], weights[0, 4:] = weights[0, :4], -weights[0, :4]
    image = np.concatenate([normal(1, 4, 6, 6)] * 2, axis=1) + 1e-3 * normal(1, 8, 6, 6, seed=9)
    yield _trap(
        "conv_cancelling",
        (N,),
        why,
        "(float[1,8,6,6] x, float[1,8,3,3] w) => (float[1,1,4,4] y)",
        "y = Conv (x, w)",
        x=image.astype(np.float32),
        w=weights,
    )
    yield _trap(
        "product_edge",
        (N, U),
        "an ulp decides whether it overflows",
        "(float[4] x) => (float y)",
        "y = ReduceProd <keepdims = 0> (x)",
        x=f32(1e30, 1e30, 1e-30, 1e-25),
        fault="reversed_product",
    )


def choices() -> Iterator[Entry]:
    why = "which of equal elements comes first or wins is not said"
    yield _trap(
        "topk_unsorted",
        (U,),
        "sorted = 0: any order",
        "(float[5] x) => (float[3] v, int64[3] i)",
        "k = Constant <value_ints = [3]> (); v, i = TopK <sorted = 0> (x, k)",
        x=f32(1, 5, 2, 4, 3),
        fault="unsorted_topk",
    )
    scatter = "(float[4] x, int64[3] i, float[3] u) => (float[4] y)"
    for fault in ("", "reversed_scatter"):
        yield _trap(
            f"scatter_elements_twice{fault}",
            (U,),
            "indices must not repeat",
            scatter,
            "y = ScatterElements (x, i, u)",
            x=normal(4),
            i=i64(1, 1, 2),
            u=f32(5, 6, 7),
            fault=fault,
        )
        yield _trap(
            f"scatter_nd_twice{fault}",
            (U,),
            "indices must not repeat",
            "(float[4] x, int64[3,1] i, float[3] u) => (float[4] y)",
            "y = ScatterND (x, i, u)",
            x=normal(4),
            i=i64([1], [1], [2]),
            u=f32(5, 6, 7),
            fault=fault,
        )
    yield _trap(
        "maxpool_indices_tie",
        (U,),
        why,
        "(float[1,1,4,4] x) => (float[1,1,2,2] y, int64[1,1,2,2] i)",
        "y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)",
        x=np.ones((1, 1, 4, 4), np.float32),
        fault="last_index",
    )
    boxes = f32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11], [0, 10.1, 1, 11.1]])
    nms = "(float[1,4,4] b, float[1,1,4] s) => (int64[N,3] y)"
    body = "m = Constant <value = int64[1] {{4}}> (); t = Constant <value = float[1] {{{}}}> (); y = NonMaxSuppression (b, s, m, t)"
    yield _trap("nms_tie", (U,), why, nms, body.format(0.5), b=boxes, s=f32([[0.9, 0.9, 0.9, 0.9]]), fault="last_box")
    yield _trap(
        "nms_threshold",
        (N, U),
        "an overlap that is the threshold but for rounding",
        nms,
        body.format(0.81818184),
        b=boxes,
        s=f32([[0.9, 0.8, 0.7, 0.6]]),
        fault="ulp_threshold",
    )
    for fault in ("", "half_up"):
        yield _trap(
            f"grid_sample_tie{fault}",
            (U, N),
            "nearest to a point halfway",
            "(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y)",
            'y = GridSample <mode = "nearest", align_corners = 1> (x, g)',
            x=np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4),
            g=f32([[[0, 0], [2 / 3, 0]], [[-2 / 3, 2 / 3], [0, -2 / 3]]]),
            fault=fault,
        )
    yield _trap(
        "grid_sample_nan",
        (U,),
        "a place that is no number",
        "(float[1,1,4,4] x, float[1,1,2,2] g) => (float[1,1,1,2] y)",
        "y = GridSample (x, g)",
        x=normal(1, 1, 4, 4),
        g=f32([[[NAN, 0], [0, INF]]]),
    )
    for factor in (0.6, 1.5, 2.6, 0.3):
        yield _trap(
            f"resize_nearest_{factor}",
            (N, U),
            "coordinates that are ties but for rounding",
            "(float[1,1,1,10] x) => (float[1,1,1,N] y)",
            f's = Constant <value = float[4] {{1.0, 1.0, 1.0, {factor}}}> (); y = Resize <mode = "nearest", coordinate_transformation_mode = "half_pixel"> (x, , s)',
            x=np.arange(10, dtype=np.float32).reshape(1, 1, 1, 10),
        )
    yield _trap(
        "roi_outside",
        (U,),
        "a region outside of the picture",
        "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,2,2] y)",
        "y = RoiAlign <output_height = 2, output_width = 2> (x, r, b)",
        x=normal(1, 1, 4, 4),
        r=f32([-3, -3, 9, 9]),
        b=i64(0),
    )
    yield _trap(
        "roi_adaptive",
        (U, N),
        "sampling_ratio 0: a rounded count of points",
        "(float[1,1,8,8] x, float[1,4] r, int64[1] b) => (float[1,1,2,2] y)",
        "y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 0> (x, r, b)",
        x=normal(1, 1, 8, 8),
        r=f32([0.3, 0.3, 4.3, 6.3]),
        b=i64(0),
    )
    yield _trap(
        "clip_crossed",
        (U,),
        "before opset 13 nothing says what a minimum above the maximum means",
        "(float[4] x) => (float[4] y)",
        "lo = Constant <value_float = 2.0> (); hi = Constant <value_float = -2.0> (); y = Clip (x, lo, hi)",
        opset=12,
        x=f32(-5, 0, 1, 5),
    )
    yield _trap(
        "clip_crossed_6",
        (U,),
        "the same as attributes",
        "(float[4] x) => (float[4] y)",
        "y = Clip <min = 2.0, max = -2.0> (x)",
        opset=6,
        ir=7,
        x=f32(-5, 0, 1, 5),
    )
    yield _trap(
        "average_of_padding",
        (U,),
        "an average of no element",
        "(float[1,1,2] x) => (float[1,1,6] y)",
        "y = AveragePool <kernel_shape = [1], pads = [2, 2]> (x)",
        x=normal(1, 1, 2),
    )
    yield _trap(
        "mean_of_nothing",
        (U, INV, S),
        "the mean of nothing",
        "(float[2,0] x) => (float[2,1] y)",
        "a = Constant <value_ints = [1]> (); y = ReduceMean (x, a)",
        x=np.zeros((2, 0), np.float32),
    )
    yield _trap(
        "attention_masked",
        (U,),
        "a row without a single key",
        "(float[1,1,2,4] q, float[1,1,2,4] k, float[1,1,2,4] v, bool[2,2] m) => (float[1,1,2,4] y)",
        "y = Attention (q, k, v, m)",
        opset=23,
        ir=11,
        q=normal(1, 1, 2, 4),
        k=normal(1, 1, 2, 4, seed=1),
        v=normal(1, 1, 2, 4, seed=2),
        m=np.array([[False, False], [True, True]]),
    )


def random() -> Iterator[Entry]:
    why = "random numbers are drawn, each implementation's own"
    yield _trap("random_normal", (U, D), why, "() => (float[4] y)", "y = RandomNormal <shape = [4]> ()")
    yield _trap(
        "random_seeded",
        (U, D),
        why,
        "(float[4] x) => (float[4] y)",
        "r = RandomUniform <shape = [4], seed = 7.0> (); y = Add (x, r)",
        x=normal(4),
    )
    yield _trap(
        "random_like",
        (U, D),
        why,
        "(float[4] x) => (float[4] y)",
        "r = RandomUniformLike (x); y = Mul (x, r)",
        x=normal(4),
    )
    yield _trap(
        "bernoulli", (U, D), why, "(float[64] x) => (float[64] y)", "y = Bernoulli (x)", x=np.full(64, 0.5, np.float32)
    )
    yield _trap(
        "multinomial",
        (U, D),
        why,
        "(float[1,3] x) => (int32[1,32] y)",
        "y = Multinomial <sample_size = 32> (x)",
        x=f32([0.1, 0.2, 0.3]),
    )
    body = "r = Constant <value_float = 0.5> (); t = Constant <value = bool {1}> (); y = Dropout (x, r, t)"
    yield _trap("dropout", (U, D), why, "(float[64] x) => (float[64] y)", body, x=normal(64))
    yield _trap(
        "random_hidden",
        (U, D),
        why,
        "(float[4] x) => (float[4] y)",
        "t = Constant <value = bool {1}> (); y = If (t) <then_branch = p () => (float[4] u) { r = RandomNormalLike (x); u = Add (x, r) }, else_branch = q () => (float[4] w) { w = Neg (x) }>",
        x=normal(4),
    )


def refused() -> Iterator[Entry]:
    one = "(float[3] x) => (float[3] y)"
    x = normal(3)
    yield _trap("unknown_operator", (INV, S), "ONNX has no such operator", one, "y = Frobnicate (x)", x=x)
    yield _trap(
        "unknown_domain",
        (INV, S),
        "nobody need know this domain",
        one,
        "y = my.own.Thing (x)",
        domains=', "my.own" : 1',
        x=x,
    )
    yield _trap(
        "microsoft_domain",
        (INV, S),
        "an extension of one compiler",
        one,
        "y = com.microsoft.QuickGelu (x)",
        domains=', "com.microsoft" : 1',
        x=x,
    )
    yield _trap("opset_too_new", (INV, S), "an opset that does not exist", one, "y = Relu (x)", opset=99, x=x)
    yield _trap("ir_too_new", (INV, S), "an IR version that does not exist", one, "y = Relu (x)", ir=99, x=x)
    yield _trap("undefined_name", (INV,), "an input that nothing makes", one, "y = Add (x, nowhere)", x=x)
    yield _trap("made_twice", (INV,), "names are assigned once", one, "y = Relu (x); y = Neg (x)", x=x)
    yield _trap(
        "no_broadcast",
        (INV,),
        "shapes that do not broadcast",
        "(float[3] x, float[4] z) => (float[4] y)",
        "y = Add (x, z)",
        x=x,
        z=normal(4),
    )
    yield _trap(
        "mixed_types",
        (INV,),
        "types that differ",
        "(float[3] x, int64[3] z) => (float[3] y)",
        "y = Add (x, z)",
        x=x,
        z=i64(1, 2, 3),
    )
    yield _trap(
        "bad_reshape",
        (INV,),
        "six elements in four places",
        "(float[6] x) => (float[2,2] y)",
        "s = Constant <value_ints = [2, 2]> (); y = Reshape (x, s)",
        x=normal(6),
    )
    yield _trap(
        "bad_reshape_run_time",
        (INV,),
        "the same, with a shape that comes at run time",
        "(float[6] x, int64[2] s) => (float[A,B] y)",
        "y = Reshape (x, s)",
        x=normal(6),
        s=i64(4, 2),
    )
    yield _trap(
        "conv_channels",
        (INV,),
        "channels that do not match",
        "(float[1,3,4,4] x, float[2,4,3,3] w) => (float[1,2,2,2] y)",
        "y = Conv (x, w)",
        x=normal(1, 3, 4, 4),
        w=normal(2, 4, 3, 3),
    )
    yield _trap(
        "wrong_output_type",
        (INV,),
        "declared otherwise than computed",
        "(float[3] x) => (int64[3] y)",
        "y = Relu (x)",
        x=x,
    )
    yield _trap(
        "wrong_output_shape",
        (INV,),
        "declared otherwise than computed",
        "(float[3] x) => (float[5] y)",
        "y = Relu (x)",
        x=x,
    )
    yield _trap(
        "gather_outside",
        (INV, U),
        "an index outside of the data",
        "(float[3] x, int64[2] i) => (float[2] y)",
        "y = Gather (x, i)",
        x=x,
        i=i64(1, 7),
    )
    yield _trap(
        "gather_elements_outside",
        (INV, U),
        "an index outside of the data",
        "(float[3] x, int64[3] i) => (float[3] y)",
        "y = GatherElements (x, i)",
        x=x,
        i=i64(0, -4, 1),
    )
    yield _trap(
        "scatter_outside",
        (INV, U),
        "an index outside of the data",
        "(float[3] x, int64[1] i, float[1] u) => (float[3] y)",
        "y = ScatterElements (x, i, u)",
        x=x,
        i=i64(9),
        u=f32(1),
    )
    yield _trap(
        "reflect_too_far",
        (INV, U, S),
        "reflected beyond what there is",
        "(float[3] x) => (float[13] y)",
        'p = Constant <value_ints = [5, 5]> (); y = Pad <mode = "reflect"> (x, p)',
        x=x,
    )
    yield _trap(
        "topk_too_many",
        (INV, U),
        "more than there are",
        "(float[3] x) => (float[N] v, int64[N] i)",
        "k = Constant <value_ints = [7]> (); v, i = TopK (x, k)",
        x=x,
    )
    yield _trap(
        "no_dilation",
        (INV, U),
        "a dilation of zero",
        "(float[1,1,5] x, float[1,1,2] w) => (float[1,1,5] y)",
        "y = Conv <dilations = [0]> (x, w)",
        x=normal(1, 1, 5),
        w=normal(1, 1, 2),
    )
    yield _trap(
        "strings",
        (S,),
        "strings are no tensor compiler's trade",
        "(string[2] x) => (string[2] y)",
        'y = StringNormalizer <case_change_action = "UPPER"> (x)',
        x=np.array(["straße", "b"]),
    )
    yield _trap(
        "sequence",
        (S,),
        "sequences are rarely supported",
        one,
        "s = SequenceConstruct (x, x); i = Constant <value_int = 0> (); y = SequenceAt (s, i)",
        x=x,
    )
    yield _trap(
        "optional_absent",
        (INV, S, U),
        "an element of nothing",
        "() => (float[3] y)",
        "o = Optional <type = float[3]> (); y = OptionalGetElement (o)",
    )
    yield _trap(
        "scan",
        (S,),
        "scans are rarely supported",
        "(float[1] a, float[3,1] x) => (float[1] b, float[3,1] y)",
        "b, y = Scan <num_scan_inputs = 1, body = s (float[1] c, float[1] e) => (float[1] d, float[1] f) { d = Add (c, e); f = Identity (d) }> (a, x)",
        a=f32(0),
        x=normal(3, 1),
    )
    yield _trap(
        "double_only",
        (S,),
        "double where a compiler has only single",
        "(double[3] x) => (double[3] y)",
        "y = Erf (x)",
        x=normal(3, dtype=np.float64),
    )
    yield _trap(
        "complex_numbers",
        (S,),
        "complex numbers are rarely supported",
        "(complex64[2] x) => (complex64[2] y)",
        "y = Identity (x)",
        x=np.array([1 + 2j, 3], np.complex64),
    )
    yield _trap(
        "string_number",
        (S, U, INV),
        "a text that is no number",
        "(string[2] x) => (float[2] y)",
        "y = Cast <to = 1> (x)",
        x=np.array(["1e400", "abc"]),
    )
    yield _trap(
        "image",
        (S, N),
        "decoders of JPEG differ",
        "(uint8[N] x) => (uint8[A,B,3] y)",
        "y = ImageDecoder (x)",
        x=np.zeros(8, np.uint8),
    )


def resources() -> Iterator[Entry]:
    why = "no machine of this kind has that much"
    yield _trap(
        "memory_expand",
        (ENV, INV),
        why,
        "(float[1] x) => (float[200000,200000] y)",
        "s = Constant <value_ints = [200000, 200000]> (); y = Expand (x, s)",
        x=f32(1),
    )
    yield _trap(
        "memory_outer",
        (ENV, INV),
        why,
        "(float[80000,1] x) => (float y)",
        "t = Transpose (x); a = MatMul (x, t); y = ReduceMax <keepdims = 0> (a)",
        x=uniform(80000, 1),
    )
    yield _trap(
        "memory_inside",
        (ENV, INV),
        why,
        "(float[1] x) => (float y)",
        "s = Constant <value_ints = [50000, 50000]> (); a = Expand (x, s); b = Exp (a); y = ReduceSum <keepdims = 0> (b)",
        x=f32(1),
    )
    loop = "t = Constant <value = bool {1}> (); n = Constant <value = int64 {%d}> (); y = Loop (n, t, x) <body = l (int64 i, bool c, float[1] a) => (bool d, float[1] b) { d = Identity (c); b = Add (a, a) }>"
    yield _trap(
        "loop_without_end",
        (ENV, INV),
        "a loop that does not end",
        "(float[1] x) => (float[1] y)",
        loop % 2**62,
        x=f32(1),
    )


def hand_made() -> Iterator[Entry]:
    """What `onnx.parser` cannot write."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[2, 2])
    node2 = helper.make_node("Relu", ["b"], ["a"])
    cycle = helper.make_node("Neg", ["a"], ["b"])
    x, w, y = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [1, 1, 4, 4]), ("w", [1, 1, 3, 3]), ("y", [1, 1, 3, 3]))
    )

    def built(nodes: list[onnx.NodeProto], ins: list[Any], outs: list[Any], inits: list[Any] | None = None) -> bytes:
        model = helper.make_model(
            helper.make_graph(nodes, "g", ins, outs, inits or []),
            opset_imports=[helper.make_opsetid("", 20)],
            ir_version=9,
        )
        return bytes(model.SerializeToString())

    yield Entry(
        "kernel_shape_lies",
        frozenset({INV}),
        "kernel_shape is not the weight's",
        built([node], [x, w], [y]),
        None,
        {"x": normal(1, 1, 4, 4), "w": normal(1, 1, 3, 3)},
    )
    yield Entry(
        "cycle",
        frozenset({INV}),
        "a graph that goes round",
        built([node2, cycle], [], [helper.make_tensor_value_info("a", 1, [3])]),
        None,
        {},
    )
    broken = helper.make_tensor("c", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    broken.dims[0] = 5
    add = helper.make_node("Add", ["v", "c"], ["u"])
    v, u = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [5]) for n in ("v", "u"))
    yield Entry(
        "initializer_too_short",
        frozenset({INV}),
        "five elements promised, three there",
        built([add], [v], [u], [broken]),
        None,
        {"v": normal(5)},
    )


_SOURCES = (
    casts,
    integers,
    not_numbers,
    zeros,
    thresholds,
    quantised,
    conditioning,
    sums,
    choices,
    random,
    refused,
    resources,
    hand_made,
)


def traps() -> list[Entry]:
    return [entry for source in _SOURCES for entry in source()]
