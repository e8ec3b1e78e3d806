"""Keras layers as operator instances: building, weights, what is refused, and export as ONNX models."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from fuzz import catalogue, instance, instance_keras, instance_keras_export
from fuzz.case import Case, Origin, Stage, Status
from fuzz.instance import InstanceError
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import CannotFeed, Job

pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="the extra 'keras' is not installed")

X = {"dtype": "float32", "shape": [2, 5, 3]}
LSTM = {"api": "keras.layers.LSTM", "init": {"kwargs": {"units": 4}}, "args": [{"tensor": 0}], "tensors": [X]}


def layer(**keys: Any) -> Job:
    document = {"library": "keras", "args": [{"tensor": 0}], "tensors": [X], "init": {}, **keys}
    return Job("keras", instance.canonical(instance.parse(json.dumps(document))), {}, {})


@pytest.fixture(scope="module", autouse=True)
def keras_on_torch() -> None:
    instance_keras.use("torch")


def run(job: Job) -> list[np.ndarray]:
    return [np.asarray(value) for _, value in instance_keras.run_eager(job)]


def test_an_instance_is_a_case_of_its_own_kind() -> None:
    assert instance.kind_of(layer(**LSTM).model) == "keras"
    assert instance.kind_of(instance.canonical(instance.parse('{"api": "torch.relu"}'))) == "instance"


def test_nested_objects_and_dicts_survive_the_canonical_form() -> None:
    inner = {"object": {"api": "keras.layers.GRU", "kwargs": {"units": 2, "dropout": 0.0}}}
    job = layer(api="keras.layers.Bidirectional", init={"kwargs": {"layer": inner}})
    parsed = instance.parse(job.model)
    assert parsed.init is not None and parsed.init[1]["layer"] == inner
    assert instance.canonical(parsed) == job.model
    assert [value.shape for value in run(job)] == [(2, 4)]


def test_weights_are_drawn_by_numpy_and_so_the_same_every_time() -> None:
    first, second = run(layer(**LSTM)), run(layer(**LSTM))
    np.testing.assert_array_equal(first[0], second[0])
    built = instance_keras.build(instance.parse(layer(**LSTM).model))
    kernel = np.random.default_rng(0).uniform(-1, 1, (3, 16)).round(3).astype(np.float32)
    np.testing.assert_array_equal(built.layer.weights[0].numpy(), kernel)


def test_a_variance_is_drawn_positive() -> None:
    built = instance_keras.build(instance.parse(layer(api="keras.layers.BatchNormalization").model))
    (variance,) = [weight.numpy() for weight in built.layer.weights if "variance" in weight.name]
    assert (variance >= 0.5).all() and np.ptp(variance) > 0


def test_lists_of_inputs_and_constants_are_placed_where_the_call_has_them() -> None:
    values = [
        {"dtype": "float32", "shape": [2], "values": [1, 2]},
        {"dtype": "float32", "shape": [2], "values": [3, 5]},
    ]
    values[1]["constant"] = True
    job = layer(api="keras.layers.Subtract", args=[[{"tensor": 0}, {"tensor": 1}]], tensors=values)
    assert run(job)[0].tolist() == [-2, -3]
    assert instance_keras.build(instance.parse(job.model)).names == ["input_0"]


def test_nudged_inputs_are_one_rounding_step_away_and_whole_numbers_stay() -> None:
    numbers = {"dtype": "int32", "shape": [2], "values": [1, 2]}
    given = layer(api="keras.layers.Identity", args=[[{"tensor": 0}, {"tensor": 1}]], tensors=[X, numbers])
    nudged = given._replace(options={"inputs": "nudged"})
    (one, whole), (other, same) = run(given), run(nudged)
    assert (np.nextafter(one, other) == other).all() and (one != other).all()
    assert whole.tolist() == same.tolist() == [1, 2]


@pytest.mark.parametrize(
    "init", [{"rate": 0.5}, {"rate": 0.5, "seed": 1}], ids=["seeded by the process", "seeded by the layer"]
)
def test_a_layer_that_draws_random_numbers_has_no_reference_value(init: dict[str, Any]) -> None:
    job = layer(api="keras.layers.Dropout", init={"kwargs": init}, kwargs={"training": True})
    with pytest.raises(CannotFeed, match="random"):
        run(job)
    assert run(layer(api="keras.layers.Dropout", init={"kwargs": init}))


REFUSED = [
    ("keras.layers.Lambda", {"function": "x"}, "runs code or reads files"),
    ("keras.layers.TFSMLayer", {"filepath": "/"}, "runs code or reads files"),
    ("keras.layers.StringLookup", {"vocabulary": "/etc/passwd"}, "runs code or reads files"),
    ("keras.saving.load_model", {}, "classes must be in one of"),
    ("keras.initializers.Zeros", {}, "give a layer"),
    ("keras.layers.serialize", {}, "is no layer"),
    ("keras.layers.NoSuchLayer", {}, "is no layer"),
    (
        "keras.layers.Dense",
        {"units": 1, "activation": {"dict": {"class_name": "function", "config": "system", "module": "os"}}},
        "would have Keras look up code",
    ),
    ("keras.layers.Dense", {"units": 1, "bias_initializer": {"object": {"api": "os.system"}}}, "classes must be in"),
]


@pytest.mark.parametrize(("api", "init", "said"), REFUSED)
def test_an_instance_never_reaches_code_or_files(api: str, init: dict[str, Any], said: str) -> None:
    with pytest.raises(InstanceError, match=said):
        run(layer(api=api, init={"kwargs": init}))


def test_a_process_keeps_the_backend_of_keras_that_it_has() -> None:
    with pytest.raises(RuntimeError, match="has Keras with its torch backend already"):
        instance_keras.use("numpy")
    instance_keras.use("torch")


def test_without_keras_the_reason_says_how_to_mend_it() -> None:
    code = "import sys; sys.modules['keras'] = None\nfrom fuzz import instance_keras\ninstance_keras.use('torch')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'graphwarden[keras]'" in done.stderr


# ---------------------------------------------------------------- through the worker


@pytest.fixture(scope="module")
def runner() -> Any:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def case(job: Job) -> Case:
    return Case("keras", job.model, {}, Origin("test"))


def test_the_reference_runs_layers_in_a_worker(runner: Runner) -> None:
    job = layer(**LSTM)
    outcome = runner.run(case(job), catalogue.target("reference"))
    assert outcome.status is Status.OK
    np.testing.assert_array_equal(np.asarray(outcome.outputs[0][1]), run(job)[0])


def test_the_exported_model_computes_what_the_layer_does(runner: Runner) -> None:
    for name in ("onnxruntime", "openvino"):
        options = {"keras": "onnx"} if name == "openvino" else {}
        outcome = runner.run(case(layer(**LSTM)), catalogue.target(name, options))
        assert outcome.status is Status.OK, outcome
        np.testing.assert_allclose(np.asarray(outcome.outputs[0][1]), run(layer(**LSTM))[0], rtol=1e-4, atol=1e-5)


def test_the_openvino_backend_of_keras_runs_layers_without_a_frontend(runner: Runner) -> None:
    outcome = runner.run(case(layer(**LSTM)), catalogue.target("openvino"))
    assert outcome.status is Status.OK, outcome
    np.testing.assert_allclose(np.asarray(outcome.outputs[0][1]), run(layer(**LSTM))[0], rtol=1e-4, atol=1e-5)


def test_a_layer_that_cannot_be_exported_is_no_failure_of_a_compiler(runner: Runner) -> None:
    """PyTorch's older exporter has no memory formats, which Keras asks for in three dimensions."""
    job = layer(
        api="keras.layers.Conv3D",
        init={"kwargs": {"filters": 2, "kernel_size": 2}},
        tensors=[{"dtype": "float32", "shape": [1, 3, 3, 3, 2]}],
    )
    verdict = Judge(runner, catalogue.target("reference")).examine(case(job), catalogue.target("onnxruntime"))
    assert verdict.status is Status.UNSUPPORTED and "model.export" in verdict.reason
    assert verdict.outcome is not None and verdict.outcome.stage is Stage.LOAD
    assert runner.run(case(job), catalogue.target("openvino")).status is Status.OK


