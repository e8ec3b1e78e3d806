"""Reading what is left of a stack."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuzz.case import Error, Frame
from triage import stack
from triage.stack import faulthandler_frames, frames, native_site, telling

CRASH = """
import faulthandler, ctypes, threading, time
faulthandler.enable()
def outer(): inner()
def inner(): ctypes.string_at(0)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
outer()
"""


def test_the_frames_of_a_real_crash_are_read_outermost_first() -> None:
    done = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, check=False)
    assert done.returncode < 0
    names = [frame.function for frame in faulthandler_frames(done.stderr)]
    assert names[:3] == ["<module>", "outer", "inner"]


def test_text_without_a_stack_has_no_frames() -> None:
    assert faulthandler_frames("") == ()
    assert faulthandler_frames("Segmentation fault\n  File of another kind\n") == ()


def test_a_traceback_is_preferred_to_native_output() -> None:
    own = (Frame("a.py", 1, "f"),)
    assert frames(Error(frames=own, stderr='(most recent call first):\n  File "b.py", line 2 in g\n')) == own
    assert frames(Error(stderr='(most recent call first):\n  File "b.py", line 2 in g\n')) == (Frame("b.py", 2, "g"),)


def test_frames_that_every_failure_passes_through_tell_nothing() -> None:
    found = [
        Frame("/x/fuzz/worker.py", 1, "main"),
        Frame("/x/site-packages/tvm/relax/build.py", 2, "build"),
        Frame("python/tvm_ffi/cython/function.pxi", 3, "__call__"),
        Frame("C:\\work\\lower.py", 4, "<module>"),
        Frame("<frozen importlib._bootstrap>", 5, "_load"),
    ]
    assert telling(found) == ["lower.py", "build.py build"]
    assert telling(found, most=1) == ["lower.py"]
    assert telling([]) == []


def test_the_first_native_place_of_a_message_is_its_last_three_parts() -> None:
    assert (
        native_site("Check failed at src/core/src/op/util/elementwise_args.cpp:18:") == "op/util/elementwise_args.cpp"
    )
    assert native_site("at pad.cc:7 and then a/b.hpp:9") == "pad.cc"
    assert native_site("pad.cc without a line, and pad.py:3") == ""


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("/p/src/core/src/validation_util.cpp", ""),
        ("/p/src/relax/op/op_common.cc", ""),
        ("", "tvm::relax::InferTypeReshape"),
        ("/s/torch/_prims_common/__init__.py", "canonicalize_dim"),
        ("/s/site-packages/numpy/lib/_shape_base_impl.py", "split"),
        ("/s/x/onnx_frontend.py", "_normalize_constant_axes"),
    ],
)
def test_helpers_are_shared_by_conversions(file: str, function: str) -> None:
    assert stack.shared(file, function)


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("/p/src/frontends/onnx/frontend/src/op/pad.cpp", ""),
        ("/p/src/relax/transform/fuse_ops.cc", "tvm::relax::FuseOps"),
        ("/s/tvm/relax/frontend/onnx/onnx_frontend.py", "_impl_v13"),
        ("/s/torch/_inductor/lowering.py", "lower_cat"),
        ("/p/onnxruntime/core/providers/cpu/nn/conv.cc", ""),
    ],
)
def test_conversions_and_passes_are_their_own(file: str, function: str) -> None:
    assert not stack.shared(file, function)
    assert stack.spot(file, function)[1] == ""


@pytest.mark.parametrize("file", ["/tmp/case12/main.py", "/home/b/test_op.py", "/x/repro.py", "<ipython-input-3-0a>"])
def test_who_calls_the_compiler_is_no_place(file: str) -> None:
    assert stack.spot(file, "run")[1] == "reporter"


def test_a_package_that_was_built_in_a_temporary_folder_is_a_compiler_all_the_same() -> None:
    assert stack.spot("/tmp/tvm/python/tvm/relax/x.py", "f")[1] == ""
    assert stack.spot("/tmp/venv/site-packages/torch/a.py", "f")[1] == ""


def test_functions_of_one_name_are_told_by_their_code_and_modules_by_their_folder() -> None:
    assert stack.spot("a/front.py", "_impl_v13", "raise  ValueError(x)") == (
        "front.py _impl_v13: raise ValueError(x)",
        "",
    )
    assert stack.spot("a/front.py", "lower_pad", "raise ValueError(x)") == ("front.py lower_pad", "")
    assert stack.spot("torch/_refs/__init__.py", "permute") == ("_refs/__init__.py permute", "")
