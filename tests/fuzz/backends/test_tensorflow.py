"""Keras on the real TensorFlow, in workers: XLA by ``jit_compile``, and OpenVINO's TensorFlow frontend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import catalogue, instance, registry
from fuzz.case import Case, Origin, Outcome, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import reproducer
from triage.construct_keras import layer_code

OPTION = {"keras": "tensorflow"}
pytestmark = pytest.mark.skipif(
    not catalogue.version("xla", OPTION),
    reason="no TensorFlow: make test TF=1, or GRAPHWARDEN_PYTHON_TENSORFLOW=/path/to/python (docs/keras.md)",
)
FAULTY = Path(__file__).parents[2] / "faulty"
X = {"dtype": "float32", "shape": [2, 3], "seed": 0}
#: A layer whose graph has no control flow, and one that gives several results, two of them the same.
LAYERS = [("keras.layers.Dense", X, {"units": 4, "activation": "tanh"}, 1)]
LAYERS += [("keras.layers.LSTM", {**X, "shape": [2, 5, 3]}, {"units": 4, "return_state": True}, 3)]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def case(api: str, *tensors: dict[str, Any], args: list[Any] | None = None, **init: Any) -> Case:
    document = {"library": "keras", "api": api, "init": {"kwargs": init}, "args": args or [{"tensor": 0}]}
    text = json.dumps({**document, "tensors": list(tensors) or [X]})
    return Case("keras", instance.canonical(instance.parse(text)), {}, Origin("test"))


def target(backend: str, **options: str) -> Target:
    return catalogue.target(backend, {**OPTION, **options})


def values(outcome: Outcome) -> list[np.ndarray]:
    assert outcome.status is Status.OK, outcome
    return [np.asarray(value) for _, value in outcome.outputs]


@pytest.mark.parametrize("backend", ["xla", "openvino"])
@pytest.mark.parametrize(("api", "tensor", "init", "count"), LAYERS, ids=["Dense", "LSTM"])
def test_a_layer_gives_what_eager_keras_gives(
    runner: Runner, backend: str, api: str, tensor: dict[str, Any], init: dict[str, Any], count: int
) -> None:
    layer = case(api, tensor, **init)
    expected = values(runner.run(layer, catalogue.target("reference")))
    uncompiled = registry.backend(backend).uncompiled_under(OPTION)
    assert uncompiled
    for options in ({}, uncompiled):
        found = values(runner.run(layer, target(backend, **options)))
        assert len(found) == count
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_wrong_result_of_the_compiler_is_found(runner: Runner) -> None:
    judge = Judge(runner, catalogue.target("reference"))
    planted = replace(target("xla"), backend=str(FAULTY / "miscompiles.py"))
    assert judge.examine(case("keras.layers.Softmax"), planted).status is Status.WRONG
    assert judge.examine(case("keras.layers.ReLU"), planted).status is Status.OK


def test_what_tracing_alone_changes_is_not_blamed_on_xla(runner: Runner) -> None:
    """In a graph these layers cast labels to their own dtype, run eagerly they do not."""
    boxes = {"dtype": "int64", "shape": [1, 4], "values": [1, 2, 2, 3]}
    labels = {"dtype": "int64", "shape": [1], "values": [0]}
    images = {"dtype": "float32", "shape": [1, 4, 5, 3], "seed": 0}
    content = {"images": {"tensor": 0}, "bounding_boxes": {"dict": {"boxes": {"tensor": 1}, "labels": {"tensor": 2}}}}
    layer = case(
        "keras.layers.RandomContrast",
        *(images, boxes, labels),
        args=[{"dict": content}],
        factor=0.1,
        bounding_box_format="xyxy",
    )
    verdict = Judge(runner, catalogue.target("reference")).examine(layer, target("xla"))
    assert verdict.status is Status.SKIPPED and "uncompiled" in verdict.reason, verdict


def test_what_rounding_of_the_inputs_changes_as_much_is_no_wrong_result(runner: Runner) -> None:
    """All values are the same, so that what is left after the mean is taken away is rounding alone."""
    large = {"dtype": "float32", "shape": [2, 2, 2], "values": [70000.0] * 8}
    verdict = Judge(runner, catalogue.target("reference")).examine(
        case("keras.layers.GroupNormalization", large, groups=1), target("xla")
    )
    assert verdict.status is Status.SKIPPED and "ill-conditioned" in verdict.reason, verdict


def test_an_operation_that_xla_has_no_kernel_for_is_an_honest_refusal(runner: Runner) -> None:
    images = {"dtype": "float32", "shape": [1, 8, 8, 3], "seed": 0}
    layer = case("keras.layers.Resizing", images, height=4, width=4, interpolation="bicubic", antialias=True)
    outcome = runner.run(layer, target("xla"))
    assert outcome.status is Status.UNSUPPORTED and outcome.error
    assert outcome.error.operator == "ScaleAndTranslate"


def test_operations_of_the_graph_can_be_shown_and_passes_of_xla_cannot(runner: Runner) -> None:
    layer = case("keras.layers.Dense", units=4)
    (shown,) = values(runner.run(layer, target("xla", show="operators")))
    assert "MatMul" in shown.tolist() and "Const" not in shown.tolist()
    assert runner.run(layer, target("xla", show="passes")).status is Status.SKIPPED
    assert runner.run(layer, target("xla", disable="cse")).status is Status.SKIPPED


def test_outputs_that_share_a_tensor_keep_their_places(runner: Runner) -> None:
    """The last cell's state is the first output and the fourth one."""
    cells = [{"object": {"api": "keras.layers.LSTMCell", "kwargs": {"units": units}}} for units in (3, 5)]
    shapes = [[2, 4], [2, 3], [2, 3], [2, 5], [2, 5]]
    tensors = [{"dtype": "float32", "shape": shape, "seed": at} for at, shape in enumerate(shapes)]
    states = [[{"tensor": 1}, {"tensor": 2}], [{"tensor": 3}, {"tensor": 4}]]
    layer = case("keras.layers.StackedRNNCells", *tensors, args=[{"tensor": 0}, states], cells=cells)
    verdict = Judge(runner, catalogue.target("reference")).examine(layer, target("openvino"))
    assert verdict.status is Status.OK, verdict
    assert verdict.outcome is not None and len(verdict.outcome.outputs) == 5


