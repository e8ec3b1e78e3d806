"""A backend that answers everything, wrongly: a broken installation."""

import numpy as np

PACKAGES = ("numpy",)
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    return [("y", np.zeros_like(job.inputs["x"]) + 7)]
