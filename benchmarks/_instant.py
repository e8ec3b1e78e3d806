"""A compiler that costs nothing: the right answer to a Relu at once, or after so many milliseconds of waiting.

With ``wrong=seldom`` one result in 1,000 is off.
"""

import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"wait": ("0", "20"), "wrong": ("never", "seldom")}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("run")
    time.sleep(int(job.options.get("wait", "0")) / 1000)
    off = job.options.get("wrong") == "seldom" and job.inputs["x"][0] < -3.1
    return [("y", np.maximum(job.inputs["x"], 0) + np.float32(off))]


def blame(error, job):
    return "", ""
