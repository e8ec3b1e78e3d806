"""The reference: the ONNX reference evaluator, eager PyTorch for operator instances, eager Keras for its layers.

Its stages judge a model before any compiler is blamed: ``load`` parses, ``convert`` is onnx.checker
with strict shape inference, ``run`` evaluates. A case that fails here is invalid.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from fuzz.wire import Job, Value

PACKAGES = ("onnx",)
KINDS = ("onnx", "instance", "keras")
#: intermediates=on: every tensor of the main graph becomes an output; all: those of every run of a body, too, by the
#: names of `fuzz.backends._tap` (the screen for undefined behaviour).
#: inputs=nudged: a Keras layer's floating-point inputs, each moved by one rounding step up or down.
#: show=steps: the same as calls of PyTorch (`fuzz.instance_steps`).
#: show=onnx: a Keras layer as the ONNX model that Keras writes (in the manner of export), and the model's inputs.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "intermediates": ("off", "on", "all"),
    "show": ("outputs", "parts", "steps", "onnx"),
    "part": ("all", "*"),
    "export": ("dynamic", "static"),
    "inputs": ("given", "nudged"),
}


def warm() -> None:
    """Import onnx and its evaluator. Torch stays out: only instances need it (0.7 GB on disk)."""
    for name in (
        "onnx.checker",
        "onnx.reference.ops.op_abs",
        "onnx.shape_inference",
        "fuzz.backends._evaluator",
        "fuzz.backends._tap",
    ):
        importlib.import_module(name)


def warm_instance() -> None:
    """Import torch as well, in the parent of the workers that run operator instances."""
    for name in ("torch", "fuzz.instance_torch"):
        importlib.import_module(name)


def warm_keras() -> None:
    """Import Keras on PyTorch, in the parent of the workers that run Keras layers."""
    from fuzz import instance_keras

    instance_keras.use("torch")


def devices() -> List[str]:
    """Numpy runs on the CPU."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Check, infer shapes strictly, then evaluate with numpy (onnx) or eagerly (PyTorch's and Keras's instances)."""
    if job.kind == "keras":
        from fuzz import instance_keras

        if job.options.get("show") == "onnx":
            return _exported(job)
        enter("run")
        return instance_keras.run_eager(job)
    if job.kind == "instance":
        from fuzz import instance_parts, instance_torch

        enter("run")
        if job.options.get("show") == "parts":
            return [("parts", np.array(instance_parts.parts(job), dtype=object))]
        if job.options.get("show") == "steps":
            from fuzz import instance_steps

            return [("steps", np.array(instance_steps.steps(job), dtype=object))]
        module, inputs, _ = instance_parts.build(job)
        return instance_torch.evaluate(module, inputs)
    import onnx

    from fuzz.backends._evaluator import Evaluator
    from fuzz.backends._tap import Tap

    model = onnx.load_from_string(job.model)
    enter("convert")
    onnx.checker.check_model(model, full_check=True)
    enter("run")
    evaluator = Evaluator(model)
    asked = job.options.get("intermediates", "off")
    if asked != "off":
        tap = Tap(evaluator, ((each.domain, each.name) for each in model.functions)) if asked == "all" else None
        found: Any = evaluator.run(None, dict(job.inputs), intermediate=True)
        return [(str(name), value) for name, value in {**found, **(tap.found if tap else {})}.items() if name]
    return list(zip(evaluator.output_names, evaluator.run(None, dict(job.inputs))))


def _exported(job: Job) -> List[Tuple[str, Value]]:
    """The serialised model as ``model``, an array of bytes, and its inputs by name."""
    from fuzz import instance_keras_export

    model, inputs = instance_keras_export.exported(job)
    return [("model", np.frombuffer(model, np.uint8)), *inputs.items()]


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The evaluator's class for each operator."""
    whole = ("torch", "keras")
    return [op_type if domain in whole else "op_%s" % op_type.lower() for domain, op_type, _ in operators]


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a maintainer of onnx would run it."""
    first = "[0]" if len(outputs) < 2 else ""
    if kind == "instance":
        return "actual = [t.detach().numpy() for t in torch.utils._pytree.tree_leaves(module(*args))]" + first
    return (
        "from onnx.reference import ReferenceEvaluator\n\n"
        "onnx.checker.check_model(model, full_check=True)\n"
        "actual = ReferenceEvaluator(model).run(None, inputs)" + first
    )
