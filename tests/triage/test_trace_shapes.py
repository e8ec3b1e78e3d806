"""Frames by their shapes, in the forms of many tools and languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.case import Frame
from triage.places import place, quoted_places, telling
from triage.trace_shapes import frame
from triage.traces import read

TRACES = sorted((Path(__file__).parents[1] / "golden" / "traces").glob("*.txt"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_innermost_call_is_found_in_whatever_form_a_tool_prints_it(path: Path) -> None:
    first, _, raw = path.read_bytes().decode().partition("\n\n")
    trace = read(raw)
    found = place(telling(trace.frames), quoted_places(trace.text))
    assert first.removeprefix("innermost: ") in found.stack[0]


@pytest.mark.parametrize(
    ("line", "function", "file", "number"),
    [
        ("at Ns.Fold.Visit(Node n) in C:\\src\\Fold.cs:line 77", "Ns.Fold.Visit(Node n)", "C:/src/Fold.cs", 77),
        ("(acme 0.5.3) lib/tree.ex:123: Acme.Tree.apply/4", "Acme.Tree.apply", "lib/tree.ex", 123),
        ("/share/conv.lua:77: in function 'update'", "update", "/share/conv.lua", 77),
        ("from /lib/pass.rb:12:in `run'", "run", "/lib/pass.rb", 12),
        ("/src/lower.zig:77:22: 0x1042ab in lowerConv (acme)", "lowerConv (acme)", "/src/lower.zig", 77),
        ("/v/pad_ops.py:77: in convert", "convert", "/v/pad_ops.py", 77),
        ("~/v/api.py in compile_it(m, **kwargs)", "compile_it", "~/v/api.py", 0),
        ("/src/lib/Loader.cpp:122", "", "/src/lib/Loader.cpp", 122),
    ],
)  # fmt: skip
def test_a_frame_is_told_by_its_place_and_its_name(line: str, function: str, file: str, number: int) -> None:
    assert frame(line) == Frame(file, number, function)


@pytest.mark.parametrize(
    "line",
    [
        "model.mlir:17:10: error: 'linalg.generic' op has no operand",
        "/src/gen.cpp:52:54: error: use of undeclared identifier 'x'",
        "see split.go:41",
        "rank must be 4 in node 12",
        "Check failed: (a == b) is false: 3 vs. 4",
        'site-packages/torch/fx.py", line 22, in run',
        "loaded 12 weights from model.onnx:3",
        "0x7f3a1c01",
        "3.14 (it is not)",
    ],
)
def test_a_sentence_a_diagnosis_and_half_a_line_are_no_frames(line: str) -> None:
    assert frame(line) is None


def test_a_single_bare_place_is_text_and_a_list_of_them_a_trace() -> None:
    assert read("boom\n/src/Loader.cpp:122").frames == ()
    assert [each.line for each in read("boom\n/src/Conv.cpp:7\n/src/Loader.cpp:122").frames] == [7, 122]
