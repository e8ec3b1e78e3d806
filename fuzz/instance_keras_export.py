"""Keras layers as ONNX models or SavedModels, for the compilers that have no path of their own from Keras.

``model.export`` of Keras's PyTorch backend (ONNX) or of its TensorFlow backend (SavedModel). An export that fails, or
an ONNX model that computes something else than the layer, says nothing about a compiler: both raise `NotExported`.
Runs inside workers.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz import instance_keras
from fuzz.instance_keras import Built
from fuzz.wire import Job, Value

#: The exported model may differ from the layer by the rounding of another order of additions, not by more.
_TOLERANCE = 1e-3


class NotExported(Exception):
    """Keras cannot write this layer as a model that computes what the layer does."""


def as_onnx(job: Job) -> Job:
    """The job of a Keras layer as the job of its ONNX model. Raises NotExported."""
    model, inputs = exported(job)
    return job._replace(kind="onnx", model=model, inputs=inputs)


def functional(built: Built) -> Any:
    """The layer as a ``keras.Model`` of one layer, called once; its inputs have the shapes of the example inputs."""
    import keras

    pairs = zip(built.names, built.inputs, strict=True)
    symbols = [keras.Input(batch_shape=array.shape, dtype=_dtype(array), name=name) for name, array in pairs]
    results = [result for result in keras.tree.flatten(built.call(*symbols)) if result is not None]
    model = keras.Model(symbols, results)
    model(list(built.inputs))
    return model


def _dtype(array: np.ndarray) -> str:
    return str(array.dtype.name)


def exported(job: Job) -> tuple[bytes, dict[str, Value]]:
    """The instance as a serialised ONNX model and its inputs by name.

    The option ``export`` says how: ``dynamic``, as ``model.export`` does by itself (any batch size), or ``static``,
    for the example's shapes, by the newer exporter of PyTorch (needs onnxscript). Raises NotExported.
    """
    instance_keras.use("torch")
    import torch

    built = instance_keras.build(instances.parse(job.model))
    with torch.no_grad():
        expected = [value for _, value in instance_keras.evaluate(built)]
        model = _as_onnx(built, static(job))
    inputs = dict(zip(built.names, built.inputs, strict=True))
    named = {wanted.name: inputs[wanted.name] for wanted in model.graph.input if wanted.name in inputs}
    if len(named) != len(model.graph.input):
        raise NotExported("the exported model has inputs that the layer has not")
    _check_sizes(model, named)
    _check(model, named, expected)
    return model.SerializeToString(), dict(named)


def static(job: Job) -> bool:
    """Whether the job wants the export to be for the example's shapes, and not for any batch size."""
    return job.options.get("export", "dynamic") == "static"


def save(built: Built, folder: str, fixed: bool) -> None:
    """Write the layer as a SavedModel into `folder`, `fixed`: for the example's shapes. Raises NotExported."""
    _export(built, folder, "tf_saved_model", fixed)


def _as_onnx(built: Built, fixed: bool) -> Any:
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layer.onnx")
        _export(built, path, "onnx", fixed)
        return onnx.load(path)


def _export(built: Built, path: str, manner: str, fixed: bool) -> None:
    import keras

    try:
        model = functional(built)
        more: dict[str, Any] = {}
        if fixed:
            pairs = zip(built.names, built.inputs, strict=True)
            specs = [keras.InputSpec(shape=array.shape, dtype=_dtype(array), name=name) for name, array in pairs]
            more = {"input_signature": [specs if len(specs) > 1 else specs[0]]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.export(path, format=manner, verbose=False, **more)
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0]
        raise NotExported(f"model.export failed: {type(error).__name__}: {said[:500]}") from error


def _check_sizes(model: Any, inputs: dict[str, Any]) -> None:
    """Raise NotExported where inputs of different sizes share one named dimension: Keras calls each first one batch."""
    sizes: dict[str, int] = {}
    for declared in model.graph.input:
        for dim, size in zip(declared.type.tensor_type.shape.dim, inputs[declared.name].shape, strict=False):
            if dim.dim_param and sizes.setdefault(dim.dim_param, size) != size:
                raise NotExported(f"the exported model has one size for {dim.dim_param!r}, the layer's inputs several")


def _check(model: Any, inputs: dict[str, Any], expected: list[Value]) -> None:
    """Raise NotExported for an invalid model, or one that gives the ONNX reference evaluator something else.

    What the evaluator cannot run is taken as it is.
    """
    import onnx
    from onnx.reference import ReferenceEvaluator

    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        said = " ".join(str(error).split())[:300]
        raise NotExported(f"the exported model is invalid: {said}") from error
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, inputs)
    except Exception:  # noqa: BLE001 the evaluator lacks operators and types; the compilers may have them
        return
    if len(found) != len(expected):
        raise NotExported(f"the exported model has {len(found)} outputs, the layer {len(expected)}")
    for at, (got, want) in enumerate(zip(found, expected, strict=True)):
        problem = _differs(np.asarray(got), want)
        if problem:
            raise NotExported(f"output {at} of the exported model is not that of the layer: {problem}")


def _differs(got: np.ndarray, want: Value) -> str:
    if not isinstance(want, np.ndarray):
        return ""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    tolerance = _TOLERANCE if want.dtype.itemsize > 2 or want.dtype.kind not in "fV" else 0.05
    close = np.isclose(got.astype(np.float64), want.astype(np.float64), tolerance, tolerance, equal_nan=True)
    return "" if close.all() else f"{int((~close).sum())} of {close.size} elements differ"
