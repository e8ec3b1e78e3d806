"""The inductor backend on a GPU (Triton): skipped where PyTorch finds none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fuzz import catalogue
from fuzz.backends import inductor
from fuzz.case import Case, Origin, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage import reproducer, script

pytestmark = pytest.mark.skipif("cuda" not in inductor._accelerators(), reason="PyTorch finds no CUDA device here")

X = {"dtype": "float32", "shape": [4, 5]}


def case(api: str, *args: Any, **keys: Any) -> Case:
    return Case("instance", json.dumps({"api": api, "args": list(args), **keys}).encode(), {}, Origin("test"))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """CUDA's context takes more memory than the other tests' limit."""
    with Runner(Limits(seconds=600, memory_mb=8192), jobs=1) as shared:
        yield shared


@pytest.fixture(scope="module")
def cuda() -> Target:
    return catalogue.target("inductor", {"device": "cuda"})


@pytest.mark.parametrize(
    "asked",
    [
        case("torch.var_mean", X, kwargs={"dim": -1, "keepdim": True}),
        case("torch.matmul", {"dtype": "float32", "shape": [64, 300]}, {"dtype": "float32", "shape": [300, 64]}),
        # rounded to TF32, as cuDNN does by default, the results would differ by about 1e-3
        case(
            "torch.nn.functional.conv2d",
            {"dtype": "float32", "shape": [2, 64, 9, 9]},
            {"dtype": "float32", "shape": [32, 64, 3, 3]},
        ),
        case("torch.sort", X, kwargs={"dim": 0, "descending": True}),
        case("torch.nn.Linear", X, init={"args": [5, 3]}),
    ],
    ids=lambda one: json.loads(one.model)["api"],
)
def test_a_gpu_gives_what_the_cpu_gives(runner: Runner, cuda: Target, asked: Case) -> None:
    found = runner.run(asked, cuda)
    assert found.status is Status.OK, found.error
    known = runner.run(asked, catalogue.target("reference"))
    assert differential.compare(found.values, known.values) is None


def test_a_fault_on_the_gpu_costs_its_own_case_alone(runner: Runner, cuda: Target) -> None:
    table, beyond = {"dtype": "float32", "shape": [3, 2]}, {"dtype": "int64", "values": [0, 1000000]}
    outside, well = case("torch.nn.functional.embedding", beyond, table), case("torch.relu", X)
    outcomes = list(runner.run_batch([well, outside, well, well], cuda))
    assert [outcome.status for outcome in outcomes] == [Status.OK, Status.EXCEPTION, Status.OK, Status.OK]


def test_what_eager_pytorch_computes_otherwise_on_a_gpu_is_not_blamed_on_inductor(runner: Runner, cuda: Target) -> None:
    # Of a float beyond int32 the CPU's conversion makes the smallest number, CUDA's the largest: undefined, and eager
    far = case("torch.Tensor.to", {"dtype": "float32", "values": [3e9, 1.0]}, {"dtype": "int32"})
    verdict = Judge(runner, catalogue.target("reference")).examine(far, cuda)
    assert verdict.failure is None


def test_a_script_for_a_gpu_runs_there(runner: Runner, cuda: Target) -> None:
    asked = case("torch.nn.Linear", X, init={"args": [5, 3]})
    found, known = runner.run(asked, cuda), runner.run(asked, catalogue.target("reference"))
    snippet = inductor.reproduce("instance", {"device": "cuda"}, ["float32"], ["float32"])
    wrong = Status.WRONG
    text = script.script(asked, type(found)(wrong, found.stage, outputs=found.outputs), known, "wrong:values", snippet)
    done = reproducer.rerun(text)
    assert done.status == 0 and done.output.rstrip().endswith("PASS"), done.output
    assert np.asarray(found.outputs[0][1]).shape == (4, 3)