def test_what_has_no_reference_value_is_shown_to_no_judge(runner: Runner) -> None:
    job = layer(api="keras.layers.Dropout", init={"kwargs": {"rate": 0.5}}, kwargs={"training": True})
    verdict = Judge(runner, catalogue.target("reference")).examine(case(job), catalogue.target("openvino"))
    assert verdict.status is Status.SKIPPED and "random" in verdict.reason


def test_an_exported_model_that_computes_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter's mistakes are not the compilers': here it is made to export a layer with other weights."""
    export = instance_keras_export._export

    def other(good: instance_keras.Built, path: str, manner: str, fixed: bool) -> None:
        good.layer.weights[0].assign(good.layer.weights[0] + 1)
        export(good, path, manner, fixed)

    monkeypatch.setattr(instance_keras_export, "_export", other)
    job = layer(api="keras.layers.Dense", init={"kwargs": {"units": 2}})
    with pytest.raises(instance_keras_export.NotExported, match="output 0 of the exported model is not that"):
        instance_keras_export.exported(job)


def test_inputs_of_several_batch_sizes_are_not_fed_to_a_model_that_knows_one() -> None:
    values = [{"dtype": "float32", "shape": [1, 3]}, {"dtype": "float32", "shape": [2, 3]}]
    both = [[{"tensor": 0}, {"tensor": 1}]]
    job = layer(api="keras.layers.Concatenate", init={"kwargs": {"axis": 0}}, args=both, tensors=values)
    assert run(job)[0].shape == (3, 3)
    with pytest.raises(instance_keras_export.NotExported, match="has one size for 'batch'"):
        instance_keras_export.exported(job)


def test_what_a_layer_derives_from_its_weights_follows_them(runner: Runner) -> None:
    """Normalization keeps a mean of its own, which on some backends is a view of the weight and on others a copy."""
    job = layer(api="keras.layers.Normalization")
    verdict = Judge(runner, catalogue.target("reference")).examine(case(job), catalogue.target("openvino"))
    assert verdict.status is Status.OK, verdict.reason
