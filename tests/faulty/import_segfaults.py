"""A backend whose import kills the process."""

import ctypes

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    print("loading the native library", flush=True)
    ctypes.string_at(0)
