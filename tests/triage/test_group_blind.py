"""What a blind trial of the grouping taught, one by one: wrappers, first lines, poorer evidence, generated names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.triage.test_group import PACKAGES, groups, native, python

OPENVINO = (f"{PACKAGES}/openvino/_ov_api.py", "compile_model", "super().compile_model(model)")


# ------------------------------------------------------------------ messages


def test_a_message_of_a_first_line_alone_goes_on_as_the_exception_in_its_trace_does() -> None:
    wrapper = "Exception from src/inference/src/cpp/core.cpp:155:"
    causes = ("the axis of Gather is no constant", "an empty list of inputs")
    lines: list[dict[str, Any]] = [
        {"message": f"RuntimeError: {wrapper}", "trace": python(OPENVINO, final=f"RuntimeError: {wrapper}\n{cause}")}
        for cause in causes
    ]
    assert groups(*lines, *({"message": cause} for cause in causes)) == [{0, 2}, {1, 3}]


def test_what_a_program_prints_after_a_whole_message_is_no_part_of_it() -> None:
    said = "no kernel for this node"
    lines = [{"message": said, "trace": f"{said}\n{more}"} for more in ("cache hit", "bye")]
    assert groups(*lines, {"message": said}) == [{0, 1, 2}]
