"""The TensorRT backend, as far as a machine without libnvinfer can tell: it says why it is unavailable."""

from __future__ import annotations

import ast
import ctypes
import importlib.util

import numpy as np
import pytest

from fuzz.backends import tensorrt as backend
from fuzz.wire import CannotFeed, Job, Raw


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(importlib.util.find_spec("tensorrt") is not None, reason="TensorRT is installed here")
def test_without_the_package_the_reason_says_how_to_install_it() -> None:
    with pytest.raises(
        ImportError, match=r"TensorRT is not installed \(pip install 'graphwarden\[tensorrt\]'\)"
    ) as caught:
        backend.devices()
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(has_driver(), reason="an NVIDIA driver is installed here")
def test_without_a_driver_the_reason_names_it() -> None:
    with pytest.raises(RuntimeError, match=r"no CUDA device: libcuda\.so\.1"):
        backend._Cuda()


def test_the_parsers_error_is_blamed_as_it_is() -> None:
    error = backend.ParseError("UNSUPPORTED_NODE: …", "NonZero", "importNonZero")
    assert backend.blame(error, Job("onnx", b"", {}, {})) == ("NonZero", "importNonZero")
    assert backend.blame(RuntimeError("other"), Job("onnx", b"", {}, {})) == ("", "")


def test_values_without_a_tensorrt_type_cannot_be_fed() -> None:
    job = Job("onnx", b"", {"x": np.zeros(1, np.complex64), "s": [np.zeros(1)], "n": None}, {})
    for name in (*job.inputs, "absent"):
        with pytest.raises(CannotFeed):
            backend._given(job, name)


def test_bytes_and_shapes_are_taken_from_arrays_and_raw_values() -> None:
    raw = Raw("bfloat16", (2,), b"\x80\x3f\x00\x40")
    assert (backend._shape(raw), backend._bytes(raw)) == ((2,), raw.data)
    array = np.asfortranarray(np.arange(4, dtype=np.int32).reshape(2, 2))
    assert backend._bytes(array) == array.tobytes("C")


@pytest.mark.parametrize("options", [{}, {"opt": "5", "tf32": "on"}])
def test_the_snippet_is_python(options: dict[str, str]) -> None:
    ast.parse(backend.reproduce("onnx", options))
