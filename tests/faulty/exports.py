"""Refuses models with a Softmax, however they come: as an ONNX model or as a Keras layer that it exports as one."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.wire import Job, Value

PACKAGES = ()
KINDS = ("onnx", "keras")
OPTIONS = {"export": ("dynamic", "static")}


class Refused(Exception):
    """The planted failure."""


def warm() -> None:
    """Import the exporter's libraries."""
    import onnx  # noqa: F401


def warm_keras() -> None:
    """Import Keras on PyTorch."""
    from fuzz import instance_keras

    instance_keras.use("torch")


def devices() -> list[str]:
    """One."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> list[tuple[str, Value]]:
    """Fail in the conversion where there is a Softmax; else give what the reference evaluator gives."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    if job.kind == "keras":
        from fuzz import instance_keras_export

        job = instance_keras_export.as_onnx(job)
    enter("convert")
    model = onnx.load_from_string(job.model)
    if any(node.op_type == "Softmax" for node in model.graph.node):
        raise Refused("no Softmax, please")
    evaluator = ReferenceEvaluator(model)
    return list(zip(evaluator.output_names, evaluator.run(None, job.inputs), strict=True))
