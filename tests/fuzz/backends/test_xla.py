"""XLA on the real JAX, in workers: a Keras layer compiled, the same layer uncompiled, and a planted miscompilation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import catalogue, instance
from fuzz.case import Case, Origin, Revision, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable

with_xla = pytest.mark.skipif(
    find_spec("jax") is None or find_spec("keras") is None, reason="the extra 'xla' is not installed"
)
FAULTY = Path(__file__).parents[2] / "faulty"
X = {"dtype": "float32", "shape": [2, 3]}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def layer(api: str, tensor: dict[str, Any] | None = None, **init: Any) -> Case:
    document = {"library": "keras", "api": api, "init": {"kwargs": init}, "args": [{"tensor": 0}]}
    text = json.dumps({**document, "tensors": [tensor or X]})
    return Case("keras", instance.canonical(instance.parse(text)), {}, Origin("test"))


def value(runner: Runner, case: Case, **options: str) -> np.ndarray:
    outcome = runner.run(case, catalogue.target("xla", options))
    assert outcome.status is Status.OK, outcome
    return np.asarray(outcome.outputs[0][1])


@with_xla
def test_a_compiled_layer_gives_what_eager_keras_gives(runner: Runner) -> None:
    case = layer("keras.layers.Dense", units=4, activation="tanh")
    outcome = runner.run(case, catalogue.target("reference"))
    np.testing.assert_allclose(value(runner, case), np.asarray(outcome.outputs[0][1]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(runner, case), value(runner, case, jit="off"), rtol=1e-4, atol=1e-5)


@with_xla
def test_a_pass_of_xla_can_be_named_and_left_out(runner: Runner) -> None:
    case = layer("keras.layers.Softmax")
    names = value(runner, case, show="passes").tolist()
    assert "layout-assignment" in names and "pipeline-start" not in names
    np.testing.assert_allclose(value(runner, case, disable="cse,fusion"), value(runner, case), rtol=1e-5)
    assert {"exponential", "divide"} <= set(value(runner, case, show="operators").tolist())


@with_xla
def test_a_wrong_result_of_the_compiler_is_found(runner: Runner) -> None:
    judge = Judge(runner, catalogue.target("reference"))
    planted = Target(str(FAULTY / "miscompiles.py"), Revision("0"))
    assert judge.examine(layer("keras.layers.Softmax"), planted).status is Status.WRONG
    assert judge.examine(layer("keras.layers.ReLU"), planted).status is Status.OK


@with_xla
def test_what_two_backends_of_keras_disagree_about_is_not_blamed_on_xla(runner: Runner) -> None:
    """JAX has no 64-bit integers unless told so, compiled or not."""
    numbers = {"dtype": "int64", "shape": [2], "values": [1, 2]}
    case = layer("keras.layers.Identity", numbers, dtype="int64")
    verdict = Judge(runner, catalogue.target("reference")).examine(case, catalogue.target("xla"))
    assert verdict.status is Status.SKIPPED and "uncompiled" in verdict.reason


@with_xla
def test_the_probe_compiles_a_layer(runner: Runner) -> None:
    probe = catalogue.probe(runner, "xla")
    assert probe.available and probe.devices == ("CPU",)


def test_an_interpreter_that_is_not_there_makes_the_backend_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWARDEN_PYTHON_XLA", "/nonexistent/python")
    target = catalogue.target("xla")
    assert target.revision.python == "/nonexistent/python" and target.revision.version == "unknown"
    with Runner(jobs=1) as fresh, pytest.raises(BackendUnavailable, match="/nonexistent/python cannot be started"):
        fresh.run(layer("keras.layers.ReLU"), target)


def test_without_its_packages_the_reason_says_how_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under an interpreter that has numpy alone."""
    site = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs", "ml_dtypes"):
        (tmp_path / name).symlink_to(site / name)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("GRAPHWARDEN_PYTHON_XLA", str(python))
    with Runner(jobs=1) as fresh:
        probe = catalogue.probe(fresh, "xla")
    assert not probe.available and "pip install 'graphwarden[xla]'" in probe.reason
