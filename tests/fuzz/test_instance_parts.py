"""Parts of an instance: up to one of its core operators, or one of them alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fuzz import instance_parts, instance_torch
from fuzz.wire import CannotFeed, Job

ROOT = Path(__file__).parents[2]


def job(api: str, *shapes: list[int], part: str = "all", **kwargs: Any) -> Job:
    document = {
        "library": "torch",
        "api": api,
        "args": [{"tensor": at} for at in range(len(shapes))],
        "kwargs": kwargs,
        "tensors": [{"dtype": "float32", "shape": shape, "seed": at} for at, shape in enumerate(shapes)],
    }
    return Job("instance", json.dumps(document).encode(), {}, {"part": part})


def values(asked: Job) -> list[np.ndarray]:
    module, inputs, _ = instance_parts.build(asked)
    return [np.asarray(value) for _, value in instance_torch.evaluate(module, inputs)]


LINEAR = ("torch.nn.functional.linear", [2, 3], [4, 3], [4])
SIMILAR = ("torch.nn.functional.cosine_similarity", [2, 3], [2, 3])


def test_the_parts_of_an_api_are_its_core_operators() -> None:
    assert instance_parts.parts(job(*LINEAR)) == ["aten.permute.default", "aten.addmm.default"]
    assert instance_parts.parts(job("torch.relu", [2])) == ["aten.relu.default"]


def test_up_to_the_last_operator_is_the_whole() -> None:
    last = len(instance_parts.parts(job(*SIMILAR))) - 1
    [whole], [part] = values(job(*SIMILAR)), values(job(*SIMILAR, part=f"upto {last}"))
    np.testing.assert_array_equal(whole, part)


@pytest.mark.parametrize("at", range(5))
def test_an_operator_alone_computes_what_it_computes_within_the_whole(at: int) -> None:
    upto, alone = values(job(*SIMILAR, part=f"upto {at}")), values(job(*SIMILAR, part=f"only {at}"))
    for one, other in zip(upto, alone, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_are_inputs_of_an_operator_alone() -> None:
    module, inputs, names = instance_parts.build(job(*LINEAR, part="only 1"))
    assert names == ["input_0", "input_1", "input_2"] and len(inputs) == 3
    assert instance_parts.operators(torch.export.export(module, inputs).graph) == ["aten.addmm.default"]


def test_a_result_of_several_tensors_comes_whole() -> None:
    several = values(job("torch.topk", [5], part="only 0", k=2))
    assert [value.shape for value in several] == [(2,), (2,)]


@pytest.mark.parametrize("part", ["upto 9", "only", "upto x", "from 0", "upto -1"])
def test_a_part_that_there_is_not_is_refused(part: str) -> None:
    with pytest.raises(CannotFeed, match="no part"):
        instance_parts.build(job(*LINEAR, part=part))


def test_an_exported_part_calls_that_operator_only() -> None:
    program = instance_parts.exported(job(*LINEAR, part="upto 0"))
    assert instance_parts.operators(program.graph) == ["aten.permute.default"]


def test_what_pytorch_itself_cannot_export_or_trace_is_no_compilers_fault() -> None:
    with pytest.raises(CannotFeed, match=r"torch\.export does not take this call"):
        instance_parts.exported(job("torch.nn.functional.gaussian_nll_loss", [2, 3], [2, 3], [2, 3]))
    module, inputs, _ = instance_parts.build(job("torch.gradient", [6]))
    with pytest.raises(CannotFeed, match=r"torch\.jit\.trace does not take this call"):
        instance_parts.require_traceable(lambda *given: "no tensor", inputs)
    instance_parts.require_traceable(module, inputs)


_FIRST_EXPORT = """
import sys, torch
from fuzz import instance_parts
instance_parts.warm()
before = set(sys.modules)
instance_parts.program(torch.nn.ReLU(), (torch.ones(2),)).run_decompositions()
print(len(set(sys.modules) - before))
"""


def test_a_worker_has_next_to_nothing_to_import_when_it_first_exports() -> None:
    """Else each fresh process would pay a second or more for it: of some 1,200 modules."""
    done = subprocess.run([sys.executable, "-c", _FIRST_EXPORT], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(done.stdout) < 30
