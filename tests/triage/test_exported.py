"""A Keras layer's failure told by the ONNX model that Keras exports, where a compiler gets it that way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import onnx
import pytest

from fuzz import catalogue, instance
from fuzz.case import Case, Failure, Origin, Revision, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.construct_keras import layer_code
from triage.exported import as_model

pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="the extra 'keras' is not installed")
EXPORTS = Target(str(Path(__file__).parents[1] / "faulty" / "exports.py"), Revision("0"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def softmax(**init: object) -> Case:
    document = {"library": "keras", "api": "keras.layers.Softmax", "init": {"kwargs": init}, "args": [{"tensor": 0}]}
    text = json.dumps({**document, "tensors": [{"dtype": "float32", "shape": [2, 3]}]})
    return Case("keras", instance.canonical(instance.parse(text)), {}, Origin("test"))


def failure(judge: Judge) -> Failure:
    found = judge.examine(softmax(), EXPORTS).failure
    assert found is not None
    return found


def test_the_failure_of_a_layer_becomes_that_of_its_model(judge: Judge) -> None:
    before = failure(judge)
    after = as_model(judge, before)
    assert after.case.kind == "onnx" and after.symptom == before.symptom
    model = onnx.load_from_string(after.case.model)
    assert "Softmax" in {node.op_type for node in model.graph.node}
    assert set(after.case.inputs) == {each.name for each in model.graph.input}
    assert after.case.origin == before.case.origin


def test_a_layer_that_is_not_exported_for_its_compiler_stays_a_layer(judge: Judge) -> None:
    before = failure(judge)
    native = replace(before, target=catalogue.target("openvino"))
    assert as_model(judge, native) is native


def test_a_model_that_fails_otherwise_is_not_taken_for_the_layer(judge: Judge) -> None:
    before = replace(failure(judge), symptom="wrong:values")
    assert as_model(judge, before) is before


def test_a_script_draws_the_weights_as_the_reference_does() -> None:
    inner = {"object": {"api": "keras.layers.Dense", "kwargs": {"units": 2}}}
    document = {"library": "keras", "api": "keras.layers.TimeDistributed", "init": {"kwargs": {"layer": inner}}}
    tensors = [{"dtype": "float32", "shape": [1, 2, 3]}]
    model = json.dumps({**document, "args": [{"tensor": 0}], "tensors": tensors}).encode()
    code = layer_code(model, "import jax")
    assert 'os.environ["KERAS_BACKEND"] = "jax"' in code.partition("import keras")[0]
    assert "layer = keras.layers.TimeDistributed(layer=keras.layers.Dense(units=2))" in code
    scope: dict[str, object] = {}
    exec(compile(code.replace('"jax"', '"torch"'), "script", "exec"), scope)
    from fuzz import instance_keras

    instance_keras.use("torch")
    built = instance_keras.build(instance.parse(model))
    ours = [weight.numpy().tolist() for weight in built.layer.weights]
    assert [weight.numpy().tolist() for weight in scope["layer"].weights] == ours  # type: ignore[attr-defined]
