"""What failures of compilers that no rule was written for taught the grouping, one by one; then the sets themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.triage import synthetic
from tests.triage.test_group import groups, reports
from triage.group import group
from triage.traces import PythonFrame, read

GOLDEN = Path(__file__).parents[1] / "golden" / "grouping"


def raised(script: str, function: str, *frames: tuple[str, int, str], error: str) -> str:
    told = [f'  File "{script}", line 12, in {function}', "    run(model)"]
    told += [
        f'  File "/opt/venv/lib/python3.11/site-packages/{file}", line {line}, in {name}' for file, line, name in frames
    ]
    return "\n".join(["Traceback (most recent call last):", *told, error])


def test_the_script_of_a_reporter_is_no_place() -> None:
    session = ("onnxruntime/capi/onnxruntime_inference_collection.py", 220, "run")
    error = "Fail: [ONNXRuntimeError] : 1 : FAIL : Node (n) Op (Concat) [ShapeInferenceError] All inputs must be alike"
    other = error.replace("All inputs must be alike", "axis must be in [-rank, rank-1]")
    scripts = [("run_case.py", "compile_and_run"), ("/home/ann/work/bug.py", "check"), ("convert.py", "main")]
    lines = [{"trace": raised(*script, session, error=text)} for text in (error, other) for script in scripts]
    assert groups(*lines) == [{0, 1, 2}, {3, 4, 5}]


def test_a_script_may_be_called_as_a_file_of_the_compiler_is() -> None:
    inner = ("halcyon/pads.py", 40, "pad"), ("halcyon/fold.py", 20, "fold")
    lines = [
        {"trace": raised(script, function, frame, error="IndexError: list index out of range")}
        for frame in inner
        for script, function in [("/home/ann/pads.py", "pad"), ("/home/ann/bug.py", "check"), ("bug.py", "check")]
    ]
    assert groups(*lines) == [{0, 1, 2}, {3, 4, 5}]


@pytest.mark.parametrize(
    ("one", "other"), [("Conv1DTranspose", "Conv2DTranspose"), ("MaxPool-11", "MaxPool"), ("nn.Conv2d", "conv3d")]
)
def test_spellings_of_one_operator(one: str, other: str) -> None:
    wrong = {"message": "wrong result", "symptom": "wrong results"}
    assert groups({**wrong, "operator": one}, {**wrong, "operator": other}) == [{0, 1}]


def test_a_comparison_is_no_place_and_its_numbers_are_no_message() -> None:
    numpy = (
        "Not equal to tolerance rtol=1e-05, atol=0\nMismatched elements: 3 / 12 (25%)\nMax absolute difference: 0.5\n"
        " x: array([0.25, 0.5])\n y: array([0.75, 0.5])"
    )
    torch = (
        "Tensor-likes are not close!\n\nMismatched elements: 7 / 9 (77.8%)\nGreatest absolute difference: 2.5 at (0,)"
    )
    frames = [("numpy/testing/_private/utils.py", 1592, "assert_allclose")]
    told: list[dict[str, Any]] = [
        {
            "message": numpy,
            "trace": raised("a.py", "main", *frames, error=f"AssertionError: {numpy}"),
            "symptom": "wrong results",
        },
        {"message": torch, "symptom": "incorrect output"},
        {"message": "wrong result", "symptom": "inconsistent"},
        {"message": "max abs diff 1.2e-01 > tol 1e-3", "symptom": "wrong result"},
    ]
    lines = [{**one, "operator": operator} for operator in ("Resize", "CumSum") for one in told]
    assert groups(*lines) == [{0, 1, 2, 3}, {4, 5, 6, 7}]


@pytest.mark.parametrize(
    "message",
    ["list index out of range", "'NoneType' object is not iterable", "not enough values to unpack (expected 4, got 3)"],
)
def test_what_a_language_says_of_any_fault_is_told_by_where_it_was_raised(message: str) -> None:
    lines = [
        {"message": f"ValueError_/tvm/relay/frontend/pytorch.py_{line}_{message}", "operator": operator}
        for line, operator in [(1467, "layer_norm"), (1467, "LayerNorm"), (1502, "group_norm"), (1502, "group_norm")]
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_raised_in_a_library_it_is_told_by_the_operator() -> None:
    lines = [
        {"message": "IndexError_/numpy/core/fromnumeric.py_57_list index out of range", "operator": name}
        for name in ("Fold", "Fold", "Pad", "Pad")
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_without_that_the_operator_tells_it() -> None:
    lines = [
        {"message": "list index out of range", "operator": name} for name in ("Fold", "Fold", "Pad", "Pad", "fold")
    ]
    assert groups(*lines) == [{0, 1, 4}, {2, 3}]


def test_a_compilers_own_words_are_one_bug_wherever_they_are_raised() -> None:
    lines = [
        {"message": f"OpConversionFailure_/x/frontend.py_{line}_Expected a 3D or 4D tensor", "operator": operator}
        for line, operator in [(18, "max_pool1d"), (18, "MaxPool1d"), (19, "avg_pool1d")]
    ]
    assert groups(*lines) == [{0, 1, 2}]


def test_a_refusal_is_its_operators_though_one_function_refuses_all() -> None:
    frames = [("halcyon/session.py", 20, "build"), ("halcyon/convert/registry.py", 77, "lookup")]
    lines = [
        {
            "trace": raised(
                "a.py", "main", *frames, error=f"Unsupported: no lowering registered for operator '{name}'"
            ),
            "operator": name,
        }
        for name in ("gather", "gather", "cumsum", "cumsum")
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_the_importer_for_all_that_has_none_is_no_place() -> None:
    words = (
        "In function importFallbackPluginImporter:\n[8] Assertion failed: creator && "
        '"Plugin not found, are the plugin name, version, and namespace correct?"'
    )
    lines = [
        {"message": f"ERROR: builtin_op_importers.cpp:{at} {words}", "operator": name}
        for name in ("Det", "Unique")
        for at in (5428, 5510)
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Reshaping 2, 3, 4 to 7.", "Reshaping 5 to 2, 6."),
        (
            "Type 'tensor(bool)' of input parameter (x) of operator (TopK) is invalid.",
            "Type 'tensor(string)' of input parameter (y_1) of operator (TopK) is invalid.",
        ),
        ("E   ValueError: no such axis", "no such axis"),
        ("[rank0]: ValueError: no such axis", "> ValueError: no such axis"),
        ("no such dtype: numpy.float16", "no such dtype: ml_dtypes.bfloat16"),
        ("Error on hashing <function f.<locals>.<lambda> at 0x7f5d>", "Error on hashing <function main at 0x11>"),
        ("Shapes must be concrete.\nSee https://docs.example.dev/errors.html#one", "Shapes must be concrete."),
    ],
)
def test_what_differs_between_two_reports_of_one_message(one: str, other: str) -> None:
    assert groups({"message": one}, {"message": other}) == [{0, 1}]


def test_an_exception_without_a_sentence_has_no_message() -> None:
    frames = (
        [("torch/_inductor/scheduler.py", 2960, "topological_sort")],
        [("torch/_inductor/scheduler.py", 40, "merge")],
    )
    lines = [
        {"message": "AssertionError:", "trace": raised("a.py", "main", *each, error="AssertionError: ")}
        for each in (*frames, *frames)
    ]
    assert groups(*lines) == [{0, 2}, {1, 3}]


def test_lists_of_bare_names_of_functions_begin_where_a_program_does() -> None:
    lists = [
        ["<module>", "import_model", "handle_pad"],
        ["check", "import_model", "handle_pad"],
        ["check", "main", "import_model", "handle_fold"],
        ["<module>", "import_model", "handle_fold"],
    ]
    message = "IndexError: tuple index out of range"
    assert groups(*({"message": message, "frames": frames} for frames in lists)) == [{0, 1}, {2, 3}]


def test_a_constructor_that_raises_what_it_was_handed_is_no_place() -> None:
    checks = ["tensors.count(input_name)", "_importer_ctx.tensors().at(output.name()).is_tensor()"]
    frame = '  File "/opt/venv/lib/python3.11/site-packages/onnx_tensorrt/backend.py", line 86, in __init__'
    lines = [
        {"trace": f"Traceback (most recent call last):\n{frame}\n    raise RuntimeError(msg)\nRuntimeError: {words}"}
        for check in checks
        for words in [f"ModelImporter.cpp:296 In function importModel:\n[5] Assertion failed: {check}"] * 2
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_an_arrow_of_a_notebook_shows_the_code_of_a_frame() -> None:
    path = "File ~/venv/lib/python3.11/site-packages/halcyon/convert.py"
    shown = (
        f"ValueError Traceback (most recent call last)\n{path}:7, in forward(x)\n      6 y = x\n----> 7 return pool(y)"
    )
    assert [frame.code for frame in read(shown).frames if isinstance(frame, PythonFrame)] == ["return pool(y)"]


#: The index of each part when it was last read; a part is grouped alone.
LEAST = {
    "unseen_first": {
        "tvm-torch": 0.98,
        "tvm-keras": 0.97,
        "onnxruntime": 0.9,
        "tensorrt": 0.98,
        "issues": 0.7,
        "wrong": 0.94,
        "provoked": 0.9,
    },
    "unseen_third": {"tvm-onnx": 0.94, "onnxruntime": 0.97, "invented": 0.94, "dressed": 0.86},
    "unseen_second": {
        "tvm-onnx": 0.95,
        "inductor": 0.98,
        "mnn-xla": 0.9,
        "issues": 0.9,
        "wrong": 0.98,
        "invented": 0.8,
        "jax": 0.78,
    },
}


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in LEAST.items() for part in parts])
def test_failures_of_other_compilers_are_grouped_by_their_causes(name: str, part: str) -> None:
    rows = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [row for row in rows if row.pop("part") == part]
    labels = [row.pop("label") for row in found]
    assigned = group(reports([{"message": "", **row} for row in found])).assignment
    assert synthetic.adjusted_rand(labels, [assigned[row["id"]] for row in found]) >= LEAST[name][part]
