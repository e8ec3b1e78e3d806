"""Failing calls of PyTorch that are no compiler's bug."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.golden.court.entry import INVALID, NOISE, RANDOM, REFERENCE, UNDEFINED, UNSUPPORTED, Entry

U, N, D, S, INV = UNDEFINED, NOISE, RANDOM, UNSUPPORTED, INVALID
F = "torch.nn.functional."


def _call(
    name: str, expected: tuple[str, ...], why: str, api: str, *tensors: Any, args: Any = None, **kwargs: Any
) -> Entry:
    """`tensors` are nested lists of float32, or whole descriptions; by default they are the arguments."""
    described = [t if isinstance(t, dict) else {"dtype": "float32", "values": t} for t in tensors]
    given = [{"tensor": i} for i in range(len(described))]
    instance = {
        "library": "torch",
        "version": "2.13.0",
        "api": api,
        "args": given + list(args or []),
        "kwargs": kwargs,
        "tensors": described,
    }
    return Entry(f"torch_{name}", frozenset(expected), why, b"", instance)


def _ints(values: Any, dtype: str = "int64") -> dict[str, Any]:
    return {"dtype": dtype, "values": values}


def _drawn(*shape: int, dtype: str = "float32", **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "seed": 3, **more}


def choices() -> Iterator[Entry]:
    ties, why = [1.0, 3.0, 3.0, 0.0, 1.0, 3.0], "which of equal elements is not said"
    yield _call("argsort_ties", (U,), why, "torch.argsort", ties)
    yield _call("sort_ties", (U,), why, "torch.sort", ties)
    yield _call("sort_ties_down", (U,), why, "torch.sort", ties, descending=True)
    yield _call("topk_ties", (U,), why, "torch.topk", ties, args=[2])
    yield _call(
        "topk_unsorted", (U,), "sorted=False: any order", "torch.topk", [1.0, 5.0, 3.0, 4.0], args=[3], sorted=False
    )
    yield _call("max_ties", (U,), why, "torch.max", [ties], args=[1])
    yield _call("min_ties", (U,), why, "torch.min", [ties], args=[1])
    yield _call("argmax_ties", (U,), why, "torch.argmax", ties)
    yield _call("kthvalue_ties", (U,), why, "torch.kthvalue", ties, args=[2])
    yield _call("mode_ties", (U,), why, "torch.mode", [1.0, 1.0, 3.0, 3.0])
    yield _call("median_ties", (U,), why, "torch.median", [ties], args=[1])
    yield _call("cummax_ties", (U,), why, "torch.cummax", ties, args=[0])
    yield _call(
        "maxpool_indices_ties", (U,), why, F + "max_pool2d", [[[[1.0, 1.0], [1.0, 1.0]]]], args=[2], return_indices=True
    )
    yield _call(
        "scatter_twice",
        (U,),
        why,
        "torch.scatter",
        [0.0, 0.0, 0.0],
        args=[0, _ints([1, 1]), {"dtype": "float32", "values": [5.0, 6.0]}],
    )
    yield _call(
        "index_put_twice",
        (U,),
        why,
        "torch.index_put",
        [0.0, 0.0, 0.0],
        args=[{"tuple": [_ints([1, 1])]}, {"dtype": "float32", "values": [5.0, 6.0]}],
    )
    yield _call(
        "index_copy_twice",
        (U,),
        why,
        "torch.index_copy",
        [0.0, 0.0, 0.0],
        args=[0, _ints([1, 1]), {"dtype": "float32", "values": [5.0, 6.0]}],
    )


def not_numbers() -> Iterator[Entry]:
    x, why = ["nan", -1.0, 2.0, "nan"], "what becomes of NaN is not said"
    for api in (
        F + "relu",
        F + "relu6",
        F + "hardtanh",
        F + "hardswish",
        F + "hardsigmoid",
        "torch.sign",
        F + "softshrink",
        F + "hardshrink",
    ):
        yield _call(f"nan_{api.rsplit('.', 1)[1]}", (U,), why, api, x)
    yield _call("nan_clamp", (U,), why, "torch.clamp", x, args=[-1.0, 1.0])
    yield _call("nan_threshold", (U,), why, F + "threshold", x, args=[0.5, 9.0])
    yield _call("nan_max_pool1d", (U,), why, F + "max_pool1d", [[x]], args=[2])
    yield _call("nan_max_pool2d", (U,), why, F + "max_pool2d", [[[x, x]]], args=[2])
    yield _call("nan_adaptive_max_pool1d", (U,), why, F + "adaptive_max_pool1d", [[x]], args=[2])
    yield _call("nan_argmax", (U,), why, "torch.argmax", x)
    yield _call("nan_sort", (U,), why, "torch.sort", x)
    yield _call("nan_topk", (U,), why, "torch.topk", x, args=[2])
    yield _call(
        "nan_to_int",
        (U,),
        "out of the integer's range",
        "torch.Tensor.to",
        [3e10, 1.0, "nan"],
        args=[{"dtype": "int32"}],
    )
    yield _call(
        "float_to_uint8",
        (U,),
        "out of the integer's range",
        "torch.Tensor.to",
        [-1.0, 300.0, 2.0],
        args=[{"dtype": "uint8"}],
    )
    yield _call(
        "masked_softmax", (U,), "a row that is wholly masked", F + "softmax", [["-inf", "-inf"], [0.0, 1.0]], args=[1]
    )
    yield _call("cosine_of_zeros", (U, N), "an angle with nothing", F + "cosine_similarity", [[0.0, 0.0]], [[1.0, 2.0]])


def random() -> Iterator[Entry]:
    why = "random numbers or memory that nothing has filled"
    yield _call("rand_like", (U, D), why, "torch.rand_like", [1.0, 2.0, 3.0])
    yield _call("randn", (U, D), why, "torch.randn", args=[4])
    yield _call("bernoulli", (U, D), why, "torch.bernoulli", _drawn(64, low=0.4, high=0.6))
    yield _call("multinomial", (U, D), why, "torch.multinomial", [0.2, 0.3, 0.5, 0.1], args=[3])
    yield _call("dropout", (U, D), why, F + "dropout", _drawn(64), args=[0.5], training=True)
    yield _call("rrelu", (U, D), why, F + "rrelu", _drawn(64), training=True)
    yield _call("empty_like", (U, D), why, "torch.empty_like", [1.0, 2.0, 3.0])
    yield _call("randperm", (U, D), why, "torch.randperm", args=[32])


def conditioning() -> Iterator[Entry]:
    why = "rounding is all that is left"
    near = [10000.0 + 0.001 * i for i in range(16)]
    yield _call("var_near", (N,), why, "torch.var", [100000.0 + 0.01 * i for i in range(16)])
    yield _call("std_near", (N,), why, "torch.std", near)
    yield _call("layer_norm_near", (N,), why, F + "layer_norm", [near], args=[[16]], eps=1e-12)
    yield _call("instance_norm_near", (N,), why, F + "instance_norm", [[near]])
    hilbert = [[1 / (i + j + 1) for j in range(7)] for i in range(7)]
    yield _call("inv_hilbert", (N,), why, "torch.linalg.inv", hilbert)
    yield _call("sin_huge", (N, U), why, "torch.sin", [1e20, 3e9, 1e7])
    yield _call("cos_huge", (N, U), why, "torch.cos", [1e20, 3e9, 1e7])
    yield _call("tan_pole", (N,), why, "torch.tan", [1.57079637, -1.57079637, 4.7123889])
    yield _call("exp_edge", (N,), why, "torch.exp", [88.72283, 88.7, -104.0])
    yield _call("lgamma_pole", (N, U), why, "torch.lgamma", [-1.0000001, -2.0, 1e-40])
    yield _call("digamma_pole", (N, U), why, "torch.digamma", [-1.0000001, -2.0, 0.0])
    yield _call("sum_half", (N,), why, "torch.sum", _drawn(5000, dtype="float16", low=0.0, high=1.0))
    yield _call("cumsum_half", (N,), why, "torch.cumsum", _drawn(5000, dtype="float16", low=0.0, high=1.0), args=[0])
    yield _call("softmax_half", (N,), why, F + "softmax", _drawn(4, 300, dtype="float16"), args=[1])
    yield _call(
        "matmul_half", (N,), why, "torch.matmul", _drawn(2, 4000, dtype="float16"), _drawn(4000, 2, dtype="float16")
    )
    yield _call("sum_cancelling", (N,), why, "torch.sum", [1e20, 1.0, -1e20, 3.0, 1e10, -1e10])
    yield _call("pow_large", (N,), why, "torch.pow", [1.001, 1.004, 0.999], args=[5000.0])
    yield _call("svd_sign", (U, N, S), "vectors up to their sign", "torch.linalg.svd", _drawn(3, 3))
    yield _call("eigh_sign", (U, N, S), "vectors up to their sign", "torch.linalg.eigh", [[2.0, 1.0], [1.0, 2.0]])
    yield _call("qr_sign", (U, N, S), "vectors up to their sign", "torch.linalg.qr", _drawn(3, 3))
    yield _call("fmod_quotient", (N, U), "a rounded quotient", "torch.fmod", [1.0, 0.6, 5.3], [0.1, 0.2, 0.1])
    yield _call("remainder_quotient", (N, U), "a rounded quotient", "torch.remainder", [1.0, 0.6, 5.3], [0.1, 0.2, 0.1])
    yield _call("floor_divide", (N, U), "a rounded quotient", "torch.floor_divide", [1.0, 0.6, 5.3], [0.1, 0.2, 0.1])
    yield _call(
        "interpolate_ties",
        (N, U),
        "a coordinate that is a tie",
        F + "interpolate",
        [[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]],
        scale_factor=0.6,
        mode="nearest",
    )
    yield _call(
        "grid_sample_ties",
        (U, N),
        "nearest to a point halfway",
        F + "grid_sample",
        _drawn(1, 1, 4, 4),
        [[[[0.0, 0.0], [2 / 3, 0.0]]]],
        mode="nearest",
        align_corners=True,
    )
    yield _call(
        "round_decimals", (N, U), "a tie that is none in binary", "torch.round", [0.15, 0.25, 2.675], decimals=1
    )
    yield _call("histc_edges", (N, U), "a bin's edge", "torch.histc", [0.1, 0.2, 0.3, 0.7], args=[10], min=0, max=1)


def integers() -> Iterator[Entry]:
    yield _call(
        "shift_too_far",
        (U,),
        "a shift by the width",
        "torch.bitwise_left_shift",
        _ints([1, 2, 3], "int32"),
        _ints([32, 33, 1], "int32"),
    )
    yield _call(
        "shift_right_too_far",
        (U,),
        "a shift by the width",
        "torch.bitwise_right_shift",
        _ints([-8, 2, 3], "int32"),
        _ints([40, 33, 1], "int32"),
    )
    yield _call("abs_least", (U,), "overflow", "torch.abs", _ints([-128, 3, -4], "int8"))
    yield _call("add_overflow", (U,), "overflow", "torch.add", _ints([2**31 - 1, 3], "int32"), _ints([9, 4], "int32"))
    yield _call(
        "division_by_zero",
        (INV, U),
        "eager refuses",
        "torch.floor_divide",
        _ints([1, 2], "int32"),
        _ints([0, 1], "int32"),
    )
    yield _call("embedding_outside", (INV, U), "eager refuses", F + "embedding", _ints([1, 9]), _drawn(3, 2))
    yield _call("gather_outside", (INV, U), "eager refuses", "torch.index_select", [1.0, 2.0], args=[0, _ints([5])])
    yield _call(
        "pow_minus",
        (INV, U),
        "an integer to a negative power",
        "torch.pow",
        _ints([2, 3], "int32"),
        _ints([-1, 1], "int32"),
    )
    yield _call("no_broadcast", (INV,), "eager refuses", "torch.add", [1.0, 2.0, 3.0], [1.0, 2.0])
    yield _call(
        "max_unpool_twice",
        (U,),
        "an index twice",
        F + "max_unpool2d",
        [[[[1.0, 2.0], [3.0, 4.0]]]],
        _ints([[[[0, 0], [5, 15]]]]),
        args=[2],
    )
    yield _call(
        "logsumexp_nothing",
        (U, N, REFERENCE),
        "the logarithm of a sum of zeros",
        "torch.logsumexp",
        ["-inf", "-inf"],
        args=[0],
    )


def edges() -> Iterator[Entry]:
    """Where formulas leave their domain, and where nothing is left to compute with."""
    q = _drawn(1, 1, 2, 4)
    mask = {"dtype": "bool", "values": [[False, False], [True, True]]}
    why = "nothing to share out, to divide by or to average"
    yield _call(
        "attention_masked",
        (U, N, S),
        why,
        F + "scaled_dot_product_attention",
        q,
        _drawn(1, 1, 2, 4),
        _drawn(1, 1, 2, 4),
        attn_mask=mask,
    )
    yield _call("log_softmax_masked", (U, N), why, F + "log_softmax", [["-inf", "-inf"], [0.0, 1.0]], args=[1])
    yield _call("softmin_masked", (U, N), why, F + "softmin", [["inf", "inf"], [0.0, 1.0]], args=[1])
    yield _call("normalize_zeros", (U, N), why, F + "normalize", [[0.0, 0.0], [1e-30, 0.0]])
    yield _call("mean_of_nothing", (U, N, S), why, "torch.mean", {"dtype": "float32", "shape": [0], "values": []})
    yield _call("var_of_one", (U, N), why, "torch.var", [3.0])
    yield _call("cross_entropy_ignored", (U, N, S), why, F + "cross_entropy", [[1.0, 2.0]], _ints([-100]))
    yield _call(
        "avg_pool_padding",
        (U, N),
        why,
        F + "avg_pool1d",
        [[[1.0, 2.0, 3.0]]],
        args=[2, 2, 1],
        ceil_mode=True,
        count_include_pad=False,
    )
    why = "rounding decides which step it is"
    yield _call(
        "bucketize_near",
        (N, U),
        why,
        "torch.bucketize",
        [0.1, 0.3, 0.7],
        args=[{"dtype": "float32", "values": [0.1, 0.2, 0.3, 0.7]}],
    )
    yield _call("quantile", (N, U, S), why, "torch.quantile", [0.1, 0.2, 0.3, 0.7], args=[0.3333333])
    yield _call(
        "div_floor", (N, U), why, "torch.div", [1.0, 0.6, 5.3, -7.1], [0.1, 0.2, 0.1, 0.1], rounding_mode="floor"
    )
    yield _call(
        "div_trunc", (N, U), why, "torch.div", [1.0, 0.6, 5.3, -7.1], [0.1, 0.2, 0.1, 0.1], rounding_mode="trunc"
    )
    yield _call("linspace", (N, U), why, "torch.linspace", args=[0.0, 1.0, 7])
    yield _call("arange", (N, U), why, "torch.arange", args=[0.0, 1.0, 0.1])
    yield _call(
        "upsample_nearest", (N, U), why, F + "interpolate", _drawn(1, 1, 6, 6), scale_factor=1.3333334, mode="nearest"
    )
    yield _call(
        "upsample_bicubic",
        (N, U),
        "weights of float32",
        F + "interpolate",
        _drawn(1, 1, 6, 6),
        scale_factor=1.7,
        mode="bicubic",
        align_corners=False,
    )
    yield _call(
        "adaptive_avg", (N,), "sums in another order", F + "adaptive_avg_pool2d", _drawn(1, 2, 7, 7), args=[[3, 3]]
    )
    why = "beyond the range on the way"
    yield _call("norm_large", (N, U), why, "torch.linalg.norm", [1e30, 2e30])
    yield _call("cumprod_range", (N, U), why, "torch.cumprod", [1e30, 1e30, 1e-30, 1e-25], args=[0])
    yield _call("layer_norm_large", (N, U), why, F + "layer_norm", [[1e30, -1e30, 3e30, 0.0]], args=[[4]])
    yield _call("softplus_large", (N, U), why, F + "softplus", [100.0, 500.0, 19.999])
    yield _call("logaddexp_far", (N, U), why, "torch.logaddexp", ["-inf", 1000.0, 1.0], ["-inf", 999.0, -1000.0])
    yield _call("mish_large", (N, U), why, F + "mish", [60.0, 89.0, 300.0])
    yield _call("sinh_edge", (N, U), why, "torch.sinh", [89.0, -89.2, 1.0])
    yield _call("expm1_tiny", (N, U), "what is left of one less one", "torch.expm1", [1e-8, -1e-30, 88.7])
    yield _call(
        "log1p_tiny", (N, U), "what is left of one plus next to nothing", "torch.log1p", [1e-8, -1e-30, -0.99999994]
    )
    yield _call("sigmoid_log", (N, U), "what is left of one", F + "logsigmoid", [-200.0, -80.0, 30.0])
    yield _call("atan2_zeros", (U, N), "the sign of a zero", "torch.atan2", [0.0, -0.0, 0.0], [-0.0, -1.0, -1.0])
    yield _call("round_half", (N, U), "a tie", "torch.round", [0.5, 1.5, 2.5, -0.5])
    yield _call(
        "isclose_edge", (N, U), "exactly as far as is allowed", "torch.isclose", [1.0, 100.0], [1.00001, 100.001]
    )
    yield _call(
        "cdist_near",
        (N, U),
        "distances of near points",
        "torch.cdist",
        [[1000.0, 1000.0], [1000.001, 1000.0]],
        [[1000.0, 1000.0], [1000.0, 1000.001]],
    )
    yield _call(
        "pow_edges", (U, N), "0 ** 0 and the like", "torch.pow", [0.0, -8.0, "inf", -1.0], [0.0, 0.33333334, 0.0, "inf"]
    )
    yield _call("group_norm_equal", (N, U), "no deviation", F + "group_norm", [[[7.7, 7.7], [7.7, 7.7]]], args=[1])
    yield _call(
        "batch_norm_tiny",
        (N,),
        "next to no variance",
        F + "batch_norm",
        [[1000.0], [1000.1]],
        [1000.0],
        [1e-10],
        eps=0.0,
    )


def traps() -> list[Entry]:
    return [entry for source in (edges, choices, not_numbers, random, conditioning, integers) for entry in source()]
