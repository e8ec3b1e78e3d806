"""A compiler that is right but for one slip (option `slip`), mostly in its first output, at the flat index `at`.

For the tests of the court.
"""

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
SLIPS = {
    "none": lambda value, at: value,
    "one more": lambda value, at: _changed(value, at, lambda element: element + value.dtype.type(1)),
    "one less": lambda value, at: _changed(value, at, lambda element: element - value.dtype.type(1)),
    "other dtype": lambda value, at: value.astype(np.float64 if value.dtype.kind == "f" else np.uint16),
    "one more axis": lambda value, at: value[None],
    "backwards": lambda value, at: value[::-1].copy(),
}
#: What befalls every output.
WHOLE = ("backwards",)
OPTIONS = {"slip": tuple(SLIPS), "at": ("0", "*")}


def _changed(value, at, change):
    found = np.array(value, copy=True)
    found.reshape(-1)[at] = change(found.reshape(-1)[at])
    return found


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx

    from fuzz.backends._evaluator import Evaluator

    enter("convert")
    evaluator = Evaluator(onnx.load_from_string(job.model))
    enter("run")
    with np.errstate(all="ignore"):
        found = evaluator.run(None, dict(job.inputs))
    slip, at = job.options["slip"], int(job.options.get("at", "0"))
    touched = len(found) if slip in WHOLE else 1
    slipped = [SLIPS[slip](value, at) for value in found[:touched]]
    return list(zip(evaluator.output_names, [*slipped, *found[touched:]], strict=True))
