"""A backend for `tinyc` whose bugs can be reported: it says how a maintainer would run a model."""

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


def reproduce(kind, options, inputs=(), outputs=()):
    """A few lines of Python."""
    first = "[0]" if len(outputs) < 2 else ""
    return (
        "import tinyc\n\n"
        "program = tinyc.convert(model.SerializeToString())\n"
        f"actual = list(program(inputs).values()){first}"
    )
