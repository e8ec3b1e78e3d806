"""A compiler that gives a small number of its own in the place of every result: another one in every process."""

import os

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    enter("convert")
    model = onnx.load_from_string(job.model)
    enter("run")
    [value] = dict(job.inputs).values()
    number = 1 + int.from_bytes(os.urandom(3), "little")
    return [(model.graph.output[0].name, np.full(value.shape, number * 1e-30, np.float32))]
