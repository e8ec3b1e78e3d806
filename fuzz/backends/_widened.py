"""The case in float64 and the noise that rounding may make of it: evidence for the court.

Not a compiler: the leading underscore keeps it out of the registry, and `triage.court` names it by its
path. For every output of the case it returns ``wide/N`` (float64, or the output's own dtype where that is
no float) and ``noise/N`` (float64, absolute, one number an element), and ``said``: JSON about both; ``finite/N`` is the
noise among numbers alone where rounding may make an infinity as well;
``places/NAME`` is the noise of what the operator with the first output NAME picks from (ArgMax and the like),
``second/N`` an output as `_definitions` has it, given only where that differs from the reference's own operators.
"""

from __future__ import annotations

import importlib
import json
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from fuzz.wire import Job, Value

PACKAGES = ("onnx",)
KINDS = ("onnx", "instance")
OPTIONS: Dict[str, Tuple[str, ...]] = {}


def warm() -> None:
    """Import onnx and its evaluator."""
    for name in ("onnx.inliner", "onnx.reference", "onnx.reference.ops.op_abs", "onnx.shape_inference", "ml_dtypes"):
        importlib.import_module(name)


def warm_instance() -> None:
    """Import torch for operator instances."""
    for name in ("torch", "torch.utils._python_dispatch", "fuzz.instance_torch"):
        importlib.import_module(name)


def devices() -> List[str]:
    """Numpy runs on the CPU."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Evaluate the case several times."""
    enter("run")
    if job.kind == "instance":
        from fuzz.backends._widened_torch import evaluate as evaluate_instance

        wide, noise, said, more = evaluate_instance(job)
    else:
        from fuzz.backends._widened_onnx import evaluate

        wide, noise, said, more = evaluate(job.model, dict(job.inputs))
    found: List[Tuple[str, Any]] = [("said", np.array([json.dumps(said)], dtype=object))]
    for at, (value, spread) in enumerate(zip(wide, noise)):
        found += [("wide/%d" % at, value if spread is not None else None), ("noise/%d" % at, spread)]
    return found + list(more.items())
