"""A compiler with planted faults close to the tolerance: the reference evaluator, made wrong on purpose.

For the calibration of the court and its tests. Every fault is a bug, however small.
"""

import ctypes

import numpy as np

PACKAGES = ()
KINDS = ("onnx", "instance")
FAULTS = {}


def fault(function):
    FAULTS[function.__name__] = function
    return function


@fault
def scaled(value):
    """Everything 0.22 percent too large: just over the tolerance for numbers near one and above."""
    return value * 1.0022


@fault
def shifted(value):
    """A constant that is just over the tolerance."""
    return value + 2.1e-3 * np.maximum(1.0, np.abs(value))


@fault
def one_element(value):
    """The last element alone, by three thousandths."""
    flat = value.copy().ravel()
    flat[-1:] += 3e-3 * np.maximum(1.0, np.abs(flat[-1:]))
    return flat.reshape(value.shape)


@fault
def tail(value):
    """The last elements that do not fill a vector of four are those of the first."""
    flat = value.copy().ravel()
    rest = flat.size % 4 or 1
    flat[-rest:] = flat[:rest]
    return flat.reshape(value.shape)


@fault
def half_precision(value):
    """Computed with the eight bits of bfloat16."""
    bits = value.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


@fault
def unsigned(value):
    """The sign is lost."""
    return np.abs(value)


@fault
def saturated(value):
    """Everything above 30 is 30."""
    return np.minimum(value, 30.0)


@fault
def uninitialised(value):
    """The first element is what fresh memory holds."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    flat = value.copy().ravel()
    flat[0] = ctypes.string_at(libc.malloc(40000) + 20000, 1)[0] + 1000
    return flat.reshape(value.shape)


OPTIONS = {"fault": tuple(FAULTS)}


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def warm_instance():
    import torch  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    names, found = (of_call if job.kind == "instance" else of_model)(job, enter)
    wrong = FAULTS[job.options.get("fault", "scaled")]
    return [
        (name, np.asarray(wrong(value)).astype(value.dtype) if value.dtype.kind == "f" else value)
        for name, value in zip(names, found, strict=True)
    ]


def of_model(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    evaluator = ReferenceEvaluator(onnx.load_from_string(job.model))
    enter("run")
    return evaluator.output_names, evaluator.run(None, dict(job.inputs))


def of_call(job, enter):
    from fuzz.instance_torch import run_eager

    enter("run")
    return zip(*run_eager(job), strict=True)
