"""A few entries of the golden set (`tests/golden/court`), for each thing that the court learnt from it.

The whole set is heard by ``python -m tests.golden.court.run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.golden.court import run

#: Traps, each with the backend that falls into it: what is open, and what rounding decides.
TRAPS = (
    ("nan_elu", "tvm"),
    ("nan_thresholded", "openvino"),
    ("nan_shrink", "openvino"),
    ("quantize_tie", "openvino"),
    ("average_of_padding", "onnxruntime"),
    ("average_of_padding", "tvm"),
    ("roi_outside", "openvino"),
    ("optional_absent", "onnxruntime"),
    ("complex_numbers", "onnxruntime"),
    ("complex_numbers", "tvm"),
    ("resize_nearest_floor", "openvino"),
    ("resize_nearest_2.6", "onnxruntime"),
    ("int_to_float", "openvino"),
    ("step_range", "liberties"),
    ("torch_division_by_zero", "tvm"),
)
#: Planted bugs that are near the tolerance, or beside something that is open.
PLANTED = (
    "just_within_softplus",
    "just_within_resize_cubic",
    "just_beyond_erf",
    "quantize_half_away",
    "masked_nan",
    "masked_tie",
    "softplus_threshold",
    "maxpool_zero_padding",
)
ENTRIES = {entry.name: entry for entry in run.entries("all")}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=60), jobs=1) as shared:
        yield shared


def test_every_entry_has_a_name_of_its_own_and_says_why() -> None:
    listed = run.entries("all")
    assert len({entry.name for entry in listed}) == len(listed)
    assert all(entry.why and entry.expected for entry in listed)


@pytest.mark.parametrize(("name", "backend"), TRAPS)
def test_a_trap_is_no_compilers_bug(runner: Runner, tmp_path: Path, name: str, backend: str) -> None:
    [chosen] = [each for each in run.backends(ENTRIES[name]) if Path(each).stem == backend]
    found = run.hear(ENTRIES[name], chosen, runner, tmp_path, deadline=5.0)
    assert found["right"] and found["verdict"] is not None, found


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(runner: Runner, tmp_path: Path, name: str) -> None:
    [chosen] = run.backends(ENTRIES[name])
    found = run.hear(ENTRIES[name], chosen, runner, tmp_path, deadline=60.0)
    assert found["right"], found
