"""What the tests of the worker share: a valid one-node model, and a backend that misbehaves on request."""

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz.case import Case, Origin, Revision, Target
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.worker import descendants

FAULTY = Path(__file__).parents[1] / "faulty"

MakeCase = Callable[..., Case]
Settled = Callable[[], None]


def make_case(fault: str = "", shift: float = 0.0) -> Case:
    """Relu of three numbers; `fault` is asked for in the model's text, where compilers never look."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    wish = f"fault:{fault};" if fault else ""
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y], doc_string=wish)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = np.array([-1.5, 2.0, 3.0 + shift], dtype=np.float32)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("planted", fault or "healthy"))


@pytest.fixture(scope="session")
def case() -> MakeCase:
    return make_case


@pytest.fixture(scope="session")
def faulty() -> Target:
    return Target(str(FAULTY / "faulty.py"), Revision("0"))


@pytest.fixture(scope="session")
def faulty_folder() -> Path:
    return FAULTY


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """One runner for a module's tests: the next test always runs on what the last one left.

    It has time: on a busy machine a case that is well may take long.
    """
    with Runner(Limits(seconds=600, memory_mb=400), jobs=1) as shared:
        yield shared


@pytest.fixture(scope="module")
def impatient() -> Iterator[Runner]:
    """The same for cases that hang."""
    with Runner(Limits(seconds=2, memory_mb=400), jobs=1) as shared:
        yield shared


@pytest.fixture
def settled(runner: Runner, impatient: Runner, faulty: Target) -> Iterator[Settled]:
    """Asserts that the processes and descriptors of this process are what they were before the test."""
    for each in (runner, impatient):
        each.run(make_case(), faulty)
    gc.collect()  # what earlier tests have left open
    before = _possessions()

    def check() -> None:
        deadline = time.monotonic() + 300
        while _possessions() != before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert _possessions() == before

    yield check


def _possessions() -> tuple[int, int]:
    return len(descendants(os.getpid())), len(os.listdir("/proc/self/fd"))
