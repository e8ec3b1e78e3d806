"""Reports have the headings of each project's own issue form, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.data import data_path
from triage.form import sections
from triage.projects import described
from triage.report import TEMPLATES

PARTS = {path.name.removesuffix(".md.j2"): f"<{path.name[:-6]}>" for path in (TEMPLATES / "parts").glob("*.md.j2")}
FACTS = {"version": "1.2", "os": "Debian", "arch": "x86_64", "frontend": "onnx"}

HEADINGS = {
    "tvm": [
        "", "Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Evidence", "Analysis",
        "Triage",
    ],
    "openvino": [
        "OpenVINO Version", "Operating System", "Device used for inference", "Framework", "Model used",
        "Issue description", "Step-by-step reproduction", "Relevant log output", "Issue submission checklist",
    ],
    "onnxruntime": [
        "Describe the issue", "To reproduce", "Urgency", "Platform", "OS Version", "ONNX Runtime Installation",
        "ONNX Runtime Version or Commit ID", "ONNX Runtime API", "Architecture", "Execution Provider",
        "Execution Provider Library Version",
    ],
    "inductor": ["🐛 Describe the bug", "Error logs", "Versions"],
    "reference": [
        "", "Is the issue related to model conversion?", "Describe the bug", "System information",
        "Reproduction instructions", "Expected behavior", "Notes",
    ],
}  # fmt: skip


@pytest.mark.parametrize("backend", HEADINGS)
def test_the_headings_are_those_of_the_form(backend: str) -> None:
    assert [heading for heading, _ in sections(described(backend), PARTS, FACTS)] == HEADINGS[backend]


@pytest.mark.parametrize("path", sorted(data_path("projects").glob("*.toml")), ids=lambda path: path.stem)
def test_every_form_holds_every_part_that_a_maintainer_needs_and_no_other(path: Path) -> None:
    project = described(path.stem)
    named = [part for section in project.sections for part in section.parts]
    assert len(named) == len(set(named)) and set(named) <= set(PARTS)
    assert {"summary", "script", "difference", "traces", "environment", "evidence", "analysis", "test"} <= set(named)


def test_fixed_fields_are_spelled_as_the_form_has_them() -> None:
    texts = {heading: pieces[0][1] for heading, pieces in sections(described("onnxruntime"), PARTS, FACTS)}
    assert texts["Architecture"] == "X64" and texts["ONNX Runtime Version or Commit ID"] == "1.2"
    assert dict(sections(described("openvino"), PARTS, FACTS))["Framework"] == [("", "ONNX")]


def test_a_section_without_anything_to_say_is_left_out() -> None:
    told = {**PARTS, "traces": "\n", "evidence": ""}
    assert "Error logs" not in dict(sections(described("inductor"), told, FACTS))
    [pieces] = [found for heading, found in sections(described("inductor"), told, FACTS) if "bug" in heading]
    assert "Evidence" not in dict(pieces)


def test_a_project_that_nobody_listed_has_the_usual_form() -> None:
    assert described("newcomer").name == "newcomer" and described("newcomer").labels == ()
    assert [one.heading for one in described("newcomer").sections] == [
        one.heading for one in described("default").sections
    ]
    assert described("/somewhere/tvm.py").name == "TVM"
