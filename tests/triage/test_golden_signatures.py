"""Real failures of this project's own hunts, and the signature that each gets. ``make golden`` rewrites them."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.triage import goldens

PATHS = goldens.paths()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_real_failure_has_the_signature_that_was_approved(path: Path) -> None:
    golden, expected = goldens.read(path)
    if os.environ.get("UPDATE_GOLDEN"):
        goldens.write(path, golden)
        return
    assert golden.expected() == expected, f"read {path}; `make golden` approves it"


def test_there_are_enough_cases_of_every_compiler_and_of_every_way_to_fail() -> None:
    assert len(PATHS) >= 150
    assert {path.parent.name for path in PATHS} == {"inductor", "mnn", "onnxruntime", "openvino", "tvm"}
    symptoms = Counter(goldens.read(path)[0].heads["symptom"].partition(":")[0] for path in PATHS)
    assert {"exception", "wrong"} <= symptoms.keys()
    assert any(goldens.read(path)[0].heads["signal"] for path in PATHS)


def test_no_case_tells_where_it_was_made() -> None:
    private = re.compile(r"/(?:home|root|Users|tmp|work)/|site-packages")
    assert not [path.name for path in PATHS if private.search(path.read_text(encoding="utf-8"))]


def test_writing_a_case_and_reading_it_again_changes_nothing(tmp_path: Path) -> None:
    for path in PATHS[::10]:
        goldens.write(tmp_path / path.name, goldens.read(path)[0])
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
