"""Computes what ``wrong_result`` of its neighbour computes: a second implementation that agrees with it."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("run")
    return [("y", job.inputs["x"] + 100)]
