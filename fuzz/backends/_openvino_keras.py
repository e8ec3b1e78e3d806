"""Keras's own OpenVINO backend: a layer becomes OpenVINO's graph without any frontend, as ``Model.predict`` does it."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from fuzz import instance as instances
from fuzz import instance_keras
from fuzz.wire import CannotFeed, Job, Value

#: The folder of Keras that plays the frontend here.
_FRONTEND = "keras/src/backend/openvino/"


def warm() -> None:
    """Import Keras with its OpenVINO backend."""
    instance_keras.use("openvino")


def converted(job: Job, enter: Callable[[str], None]) -> Tuple[Any, Dict[str, Value]]:
    """The layer as an ``ov.Model`` for any batch size, and its inputs by name.

    The graph is what the layer builds when it is called, so all of it is conversion.
    """
    instance_keras.use("openvino")
    import keras
    import openvino as ov
    from keras.src.backend.openvino.core import OPENVINO_DTYPES, OpenVINOKerasTensor

    instance = instances.parse(job.model)
    enter("convert")
    built = instance_keras.build(instance)
    parameters = []
    for name, array in zip(built.names, built.inputs):
        if array.dtype.name not in OPENVINO_DTYPES:
            raise CannotFeed("Keras's OpenVINO backend has no tensors of %s" % array.dtype.name)
        shape = ov.PartialShape([-1, *array.shape[1:]] if array.ndim else [])
        parameter = ov.opset16.parameter(shape, OPENVINO_DTYPES[array.dtype.name], name)
        parameter.output(0).get_tensor().set_names({name})
        parameters.append(parameter)
    found = built.call(*[OpenVINOKerasTensor(parameter.output(0)) for parameter in parameters])
    results = [leaf for leaf in keras.tree.flatten(found) if leaf is not None]
    outputs = [ov.opset16.result(_port(leaf)) for leaf in results]
    model = ov.Model(outputs, parameters, "layer")
    return model, dict(zip(built.names, built.inputs))


def _port(leaf: Any) -> Any:
    """The output of the graph that a result stands for; a result that depends on no input is a constant."""
    from keras.src.backend.openvino.core import get_ov_output

    return get_ov_output(leaf)


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The layer, and the innermost function of Keras's OpenVINO backend that the exception came through."""
    function = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        _, met, file = code.co_filename.replace("\\", "/").rpartition(_FRONTEND)
        if met and file not in ("core.py", "layer.py", "trainer.py"):
            function = "keras/backend/openvino/%s:%s" % (file, getattr(code, "co_qualname", code.co_name))
        trace = trace.tb_next
    return instances.parse(job.model).api, function
