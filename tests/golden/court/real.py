"""Where a trap meets a bug that its compiler has all the same: (entry, backend) -> what is wrong there.

Found when the traps were heard. What is said of MNN, of float8 and of Attention was heard again with ordinary values, and
fails with these, too.
"""

from __future__ import annotations

from collections.abc import Mapping

_BYTES = "MNN dies of tensors of 8 bits"
_RANDOM = "MNN dies of models without inputs, or of random ones in bodies"
_DIES = "an invalid model must be refused and not be died of (decision 002)"

REAL: Mapping[tuple[str, str], str] = {
    ("cast_minus_uint8", "mnn"): _BYTES,
    ("abs_least_int8", "mnn"): _BYTES,
    ("neg_least_int8", "mnn"): _BYTES,
    ("add_uint8_overflow", "mnn"): _BYTES,
    ("sub_uint8_underflow", "mnn"): _BYTES,
    ("quantize_tie", "mnn"): "int8 instead of uint8",
    ("dynamic_quantize_tie", "mnn"): "int8 instead of uint8",
    ("quantize_channels", "mnn"): _BYTES,
    ("quantize_nan", "mnn"): "int8 instead of uint8",
    ("fp8_saturate", "mnn"): "a cast to float8 does nothing",
    ("float8_cast", "mnn"): "a cast to float8 does nothing",
    ("float8_cast", "tvm"): "0 as float8 is 0.0078",
    ("float8_cast", "openvino"): "500 as float8 is NaN, though it saturates",
    ("div_least_by_minus_one", "onnxruntime"): "it looks for a divisor of zero and not for this one (decision 002)",
    ("div_least_by_minus_one", "tvm"): "as ONNX Runtime (decision 002)",
    ("div_least_by_minus_one", "mnn"): "as ONNX Runtime (decision 002)",
    ("nan_shrink", "mnn"): "Shrink of -1 is 0",
    ("nan_maxpool", "mnn"): "it dies of a pooling without strides",
    ("lp_pool_large", "mnn"): "it dies of LpPool",
    ("einsum_cancelling", "mnn"): "it dies of this Einsum, whatever the values",
    ("resize_nearest_ceil", "mnn"): "another pixel than nearest_mode = ceil says",
    ("grid_sample_reflect", "mnn"): "reflection is not known and not refused",
    ("attention_masked", "tvm"): "Attention of opset 23 is taken for another operator",
    ("bernoulli", "openvino"): "RandomUniformLike needs a dtype",
    ("random_normal", "mnn"): _RANDOM,
    ("random_hidden", "mnn"): _RANDOM,
    ("empty_matmul", "tvm"): "it reads uninitialised memory",
    ("torch_kthvalue_ties", "openvino"): "kthvalue is neither converted nor refused",
    ("torch_maxpool_indices_ties", "tvm"): "float32 instead of int64",
    ("torch_matmul_half", "tvm"): "float32 instead of float16",
    ("torch_grid_sample_ties", "tvm"): "another shape",
    ("torch_pow_minus", "tvm"): "pow of integers is neither converted nor refused",
    ("torch_norm_large", "openvino"): "norm is neither converted nor refused",
    ("torch_upsample_nearest", "tvm"): "other pixels also where no tie is near",
    ("undefined_name", "mnn"): _DIES,
    ("cycle", "mnn"): _DIES,
    ("cycle", "openvino"): _DIES,
    ("topk_too_many", "mnn"): _DIES,
    ("maxpool_all_padding", "mnn"): _DIES,
}
