"""What is ill-conditioned in one row, or one picture, excuses no fault in another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from fuzz import catalogue
from fuzz.case import Case
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.triage.court.test_liberties import SECONDS, F, case_of
from triage.court.evidence import Ruling
from triage.court.hearing import Court

SPOILT = str(Path(__file__).with_name("spoilt_row.py"))
#: One row of huge numbers that cancel, one of ordinary ones.
ROWS = F([[3e7, -3e7, 2e7, 1], [0.3, -1.2, 2.1, 0.7]])
MASKED = F([[-1e9, 1, 2, 3], [1, 2, 3, 4]])
PICTURES = np.concatenate([F(1e5) * np.arange(1, 17, dtype=F), np.arange(1, 17, dtype=F) / 7]).reshape(2, 1, 4, 4)
OFFSET = np.concatenate([1e3 + np.arange(8, dtype=F) / 4, np.arange(8, dtype=F) / 4]).reshape(2, 2, 4)
GRID = np.full((2, 2, 2, 2), 0.3, F)
MATRICES = F([[[1e6, 1e6], [1e6, 1e6 + 1]], [[2, 1], [1, 1.5]]])
ROW = np.array([1])

CASES: dict[str, Case] = {
    "ReduceSum": case_of([("ReduceSum", ["x", "a"], ["z"])], {"x": ROWS}, [2, 1], a=ROW),
    "ReduceSum of an older opset": case_of([("ReduceSum", ["x"], ["z"], {"axes": [1]})], {"x": ROWS}, [2, 1], opset=11),
    "ReduceMean": case_of([("ReduceMean", ["x", "a"], ["z"], {"keepdims": 0})], {"x": ROWS}, [2], a=ROW),
    "ReduceSum of whole numbers": case_of(
        [("ReduceSum", ["x", "a"], ["z"])], {"x": F([[3e30, 1, -3e30, 0.5], [1, 1, 2, 3]])}, [2, 1], a=ROW
    ),
    "Softmax": case_of([("Softmax", ["x"], ["z"])], {"x": MASKED}, [2, 4]),
    "LogSoftmax": case_of([("LogSoftmax", ["x"], ["z"])], {"x": MASKED}, [2, 4]),
    "GroupNormalization": case_of(
        [("GroupNormalization", ["x", "s", "b"], ["z"], {"num_groups": 1})],
        {"x": OFFSET},
        [2, 2, 4],
        s=F([1, 1]),
        b=F([0, 0]),
        opset=21,
    ),
    "Resize": case_of(
        [("Resize", ["x", "", "s"], ["z"], {"mode": "linear"})], {"x": PICTURES}, [2, 1, 8, 8], s=F([1, 1, 2, 2])
    ),
    "DFT": case_of([("DFT", ["x"], ["z"])], {"x": ROWS[:, :, None]}, [2, 4, 2]),
    "GridSample": case_of([("GridSample", ["x", "g"], ["z"])], {"x": PICTURES, "g": GRID}, [2, 1, 2, 2]),
    "Det": case_of([("Det", ["x"], ["z"])], {"x": MATRICES}, [2]),
    "LpPool": case_of([("LpPool", ["x"], ["z"], {"kernel_shape": [2, 2]})], {"x": PICTURES}, [2, 1, 3, 3]),
    "float16": case_of(
        [("ReduceSum", ["x", "a"], ["z"])],
        {"x": (ROWS / F([[1e3], [1]])).astype(np.float16)},
        [2, 1],
        TensorProto.FLOAT16,
        a=ROW,
    ),
    "Exp": case_of([("Exp", ["x"], ["z"])], {"x": F([1, 88.5])}, [2]),
    "Exp of float16": case_of([("Exp", ["x"], ["z"])], {"x": np.float16([1, 10.5])}, [2], TensorProto.FLOAT16),
}


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Court(runner, catalogue.target("reference"), SECONDS)


@pytest.mark.parametrize("how", CASES)
def test_a_fault_in_an_ordinary_row_is_a_bug_whatever_the_others_are(court: Court, how: str) -> None:
    found = court.hear(CASES[how], catalogue.target(SPOILT))
    assert found.verdict is Ruling.COMPILER_BUG, found.reason


OTHER = str(Path(__file__).with_name("other_formulas.py"))
WAVE = np.sin(np.arange(24, dtype=F) * F(1.7))
CHANNELS = np.stack([np.sin(np.arange(24, dtype=F)), 500 + WAVE]).astype(F).reshape(1, 2, 24)
NEARLY_FLAT = F(
    [[[2, 1, 0], [1, 3, 1], [0, 1, 2]], [[37.7, -39.63, 192.11], [75.43, -79.27, 384.25], [113.16, -118.88, 576.38]]]
)
HONEST: dict[str, Case] = {
    "BatchNormalization": case_of(
        [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z", "rm", "rv"], {"training_mode": 1})],
        {"x": CHANNELS},
        [1, 2, 24],
        s=F([1, 1]),
        b=F([0, 0]),
        m=F([0, 0]),
        v=F([1, 1]),
    ),
    "Det": case_of([("Det", ["x"], ["z"])], {"x": NEARLY_FLAT}, [2]),
}


@pytest.mark.parametrize("how", HONEST)
def test_what_another_formula_loses_in_one_row_is_no_bug(court: Court, how: str) -> None:
    found = court.hear(HONEST[how], catalogue.target(OTHER))
    assert found.verdict is Ruling.NOISE, found.reason
