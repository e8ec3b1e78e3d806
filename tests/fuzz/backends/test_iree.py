"""IREE through the real worker: results, several outputs, refusals with the compiler's words, options, a script."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, registry, unsupported
from fuzz.case import Case, Error, Frame, Origin, Stage, Status
from fuzz.limits import Limits
from fuzz.runner import Runner

HERE = find_spec("iree") is not None and find_spec("iree.runtime") is not None
pytestmark = pytest.mark.skipif(
    not HERE and "GRAPHWARDEN_PYTHON_IREE" not in os.environ, reason="IREE is not installed"
)

X = np.array([[-1.5, 0.0, 2.0], [3.0, -4.0, 0.5]], np.float32)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def case(*operators: str, dtype: int = TensorProto.FLOAT, x: np.ndarray = X, **attributes: object) -> Case:
    """A model in which each operator reads `x` and gives an output of its own."""
    names = [f"y{at}" for at in range(len(operators))]
    nodes = [helper.make_node(op, ["x"], [name], **attributes) for op, name in zip(operators, names, strict=True)]
    infos = [helper.make_tensor_value_info(name, dtype, x.shape) for name in ("x", *names)]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))


def test_results_come_back_in_order_with_the_models_names(runner: Runner) -> None:
    outcome = runner.run(case("Relu", "Neg"), catalogue.target("iree"))
    assert (outcome.status, [name for name, _ in outcome.outputs]) == (Status.OK, ["y0", "y1"])
    np.testing.assert_array_equal(outcome.values[0], np.maximum(X, 0))
    np.testing.assert_array_equal(outcome.values[1], -X)


@pytest.mark.parametrize("options", [{"opt": "O3"}, {"target": "host"}, {"driver": "local-task"}])
def test_its_options_compute_the_same(runner: Runner, options: dict[str, str]) -> None:
    outcome = runner.run(case("Relu"), catalogue.target("iree", options))
    assert outcome.status is Status.OK
    np.testing.assert_array_equal(outcome.values[0], np.maximum(X, 0))


def test_doubles_stay_doubles(runner: Runner) -> None:
    outcome = runner.run(case("Abs", dtype=TensorProto.DOUBLE, x=X.astype(np.float64)), catalogue.target("iree"))
    assert outcome.status is Status.OK
    np.testing.assert_array_equal(outcome.values[0], np.abs(X).astype(np.float64))


def test_what_it_cannot_link_and_element_types_that_it_does_not_know_are_refused_honestly(runner: Runner) -> None:
    doubles = runner.run(case("Sin", dtype=TensorProto.DOUBLE, x=X.astype(np.float64)), catalogue.target("iree"))
    assert (doubles.status, doubles.stage) == (Status.UNSUPPORTED, Stage.COMPILE)
    unknown = Error(
        "iree.compiler.extras.onnx_importer.OnnxImportError",
        "Unknown ONNX tensor element type: 23",
        (Frame("extras/onnx_importer.py", 1, "ContextCache.tensor_element_type"),),
    )
    assert unsupported.reason("iree", unknown, Stage.CONVERT)


def test_what_the_compiler_prints_is_the_message(runner: Runner) -> None:
    outcome = runner.run(case("RandomUniformLike", seed=1.0), catalogue.target("iree"))
    assert (outcome.status, outcome.stage) == (Status.UNSUPPORTED, Stage.COMPILE) and outcome.error is not None
    assert outcome.error.operator == "RandomUniformLike" and outcome.error.message.startswith("error: failed to legal")


def test_unsigned_results_stay_unsigned(runner: Runner) -> None:
    numbers = np.array([1, 200, 255], np.uint8)
    outcome = runner.run(case("Identity", dtype=TensorProto.UINT8, x=numbers), catalogue.target("iree"))
    [found] = outcome.values
    assert isinstance(found, np.ndarray) and found.dtype == np.uint8
    np.testing.assert_array_equal(found, numbers)


def test_a_dtype_that_the_runtime_lacks_is_not_fed(runner: Runner) -> None:
    text = case("Identity", dtype=TensorProto.STRING, x=np.array(["a", "b"], dtype=object))
    outcome = runner.run(text, catalogue.target("iree"))
    assert outcome.status is Status.SKIPPED and outcome.error is not None and "string" in outcome.error.message


def test_it_is_hunted_in_only_where_it_is_named() -> None:
    assert registry.backend("iree").on_request


def test_its_script_runs_as_it_stands() -> None:
    target = catalogue.target("iree", {"opt": "O2"})
    lines = registry.backend("iree").reproduce
    assert lines is not None
    text = lines("onnx", dict(target.options), ("float32",), ("float32",))
    assert "--iree-opt-level=O2" in text and compile(text, "script.py", "exec")
