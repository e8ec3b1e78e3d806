"""ONNX Runtime behind passes of which one can be made wrong: ``--option fault=NAME``.

A fault is a file of ``tests/mutants/planted``: ``PASS``, the name of the pass that is wrong, and ``run(graph)``, which
rewrites an ONNX graph as that pass would. A file more is a fault more; nothing is to be registered. Like passes of a
compiler they are told by ``show=passes`` and left out by ``disable``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from fuzz.backends import onnxruntime as wrapped
from fuzz.wire import Job, Value

PACKAGES = ("onnxruntime",)
KINDS = ("onnx",)
_FAULTS = sorted(path.stem for path in (Path(__file__).parent / "planted").glob("*.py") if path.stem[0] != "_")
#: sequence: faulty passes by their own names, with commas; they run in that order, before that of `fault`.
OPTIONS = {**wrapped.OPTIONS, "fault": ("none", *_FAULTS), "sequence": ("none", "*")}
REWRITES = {"sequence": "none"}

blame = wrapped.blame


def warm() -> None:
    """Import what is wrapped."""
    importlib.import_module("onnx")
    wrapped.warm()


def _planted(fault: str) -> ModuleType:
    """The faulty pass of this very folder; a worker has only the compiler's side on its path."""
    root = str(Path(__file__).parents[2])
    if root not in sys.path:
        sys.path.insert(0, root)
    return importlib.import_module(f"tests.mutants.planted.{fault}")


def _switched_on(fault: str) -> list[ModuleType]:
    return [] if fault == "none" else [_planted(fault)]


def _named(sequence: str) -> list[ModuleType]:
    """The faulty passes with these names, in that order; one that there is not does nothing, as a right one."""
    known = {each.PASS: each for each in map(_planted, _FAULTS)} if sequence != "none" else {}
    return [known[name] for name in sequence.split(",") if name in known]


def devices() -> list[str]:
    """One."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> list[tuple[str, Value]]:
    """Rewrite the graph by the fault that is switched on, then let ONNX Runtime do the rest."""
    import onnx

    enter("convert")
    options = dict(job.options)
    faults = [*_named(options.pop("sequence", "none")), *_switched_on(options.pop("fault", "none"))]
    disabled = [name for name in options.pop("disable", "none").split(",") if name != "none"]
    met = [each.PASS for each in faults]
    model = onnx.load_from_string(job.model)
    for each in faults:
        if each.PASS not in disabled:
            each.run(model.graph)
    disabled = [name for name in disabled if name not in met]
    options["disable"] = ",".join(disabled) or "none"
    found = wrapped.execute(Job(job.kind, model.SerializeToString(), job.inputs, options), enter)
    if options.get("show") == "passes":
        [(name, passes)] = found
        return [(name, np.array([*met, *np.asarray(passes).tolist()], dtype=object))]
    return found
