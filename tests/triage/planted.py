"""A compiler with planted bugs: the reference evaluator, except for a few operators that it gets wrong.

What happens depends on the operators of the model alone, so the onnx node tests find the bugs, and a
reduced model keeps them. Two operators share one conversion function, as in real compilers. The option
``steady=no`` adds bugs that would make a hunt slow, or different from run to run.
"""

import ctypes
import os
import re
import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"steady": ("yes", "no")}

SHARED = {"Ceil": "convert_rounding", "Floor": "convert_rounding"}


class Unlowered(Exception):
    """What this compiler raises."""


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    enter("convert")
    model = onnx.load_from_string(job.model)
    operators = [node.op_type for node in model.graph.node]
    enter("run")
    hold()
    return compute(model, job.inputs, operators, job.options)


def compute(model, inputs, operators, options):
    """The outputs by name, wrong in as many ways as `operators` have planted bugs."""
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model)
    found = evaluator.run(None, dict(inputs))
    planted = {**STEADY, **(UNSTEADY if options.get("steady") == "no" else {})}
    for name in operators:
        found = planted.get(name, same)(found)
    return list(zip(evaluator.output_names, found, strict=True))


def same(found):
    return found


def cannot_round(found):
    shape = found[0].shape
    raise Unlowered(f"cannot lower {shape} at 0x7f{id(found):x} in /tmp/build{os.getpid()}/lower.py:{shape[0]}")


def crashes(found):
    os.write(2, b"lower.cc:%d: lanes == %d\n" % (os.getpid() % 97, found[0].size))
    ctypes.string_at(0)


def off_by_one(found):
    return [found[0] + 1, *found[1:]]


def not_a_number(found):
    return [np.full_like(found[0], np.nan), *found[1:]]


def different_each_time(found):
    noise = np.frombuffer(os.urandom(2), np.uint16)[0] / 2.0**8
    return [(found[0] + 10 + noise).astype(found[0].dtype), *found[1:]]


def in_turns(found):
    """Wrong every other time, which a file beside this one counts."""
    with open(TURNS, "a+") as turns:
        turns.write("x")
        turns.seek(0)
        return off_by_one(found) if len(turns.read()) % 2 else found


def unwritten(found):
    """Right as long as fresh memory holds zeros."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    byte = ctypes.string_at(libc.malloc(40000) + 20000, 1)[0]
    return off_by_one(found) if byte else found


def hold():
    """Wait, once there were more runs than a file `hold` beside this one says, until that is removed."""
    if not os.path.exists(HOLD):
        return
    with open(HOLD + ".runs", "a+") as runs:
        runs.write("x")
        runs.seek(0)
        count = len(runs.read())
    while os.path.exists(HOLD):
        with open(HOLD) as most:
            if count <= int(most.read()):
                return
        open(f"{HOLD}.{os.getpid()}", "w").close()
        time.sleep(0.02)


def hangs(found):
    while True:
        time.sleep(1)


TURNS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "turns")
HOLD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hold")

STEADY = {
    "Ceil": cannot_round,
    "Floor": cannot_round,
    "Sign": crashes,
    "Sinh": off_by_one,
    "Acosh": not_a_number,
    "Atanh": different_each_time,
}
UNSTEADY = {"Asin": in_turns, "Acos": unwritten, "Tan": hangs}


def blame(error, job):
    return "", "convert_rounding" if isinstance(error, Unlowered) else ""


def converters(operators):
    return [SHARED.get(name, f"convert_{name.lower()}") for _, name, _ in operators]


def reproduce(kind, options, inputs=(), outputs=()):
    """The lines of a script that uses this compiler: it is this file."""
    place = re.sub(r"\.pyc$", ".py", os.path.abspath(__file__))
    return (
        "import importlib.util\n\n"
        f"spec = importlib.util.spec_from_file_location('planted', {place!r})\n"
        "planted = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(planted)\n"
        "operators = [node.op_type for node in model.graph.node]\n"
        f"actual = [value for _, value in planted.compute(model, inputs, operators, {options!r})]"
        + "[0]"
        * (len(outputs) < 2)
    )
