"""A backend whose import kills the process."""

import ctypes

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    ctypes.string_at(0)
