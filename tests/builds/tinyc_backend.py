"""A backend for `tinyc`, the compiler of a page that tests build, break and bisect."""

import importlib

PACKAGES = ("tinyc",)
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    """Import the compiler and what reads models for it."""
    importlib.import_module("tinyc")


def execute(job, enter):
    """Convert and run."""
    import tinyc

    enter("convert")
    program = tinyc.convert(job.model)
    enter("run")
    return list(program(dict(job.inputs)).items())