def test_an_operation_without_a_converter_is_an_honest_refusal(runner: Runner) -> None:
    numbers = {"dtype": "int32", "shape": [4], "values": [0, 1, 2, 1]}
    layer = case("keras.layers.CategoryEncoding", numbers, num_tokens=3, output_mode="count")
    outcome = runner.run(layer, target("openvino"))
    assert outcome.status is Status.UNSUPPORTED and outcome.error
    assert outcome.error.operator == "DenseBincount"


def test_a_layer_that_keras_cannot_export_is_no_failure_of_openvino(runner: Runner) -> None:
    images = {"dtype": "float32", "shape": [1, 4, 4, 3], "low": 0.0, "high": 255.0, "seed": 0}
    outcome = runner.run(case("keras.layers.Equalization", images), target("openvino"))
    assert outcome.status is Status.UNSUPPORTED and outcome.error
    assert outcome.error.type.endswith("NotExported")


@pytest.mark.parametrize(
    ("backend", "options", "layer"),
    [("xla", {}, LAYERS[0]), ("openvino", {}, LAYERS[1]), ("openvino", {"export": "static"}, LAYERS[0])],
    ids=["xla", "openvino", "openvino-static"],
)
def test_a_written_script_runs_without_graphwarden(
    runner: Runner, backend: str, options: dict[str, str], layer: tuple[str, dict[str, Any], dict[str, Any], int]
) -> None:
    api, tensor, init, count = layer
    called, run = case(api, tensor, **init), target(backend, **options)
    write = registry.backend(backend).reproduce
    assert write
    snippet = write("keras", dict(run.options), ["float32"], ["float32"] * count)
    first = "actual" if count == 1 else "actual[0]"
    script = "\n".join([layer_code(called.model, snippet), snippet, f'print("ACTUAL", {first}.ravel()[:3].tolist())'])
    done = reproducer.rerun(script, run.revision.python)
    assert done.status == 0, done.output
    expected = values(runner.run(called, catalogue.target("reference")))[0].ravel()[:3]
    shown = json.loads(done.output.rpartition("ACTUAL ")[2])
    np.testing.assert_allclose(shown, expected, rtol=1e-3, atol=1e-4)
