"""OpenVINO's TensorFlow frontend: `convert_model` reads the SavedModel that Keras's ``model.export`` writes."""

from __future__ import annotations

import re
import tempfile
from typing import Any, Callable, Dict, List, Tuple

from fuzz import instance as instances
from fuzz import instance_keras, instance_keras_export
from fuzz.wire import Job, Value

#: What Keras calls the results of a layer in a SavedModel.
_OUTPUT = re.compile(r"output_(\d+)")


def warm() -> None:
    """Import Keras on TensorFlow."""
    instance_keras.use("tensorflow")


def converted(job: Job, enter: Callable[[str], None]) -> Tuple[Any, Dict[str, Value]]:
    """The exported layer as an ``ov.Model`` with the outputs in the layer's order, and its inputs by name.

    Raises CannotFeed where the layer does not run on TensorFlow, NotExported where Keras cannot write it.
    """
    instance_keras.use("tensorflow")
    import openvino as ov

    built = instance_keras.build_elsewhere(instances.parse(job.model))
    with tempfile.TemporaryDirectory() as folder:
        instance_keras_export.save(built, folder, instance_keras_export.static(job))
        enter("convert")
        model = ov.convert_model(folder)
    return _in_order(model), dict(zip(built.names, built.inputs))


def _in_order(model: Any) -> Any:
    """The model with its outputs ``output_0`` … in their order; SavedModels name them and keep no order.

    Outputs of equal value share a tensor, which then has the names of all of them.
    """
    import openvino as ov

    sources = [result.input_value(0) for result in model.get_results()]
    named = {name: source for source in sources for name in source.get_names() if _OUTPUT.fullmatch(name)}
    ordered = [named[name] for name in sorted(named, key=_number)]
    if len(ordered) != len(sources):
        return model
    return ov.Model(
        [ov.opset16.result(source) for source in ordered], model.get_sinks(), model.get_parameters(), "layer"
    )


def _number(name: str) -> int:
    found = _OUTPUT.fullmatch(name)
    return int(found.group(1)) if found else -1


def uncompiled(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """What TensorFlow itself gives for the exported layer. Raises as `converted` does."""
    instance_keras.use("tensorflow")
    import tensorflow as tf

    built = instance_keras.build_elsewhere(instances.parse(job.model))
    with tempfile.TemporaryDirectory() as folder:
        instance_keras_export.save(built, folder, instance_keras_export.static(job))
        enter("run")
        program = tf.saved_model.load(folder).signatures["serving_default"]
        taken = program.structured_input_signature[1]
        given = {name: tf.constant(array) for name, array in zip(built.names, built.inputs) if name in taken}
        found = program(**given)
    return [(name, instance_keras.to_wire(found[name])) for name in sorted(found, key=_number)]


def script(hint: str, static: bool, count: int) -> str:
    """How a user would compile a layer of `count` results; `call` takes the arrays `inputs`.

    `hint` is the device, and what else `compile_model` is told.
    """
    signature = ""
    lines = ["import tempfile", "", "import openvino as ov", ""]
    if static:
        lines += ["specs = [keras.InputSpec(shape=x.shape, dtype=x.dtype.name, name=n) for n, x in inputs.items()]"]
        signature = ", input_signature=[specs if len(specs) > 1 else specs[0]]"
    lines += [
        "symbols = [keras.Input(batch_shape=x.shape, dtype=x.dtype.name, name=n) for n, x in inputs.items()]",
        "with tempfile.TemporaryDirectory() as folder:",
        '    keras.Model(symbols, call(*symbols)).export(folder, format="tf_saved_model", verbose=False%s)' % signature,
        "    ov_model = ov.convert_model(folder)",
        "compiled = ov.Core().compile_model(ov_model, %s)" % hint,
        "results = compiled({port.any_name: inputs[port.any_name] for port in compiled.inputs})",
        "actual = " + ('results["output_0"]' if count < 2 else '[results[f"output_{at}"] for at in range(%d)]' % count),
    ]
    return "\n".join(lines)
