"""A backend that imports well and crashes on every model."""

import ctypes

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("run")
    return [("y", ctypes.string_at(0))]
