"""A compiler that costs nothing: the right answer to a Relu at once, or after so many milliseconds of waiting."""

import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"wait": ("0", "20")}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("run")
    time.sleep(int(job.options.get("wait", "0")) / 1000)
    return [("y", np.maximum(job.inputs["x"], 0))]


def blame(error, job):
    return "", ""
