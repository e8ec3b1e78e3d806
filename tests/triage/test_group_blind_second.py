"""What a second blind trial of the grouping taught: symptoms, ends of lists, samples of a hang, whose result it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.triage import synthetic
from tests.triage.test_group import groups, reports
from tests.triage.test_group_blind import GOLDEN
from triage import traces
from triage.group import group
from triage.noted import classed
from triage.trace_listed import listed

# ------------------------------------------------------------------ symptoms and results


@pytest.mark.parametrize("symptom", ["exception", "compile-error", "conversion error", "runtime_error", "failed"])
def test_what_raises_is_one_bug_in_whichever_step_the_runner_says_it_was(symptom: str) -> None:
    said = {"message": "no kernel for a sorted tensor"}
    assert groups({**said, "symptom": "exception"}, {**said, "symptom": symptom}) == [{0, 1}]
    assert classed(symptom) == "exception"


@pytest.mark.parametrize("symptom", ["crash", "hang", "oom", "wrong:values", "error of 3 ulp"])
def test_other_symptoms_are_their_own(symptom: str) -> None:
    assert classed(symptom) not in ("", "exception")


def test_one_operator_that_two_compilers_get_wrong_is_two_bugs() -> None:
    said = "{} vs onnxruntime: output 0 has dtype int32, reference int64"
    lines = [
        {"message": said.format(name), "symptom": "wrong:dtype", "operator": "ArgMax"}
        for name in ("openvino CPU", "tvm relax llvm")
    ]
    assert groups(*lines, *lines) == [{0, 2}, {1, 3}]


# ------------------------------------------------------------------ lists and traces


@pytest.mark.parametrize(
    ("text", "file", "function"),
    [
        ("<module> (repro_a1.py:50)", "repro_a1.py", "<module>"),
        ("<module> (<string>:1)", "<string>", "<module>"),
        ("<string>:1 in <module>", "<string>", "<module>"),
        ("/usr/lib/python3.11/multiprocessing/spawn.py:122:spawn_main", "multiprocessing/spawn.py", "spawn_main"),
    ],
)
def test_the_body_of_a_program_is_a_frame_in_whatever_way_it_is_listed(text: str, file: str, function: str) -> None:
    [frame] = listed([text])
    assert frame.file.endswith(file) and frame.function == function


def test_a_list_is_read_by_its_own_ends_whatever_is_usual_in_the_batch() -> None:
    frames = ["run.py:5 in <module>", "lib/convert.py:90 in convert_all", "lib/ops.py:7 in _tile"]
    other = ["run.py:5 in <module>", "lib/convert.py:91 in convert_all", "lib/ops.py:30 in _pad"]
    lines: list[dict[str, Any]] = [{"message": "no data", "frames": one} for one in (frames, frames[::-1], other)]
    assert groups(*lines) == [{0, 1}, {2}]


def test_symbols_below_a_heading_are_frames_and_py_spy_begins_with_the_innermost() -> None:
    checked = traces.read("was false.\n\nStacktrace:\nat a::Check(int)\na::Fusion::Apply(Graph&) const\na::Run()")
    assert [frame.function for frame in checked.frames] == [
        "a::Check(int)",
        "a::Fusion::Apply(Graph&) const",
        "a::Run()",
    ]
    spied = traces.read(
        'Thread 477 (active): "MainThread"\n    x::Literal::Literal() ()\n    compile (jax/_src/compiler.py:275)\n'
        "    cache_miss (jax/_src/pjit.py:348)\n"
    )
    assert [frame.function for frame in spied.frames] == ["x::Literal::Literal()", "compile", "cache_miss"]
    assert not traces.read("std::bad_alloc\nfoo::bar(1) is false").frames


def test_native_frames_that_a_message_prints_count_beside_the_frames_of_the_program() -> None:
    def line(fusion: str) -> dict[str, Any]:
        stack = f"onnxruntime::graph_utils::Add(Node&)\nonnxruntime::{fusion}::Apply(Graph&)"
        said = f"input was false.\n\nStacktrace:\n{stack}"
        frames = ["run.py:3 in <module>", "onnxruntime/capi/session.py:80 in create_session"]
        return {"message": said, "frames": frames}

    assert groups(*map(line, ("PadFusion", "ClipFusion", "PadFusion"))) == [{0, 2}, {1}]


def test_a_message_that_somebody_cut_off_with_dots_goes_on_as_its_trace_does() -> None:
    whole = "RuntimeException: the optimizer met a node that it has removed before: Relu_7"
    cut = f"{whole[:60]}…"
    trace = f'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n    go()\n{whole}'
    assert groups({"message": cut, "trace": trace}, {"message": whole}) == [{0, 1}]


# ------------------------------------------------------------------ hangs


def test_samples_of_one_loop_are_one_hang_wherever_each_of_them_ends() -> None:
    walks = ("Rewriter::Fold", "Modular::Bound", "Interval::Meet")
    lines: list[dict[str, Any]] = [
        {"symptom": "hang", "message": "timeout after 60 s", "frames": [f"tvm::arith::{walk}", "tvm::tir::Simplify"]}
        for walk in walks
    ]
    ended = {"symptom": "hang", "message": "no result within 90 s", "frames": ["tvm::tir::Simplify", "tvm::tir::Lower"]}
    other = {
        "symptom": "hang",
        "message": "timeout after 60 s",
        "frames": ["tvm::relax::Fuse::Check", "tvm::relax::Fuse"],
    }
    assert groups(*lines, ended, other) == [{0, 1, 2, 3}, {4}]


def test_crashes_are_no_samples() -> None:
    outer = ["mylib::Simplify", "run.py:3 in <module>"]
    lines: list[dict[str, Any]] = [
        {"symptom": "crash", "message": "SIGSEGV", "frames": [inner, *outer]}
        for inner in ("mylib::Rewriter::Fold", "mylib::Modular::Bound")
    ]
    assert groups(*lines) == [{0}, {1}]


# ------------------------------------------------------------------ the sets themselves


@pytest.mark.parametrize(
    ("name", "part", "least"),
    [
        ("blind_second", "seed1", 0.94),
        ("blind_second", "seed2", 0.90),
        ("blind_third", "seed1", 0.93),
        ("blind_third", "seed2", 0.89),
    ],
)
def test_the_failures_of_the_later_trials_are_grouped_by_their_bugs(name: str, part: str, least: float) -> None:
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.pop("part") == part]
    labels = [row.pop("label") for row in rows]
    rows = [{**row, "id": str(at)} for at, row in enumerate(rows)]
    assigned = group(reports(rows)).assignment
    assert synthetic.adjusted_rand(labels, [assigned[row["id"]] for row in rows]) >= least
