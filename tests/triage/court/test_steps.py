"""What is open in a step of a call is open in the call, unless another step errs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin, Target
from fuzz.runner import Runner
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court

PLANTED = str(Path(__file__).with_name("planted_steps.py"))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as pool:
        yield pool


def bytes_(*values: int) -> dict[str, Any]:
    return {"dtype": "int8", "shape": [len(values)], "values": list(values)}


MARGIN = (bytes_(7, 100, -3), bytes_(-100, 2, 3), bytes_(1, 2, 3))


def heard(runner: Runner, target: Target | str, api: str, *tensors: dict[str, Any], **more: Any) -> Judgement:
    given = [{"tensor": at} for at in range(len(tensors))]
    document = {"library": "torch", "api": api, "args": given, "tensors": list(tensors), **more}
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    accused = catalogue.target(target) if isinstance(target, str) else target
    return Court(runner, catalogue.target("reference"), 60).hear(case, accused)


def planted(runner: Runner, **options: str) -> Judgement:
    return heard(runner, catalogue.target(PLANTED, options), "torch.nn.functional.margin_ranking_loss", *MARGIN)


def test_an_overflow_of_small_integers_within_a_call_is_open(runner: Runner) -> None:
    found = planted(runner)
    assert found.verdict is Ruling.UNDEFINED and found.reason.startswith("torch.mul, a step of the call: ")


def test_a_step_that_errs_where_nothing_is_open_is_the_compilers(runner: Runner) -> None:
    assert planted(runner, sub="wrong").verdict is Ruling.COMPILER_BUG


@pytest.mark.parametrize(
    ("api", "tensors"),
    [
        ("torch.Tensor.__rmatmul__", (bytes_(7, 100, -3), bytes_(100, 2, 3))),
        ("torch.nn.functional.margin_ranking_loss", MARGIN),
    ],
)
def test_openvino_saturates_within_calls(runner: Runner, api: str, tensors: tuple[dict[str, Any], ...]) -> None:
    pytest.importorskip("openvino")
    assert heard(runner, "openvino", api, *tensors).verdict in (Ruling.UNDEFINED, None)


def test_relu_of_nan_is_open_within_a_call_and_a_wrong_weight_is_not(runner: Runner) -> None:
    pytest.importorskip("tvm")
    negative = {"dtype": "float32", "shape": [1, 1, 2], "values": [2.0, -4.0]}
    pool = heard(runner, "tvm", "torch.nn.LPPool1d", negative, init={"args": [1.5, 1]})
    assert pool.verdict in (Ruling.UNDEFINED, None)
    trapezoid = heard(runner, "tvm", "torch.trapz", {"dtype": "float32", "shape": [3], "values": [-8.0, 6.0, 9.0]})
    assert trapezoid.verdict in (Ruling.COMPILER_BUG, None)
