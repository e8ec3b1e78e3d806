"""A layer's result that is open in one of the operators that it becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court

pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="the extra 'keras' is not installed")
PLANTED = str(Path(__file__).with_name("planted_layers.py"))
NAN = {"float": "nan"}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as started:
        yield started


def heard(runner: Runner, *values: object, activation: str = "relu", **options: str) -> Judgement:
    """A Dense layer of one unit on rows of two numbers."""
    document = {
        "library": "keras",
        "api": "keras.layers.Dense",
        "init": {"kwargs": {"activation": activation, "units": 1}},
        "args": [{"tensor": 0}],
        "tensors": [{"dtype": "float32", "shape": [len(values) // 2, 2], "values": values}],
    }
    case = Case("keras", json.dumps(document).encode(), {}, Origin("test"))
    return Court(runner, catalogue.target("reference"), 60).hear(case, catalogue.target(PLANTED, options))


def test_relu_of_nan_within_a_layer_is_open_as_it_is_alone(runner: Runner) -> None:
    found = heard(runner, NAN, NAN)
    assert found.verdict is Ruling.UNDEFINED and found.reason.startswith("Relu: NaN is compared with numbers")


def test_nan_that_nothing_orders_is_not_open(runner: Runner) -> None:
    assert heard(runner, NAN, NAN, activation="linear").verdict is Ruling.COMPILER_BUG


def test_a_layer_that_is_wrong_beside_what_is_open_is_the_compilers(runner: Runner) -> None:
    assert heard(runner, NAN, NAN, 1.0, 2.0, sum="wrong").verdict is Ruling.COMPILER_BUG
