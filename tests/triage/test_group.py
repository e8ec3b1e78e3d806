"""Which failures are one bug: difficulties one by one, then worlds of synthetic bugs, then OPERA's failures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.commands.group import read
from tests.triage import synthetic
from triage.evidence import Report
from triage.group import Grouping, group
from triage.trace_listed import listed

OPERA = Path(__file__).parents[1] / "golden" / "opera"
REAL = Path(__file__).parents[1] / "golden" / "grouping" / "failures.jsonl"
FORMS = REAL.with_name("forms.jsonl")


def reports(lines: Sequence[dict[str, Any]]) -> list[Report]:
    return [Report(**{**line, "frames": listed(line.get("frames"))}) for line in lines]


def groups(*lines: dict[str, Any]) -> list[set[int]]:
    """The positions of the lines that are together, the largest group first."""
    found = group(reports([{"id": str(at), "message": "", **line} for at, line in enumerate(lines)]))
    together: dict[str, set[int]] = {}
    for at in range(len(lines)):
        together.setdefault(found.assignment[str(at)], set()).add(at)
    return sorted(together.values(), key=lambda members: (-len(members), min(members)))


def native(*functions: str, line: int = 10) -> str:
    return "\n".join(
        f"#{at} 0x7f{at:06x} in {name} (x=1) at /b/src/f.cc:{line + at}" for at, name in enumerate(functions)
    )


def seen(times: int, line: dict[str, Any]) -> list[dict[str, Any]]:
    """A failure seen several times, each at other addresses: the very same line again is no second observation."""
    return [{**line, "trace": line["trace"].replace("0x7f", f"0x{at}f")} for at in range(1, times + 1)]


# ------------------------------------------------------------------ one difficulty each


def test_one_message_at_two_stacks_is_two_bugs() -> None:
    one = {"message": "Check failed: a == b", "trace": native("ns::Fold", "ns::Run", "main")}
    other = {"message": "Check failed: a == b", "trace": native("ns::Tile", "ns::Run", "main")}
    assert groups(one, one, other, other) == [{0, 1}, {2, 3}]


def test_values_in_an_assertion_do_not_make_bugs() -> None:
    at = {"trace": native("ns::Fold", "main")}
    messages = ("expected 3 got 4", "expected 12 got -1", "expected 0x7f got 9")
    assert groups(*({"message": message, **at} for message in messages)) == [{0, 1, 2}]


def gcc(number: int, *complaints: str) -> dict[str, Any]:
    """An error of inductor's C++ code, as one machine and model or another shows it."""
    home, unit = f"/home/user{number}/lib/torch/", f"/tmp/torchinductor_user{number}/ab/c{number}.cpp"
    kernel = ", ".join(["const float*"] * number)
    said = [f"{unit}: In function 'void kernel({kernel})':", *(complaint.format(unit=unit) for complaint in complaints)]
    message = "\n".join(["C++ compile error", "", "Command:", f"g++ {unit} -O3 -o {unit}.so", "", "Output:", *said])
    frames = [
        ("_inductor/graph.py", "codegen"),
        ("_inductor/codecache.py", "future"),
        ("_inductor/cpp_builder.py", "r"),
    ]
    lines = [f'  File "{home}{file}", line {100 + number}, in {name}' for file, name in frames]
    trace = "\n".join(["Traceback (most recent call last):", *lines, f"torch._inductor.exc.InductorError: {message}"])
    return {"message": message, "trace": trace}


def test_what_a_c_compiler_says_of_generated_code_first_tells_the_bug_and_nothing_else_of_its_output() -> None:
    minimum = "{unit}:7:37: error: no matching function for call to 'minimum(at::vec::Vectorized<long>&)'"
    note = "/usr/include/vec.h:33:1: note: candidate: template<class T> T minimum(T)"
    scope = "{unit}:9:12: error: 'tmp%d' was not declared in this scope\n   9 |   auto x = tmp1;\n     |       ^~~~"
    linker = "/usr/bin/ld: /tmp/cc.o: in function `k':\nc.cpp:(.text+0x7): undefined reference to `GOMP_parallel'"
    ended = "collect2: error: ld returned 1 exit status"
    lines = [gcc(1, minimum), gcc(2, minimum, note, scope % 4), gcc(1, scope % 3), gcc(3, scope % 11, minimum)]
    assert groups(*lines, gcc(2, linker, ended), gcc(3, linker, ended)) == [{0, 1}, {2, 3}, {4, 5}]


def test_one_bug_says_three_things_whatever_the_operator() -> None:
    at = {"trace": native("ns::Fold", "ns::Run")}
    lines = [
        {"message": message, "operator": operator, **at}
        for message in ("cannot fold", "stride is negative", "no such buffer")
        for operator in ("Conv", "Gemm", "Pad")
    ]
    assert len(groups(*lines)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"operator": "Conv"}, {"operator": "Gemm"}),
        ({"exception": "ValueError"}, {"exception": "KeyError"}),
        ({"trace": native("ns::Fold", "ns::ConvertPad")}, {"trace": native("ns::Fold", "ns::ConvertTile")}),
        ({"trace": native("ns::Fold", "ns::Run", line=40)}, {"trace": native("ns::Fold", "ns::Run", line=900)}),
    ],
    ids=["operator", "exception", "caller", "line"],
)
def test_two_messages_at_one_place_are_two_bugs_if_something_else_goes_with_them(
    one: dict[str, str], other: dict[str, str]
) -> None:
    at = {"trace": native("ns::Fold", "ns::Run")}
    first = seen(4, {**at, "message": "cannot fold the scale", **one})
    second = seen(4, {**at, "message": "no such buffer", **other})
    assert groups(*first, *second) == [{0, 1, 2, 3}, {4, 5, 6, 7}]


@pytest.mark.parametrize("times", [2, 5])
def test_lines_that_are_sent_again_change_nothing(times: int) -> None:
    at = {"trace": native("ns::Fold", "ns::Run")}
    lines = [
        {**at, "message": "cannot fold the scale", "operator": "Conv"},
        {**at, "message": "no such buffer", "operator": "Gemm"},
        *({"message": "KeyError: 'scale'", "operator": name} for name in ("Pad", "Tile")),
        *({"message": "axis repeats", "trace": native(name, "ns::Run")} for name in ("ns::Pad", "ns::Tile")),
        {"message": "axis repeats"},
    ]
    once = groups(*lines)
    evenly = groups(*lines * times)
    unevenly = groups(*lines, *lines[:2] * times, lines[5], *lines[3:4] * 3 * times)
    assert [{at for at in found if at < len(lines)} for found in evenly] == once
    assert sorted(sorted(at for at in found if at < len(lines)) for found in unevenly) == sorted(map(sorted, once))


def test_lines_that_drift_do_not_make_bugs() -> None:
    draw = random.Random(0)
    lines = [
        {"message": message, "trace": native("ns::Fold", "ns::Run", line=100 + draw.randint(0, 30))}
        for message in ("cannot fold", "no such buffer")
        for _ in range(20)
    ]
    assert len(groups(*lines)) == 1


def test_a_place_that_says_many_things_only_reports_errors() -> None:
    said = ("scale is absent", "rank beyond four", "dtype lacks a kernel", "window exceeds input", "axis repeats")
    at = {"trace": native("ns::InferType", "ns::Run")}
    lines = [line for message in said for line in seen(5, {"message": message, **at})]
    assert len(groups(*lines)) == len(said)


def test_an_operator_in_the_message_is_noise_where_the_stack_tells() -> None:
    lines = [
        {
            "message": f"Error converting operator {name}: no scale",
            "operator": name,
            "trace": native("ns::Fold", "main"),
        }
        for name in ("Relu", "Celu", "Gemm", "Conv")
    ]
    assert len(groups(*lines)) == 1


def test_an_operator_in_the_message_is_the_bug_where_nothing_else_tells() -> None:
    lines = [{"message": f"no conversion for operator {name}", "operator": name} for name in ("Relu", "Celu", "Relu")]
    assert groups(*lines) == [{0, 2}, {1}]


def test_an_operator_is_noise_where_the_message_tells_and_there_is_no_stack() -> None:
    lines = [{"message": "Input is not a static shape", "operator": name} for name in ("Relu", "Celu", "Gemm")]
    assert len(groups(*lines)) == 1


def test_wrong_results_are_told_apart_by_operator_whatever_its_dimensions() -> None:
    names = ("AvgPool2d", "avg_pool3d", "avg_pool1d", "max_pool2d", "Relu")
    lines = [{"message": "wrong result", "symptom": "wrong results", "operator": name} for name in names]
    assert groups(*lines) == [{0, 1, 2}, {3}, {4}]


def test_the_same_words_for_another_symptom_are_another_bug() -> None:
    at = {"message": "x", "trace": native("ns::Fold")}
    assert len(groups({**at, "symptom": "crash"}, {**at, "symptom": "hang"})) == 2


# ------------------------------------------------------------------ what is missing


WHOLE = {"message": "cannot fold the scale", "operator": "Pad", "trace": native("ns::Fold", "ns::Run", "ns::Build")}


def test_a_failure_without_a_trace_joins_the_bug_that_its_message_points_to() -> None:
    assert groups(WHOLE, WHOLE, {"message": "cannot fold the scale"}) == [{0, 1, 2}]


def test_a_failure_without_a_trace_is_not_forced_into_one_of_two_bugs() -> None:
    other = {**WHOLE, "trace": native("ns::Tile", "ns::Run")}
    assert groups(WHOLE, WHOLE, other, other, {"message": "cannot fold the scale"}) == [{0, 1}, {2, 3}, {4}]


def test_the_operator_decides_where_the_message_points_to_two_bugs() -> None:
    other = {**WHOLE, "operator": "Tile", "trace": native("ns::Tile", "ns::Run")}
    without = {"message": "cannot fold the scale", "operator": "Tile"}
    assert groups(WHOLE, WHOLE, other, other, without) == [{2, 3, 4}, {0, 1}]


def test_a_message_that_tells_nothing_points_nowhere() -> None:
    died = {**WHOLE, "message": "Segmentation fault (core dumped)"}
    assert groups(died, died, {"message": "Segmentation fault", "operator": "Conv"}) == [{0, 1}, {2}]


def test_a_death_without_a_trace_joins_the_only_one_of_its_operator() -> None:
    died = {**WHOLE, "message": "Segmentation fault (core dumped)"}
    other = {**died, "operator": "Tile", "trace": native("ns::Tile", "ns::Run")}
    without = {"message": "process exited with signal 11", "operator": "Pad"}
    assert groups(died, died, died, other, other, without) == [{0, 1, 2, 5}, {3, 4}]


def test_a_stack_whose_inner_end_was_cut_off_or_inlined_joins_the_whole_ones() -> None:
    cut = {**WHOLE, "trace": "\n".join(str(WHOLE["trace"]).splitlines()[1:])}
    inlined = {**WHOLE, "trace": native("ns::Run", "ns::Build")}
    assert groups(WHOLE, WHOLE, cut, inlined) == [{0, 1, 2, 3}]


def test_a_stack_whose_outer_end_was_cut_off_is_the_same() -> None:
    assert groups(WHOLE, {**WHOLE, "trace": str(WHOLE["trace"]).splitlines()[0]}) == [{0, 1}]


def test_a_message_that_was_cut_within_a_word_is_the_whole_one() -> None:
    whole = "Attribute strides of the pooling window exceeds the padded input"
    assert groups({"message": whole}, {"message": whole[:45]}, {"message": whole[:30] + "..."}) == [{0, 1, 2}]


def test_deaths_without_a_telling_frame_are_told_apart_by_operator() -> None:
    trace = "Fatal Python error: Segmentation fault\n\nStack (most recent call first):\n" + (
        '  File "/x/fuzz/backends/tvm.py", line 59 in execute\n  File "/x/fuzz/worker.py", line 1 in serve\n'
    )
    lines = [{"operator": name, "symptom": "crash:SIGSEGV", "trace": trace} for name in ("Pad", "TopK", "Pad")]
    assert groups(*lines) == [{0, 2}, {1}]
    lines = [{"operator": name, "symptom": "oom", "message": "std::bad_alloc"} for name in ("Pad", "TopK", "Pad")]
    assert groups(*lines) == [{0, 2}, {1}]


def test_a_symptom_that_is_not_told_is_that_of_the_like_failures() -> None:
    told = {**WHOLE, "symptom": "crash"}
    assert groups(told, told, WHOLE, {"message": "cannot fold the scale"}) == [{0, 1, 2, 3}]


def test_a_place_that_only_the_message_names_is_that_of_the_frames_with_the_same_message() -> None:
    said = {"message": "Check 'rank == 2' failed at src/op/pad.cpp:27: rank must be 2"}
    assert groups({**said, "trace": native("ns::Pad", "ns::Run")}, said, said) == [{0, 1, 2}]


def test_a_failure_that_says_nothing_joins_nobody() -> None:
    silent = {**WHOLE, "message": ""}
    assert groups(silent, silent, {}) == [{0, 1}, {2}]


def test_messages_that_part_after_the_cut_are_not_guessed_at() -> None:
    begun = "Attribute strides of the pooling win"
    assert len(groups({"message": begun + "dow is odd"}, {"message": begun + "dmill is odd"}, {"message": begun})) == 3


def test_a_mark_of_cutting_is_no_word() -> None:
    assert (
        len(
            groups(
                *({"message": f"no kernel for this operator{mark}"} for mark in ("", "...", "… [truncated]", " <cut>"))
            )
        )
        == 1
    )


def test_no_failure_is_lost_whatever_it_lacks() -> None:
    draw = random.Random(3)
    keys = ("message", "operator", "exception", "symptom", "trace")
    values = {
        "message": ("x", "boom at N", "no operator Pad", ""),
        "operator": ("Pad", ""),
        "exception": ("ValueError", ""),
        "symptom": ("crash", ""),
        "trace": (native("ns::Fold", "ns::Run"), native("ns::Run").replace("#0", "#1"), native("ns::Run"), ""),
    }
    lines = [{key: draw.choice(values[key]) for key in keys} for _ in range(600)]
    assert sum(map(len, groups(*lines))) == 600


def test_many_different_messages_at_one_place_are_read_in_linear_work() -> None:
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(4_000)]
    supported = [f"wording {word} of its own kind {word} {word}" for word in ("alpha", "beta", "gamma", "delta", "eps")]
    lines = [{"message": message, "trace": native("ns::Infer", "ns::Run")} for message in [*words, *supported * 400]]
    assert sum(map(len, groups(*lines))) == len(lines)


def test_how_often_a_function_calls_itself_says_nothing() -> None:
    deep = {**WHOLE, "trace": native(*["ns::Fold", "ns::Run"] * 40, "ns::Build")}
    assert groups(WHOLE, deep) == [{0, 1}]


def test_a_failure_of_nothing_but_an_id_is_a_group() -> None:
    assert groups({}, {}) == [{0, 1}]


# ------------------------------------------------------------------ whose frames and whose operator


def python(*frames: tuple[str, str, str], final: str = "ValueError: x") -> str:
    """A traceback of (file, function, line of code), outermost first."""
    lines = [
        f'  File "{file}", line {12 + at}, in {function}\n    {code}'
        for at, (file, function, code) in enumerate(frames)
    ]
    return "\n".join(["Traceback (most recent call last):", *lines, final])


PACKAGES = "/opt/lib/python3.12/site-packages"
SESSION = (
    f"{PACKAGES}/onnxruntime/capi/onnxruntime_inference_collection.py",
    "__init__",
    "sess = C.InferenceSession()",
)
FRONTEND = f"{PACKAGES}/tvm/relax/frontend/onnx/onnx_frontend.py"


def test_the_reporters_own_script_is_never_the_place() -> None:
    one, other = (
        (
            ("/tmp/case12/main.py", "<module>", "go()"),
            ("/tmp/case12/main.py", "run_case", "Session(m)"),
        ),
        (
            ("/home/b/fuzzing/check_all.py", "<module>", "work()"),
            ("/home/b/fuzzing/check_all.py", "work", "Session(m)"),
        ),
    )
    lines = [
        {"message": message, "trace": python(*script, SESSION)}
        for message in ("axis must be positive", "no such input")
        for script in (one, other)
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_frames_of_the_traced_program_are_no_place() -> None:
    user = 'from user code:\n  File "/home/b/net.py", line 7, in forward\n    return conv(x)\n'
    trace = python((f"{PACKAGES}/torch/_dynamo/utils.py", "run_node", "raise")) + "\n\n" + user
    lines = [{"message": message, "trace": trace} for message in ("too many indices", "unequal reduction dims")]
    assert len(groups(*lines)) == 2


def test_a_helper_is_told_by_the_first_caller_that_is_a_conversions_own() -> None:
    check = (f"{PACKAGES}/torch/_prims_common/__init__.py", "canonicalize_dim", "raise IndexError(msg)")
    lines = [
        {
            "message": "Dimension out of range",
            "trace": python((f"{PACKAGES}/torch/_refs/__init__.py", name, "go"), check),
        }
        for name in ("permute", "sum", "permute")
    ]
    assert groups(*lines) == [{0, 2}, {1}]


def test_methods_of_one_name_are_told_by_their_line_of_code_whatever_its_number() -> None:
    lines = [
        {
            "message": "index out of bounds",
            "trace": "\n" * drift + python((FRONTEND, "_impl_v13", code)).replace("line 12", f"line {12 + drift}"),
        }
        for code in ("raise ValueError(axes)", "raise ValueError(pads)")
        for drift in (0, 9)
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


CHECK = """Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- {op}-17 with a message:
{rethrow}While validating ONNX node '<Node({op}): {name}>': Check 'is_axis_valid(axis, r)' failed at {file}:336:
Axis {axis} out of the tensor rank range [-2, 1].

Summary:
-- Conversion is failed for: {op}-17
"""


def test_a_check_that_all_conversions_share_is_told_by_the_operator_that_the_message_says_was_converted() -> None:
    rethrow = "[ONNX Frontend] Conversion failed for {op}-17\n"
    lines = [
        {
            "message": prefix
            + CHECK.format(
                op=op, name=f"y{at}", axis=at, file="src/core/src/validation_util.cpp", rethrow=again.format(op=op)
            ),
            "operator": noted,
        }
        for at, (op, prefix, again, noted) in enumerate(
            [
                ("Gather", "", "", ""),
                ("Softmax", "", rethrow, ""),
                ("Gather", "Exception from src/inference/src/cpp/core.cpp:84:\n", rethrow, "Gather"),
                ("Gather", "", rethrow, "Conv"),
            ]
        )
    ]
    assert groups(*lines) == [{0, 2, 3}, {1}]


def test_a_check_in_a_conversions_own_file_is_one_bug_whatever_is_converted() -> None:
    lines = [
        {
            "message": CHECK.format(
                op=op, name="y", axis=3, file="src/frontends/onnx/frontend/src/op/softmax.cpp", rethrow=""
            )
        }
        for op in ("Softmax", "LogSoftmax")
    ]
    assert len(groups(*lines)) == 1


def test_at_a_shared_place_an_operator_decides_if_it_is_no_rarity() -> None:
    shared = {
        "message": "In relax.add, the shapes are not broadcastable",
        "trace": native("tvm::relax::InferBinaryBroadcastShape"),
    }
    often = [*seen(8, {**shared, "operator": "Gemm"}), *seen(6, {**shared, "operator": "Conv"})]
    found = [*often, {**shared, "operator": "Relu"}, {**shared, "operator": ""}]
    assert groups(*found) == [{*range(8), 14, 15}, set(range(8, 14))]


def test_what_is_quoted_at_a_shared_place_is_a_value() -> None:
    said = (
        "Check 'false' failed at src/core/include/openvino/core/enum_names.hpp:34:\n\"{}\" is not a member of the enum"
    )
    assert len(groups(*({"message": said.format(word)} for word in ("up", "sideways", "both")))) == 1


def test_onnxruntime_says_the_same_of_a_file_and_of_bytes_and_of_any_node() -> None:
    begun = (
        "[ONNXRuntimeError] : 1 : FAIL : Load model from /tmp/x3/model_602.onnx failed:Node (/m/Split) ",
        "[ONNXRuntimeError] : 1 : FAIL : Node () ",
        "[ONNXRuntimeError] : 1 : FAIL : Node (split7) ",
    )
    lines = [
        {"message": f"{start}Op ({op}) [ShapeInferenceError] axis is out of range", "operator": noted}
        for op in ("Split", "Squeeze")
        for start, noted in zip(begun, ("", op, "Conv"), strict=True)
    ]
    assert groups(*lines) == [{0, 1, 2}, {3, 4, 5}]


def test_what_onnxruntime_says_of_a_nodes_inputs_and_name_is_no_bug() -> None:
    said = "[ONNXRuntimeError] : 10 : INVALID_GRAPH : {}This is an invalid model. {}"
    node = 'In Node, ("{}", {}, "", -1) : ("{}": tensor(float),) -> ("o": tensor(float),) , Error {}'
    one = [
        {"message": said.format(load, node.format(name, "Cast", value, "Required attribute 'to' is missing."))}
        for load, name, value in (("", "", "x"), ("Load model from /m/a.onnx failed:", "/net/n7", "h.3.w"))
    ]
    other = [
        {
            "message": said.format("", "Type Error: Type 'tensor(float)' of input parameter")
            + f" ({value}) of operator (Not) in node ({name}) is invalid.",
            "operator": noted,
        }
        for value, name, noted in (("x", "", "Not"), ("h.3.w", "/net/n7", ""))
    ]
    another = {"message": said.format("", node.format("", "Relu", "x", "Required attribute 'to' is missing."))}
    assert groups(*one, *other, another) == [{0, 1}, {2, 3}, {4}]


def test_a_traced_call_is_told_by_what_was_called_and_what_it_answered() -> None:
    said = (
        "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: "
        "call_function <built-in method {name} of type object at 0x7f1>(*(FakeTensor(..., size=({n}, 3)),), **{{}}): "
        "got RuntimeError('{cause}')\n  Hint: Your code may result in an error when running in eager.\n"
    )
    calls = [("conv2d", "expected 3 channels"), ("conv2d", "padding is negative"), ("mm", "expected 3 channels")]
    lines = [{"message": said.format(name=name, n=n, cause=cause)} for name, cause in calls for n in (2, 17)]
    assert groups(*lines) == [{0, 1}, {2, 3}, {4, 5}]


def test_an_operator_in_a_message_is_recognised_by_the_failures_that_were_reported_with_it() -> None:
    at = {"message": "Flatten axis 9 is out of range", "trace": native("tvm::relax::InferTypeFlatten")}
    assert groups({**at, "operator": "Flatten"}, at, {**at, "operator": "Flatten"}) == [{0, 1, 2}]


def test_every_operator_without_a_conversion_is_a_bug_of_its_own() -> None:
    importer = python((FRONTEND, "from_onnx", "g.from_onnx()"), (FRONTEND, "_check_for_unsupported_ops", "raise"))
    lines = [
        {
            "message": f"The following operators are not supported for frontend ONNX: {op}",
            "operator": noted,
            "trace": importer,
        }
        for op in ("Foo", "Bar")
        for noted in ("", op)
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_the_outer_frames_that_are_left_of_a_trace_are_no_place_where_the_message_tells() -> None:
    whole = python((f"{PACKAGES}/x/a.py", "outer", "inner()"), (f"{PACKAGES}/x/b.py", "fold_scale", "raise"))
    cut = python((f"{PACKAGES}/x/a.py", "outer", "inner()"), (f"{PACKAGES}/x/b.py", "fold_", "")).rsplit("\n", 2)[0]
    at = {"message": "scale must be a scalar"}
    other = {"message": "no such buffer", "trace": whole.replace("fold_scale", "bind_buffer")}
    assert groups({**at, "trace": whole}, {**at, "trace": whole}, {**at, "trace": cut}, other, other) == [
        {0, 1, 2},
        {3, 4},
    ]


def test_which_end_of_a_list_is_the_inner_one_is_told_by_what_stands_there() -> None:
    worker, bridge = (
        {"file": "/g/fuzz/backends/tvm.py", "function": "execute"},
        {"file": "/g/tvm_ffi/f.pxi", "function": "c"},
    )
    code = [{"file": f"/p/src/target/{name}.cc", "line": 9, "function": name} for name in ("llvm", "llvm", "cuda")]
    lines = [
        {"message": "not a float", "frames": [worker, {"file": "/p/tvm/q.py", "function": f"f{at}"}, bridge, each]}
        for at, each in enumerate(code)
    ]
    assert groups(*lines) == [{0, 1}, {2}]


# ------------------------------------------------------------------ one bug as every tool prints it


PRINTED = (
    "#0 raise () from /lib/libc.so.6\n#1 0x7f in tvm::relax::FuseOps<int> (this=0x1) at /b/fuse.cc:12\n#2 main ()",
    "    #0 0x55 in void tvm::relax::(anonymous namespace)::FuseOps(int) /h/fuse.cc:12:3\n    #1 0x5 in main /m.cc:1:1",
    "/usr/lib/libtvm.so(_ZN3tvm5relax7FuseOpsENS_8IRModuleE+0x1c) [0x7f001122]\n/bin/x(main+0x1) [0x7f1]",
    "Stack trace:\n  0: tvm::relax::FuseOps(tvm::IRModule, int)\n        at /project/fuse.cc:99\n  1: main\n",
    "frame #0: c10::Error::Error(std::string) + 0x57 (0x7f in /l/libc10.so)\n"
    "frame #1: tvm::relax::FuseOps(int) + 0x1 (0x7f in /l/x.so)",
    "compiler!std::terminate+0x12\ncompiler!tvm::relax::FuseOps+0x1a [C:\\src\\fuse.cc @ 12]",
    "   0: rust_begin_unwind\n             at /rustc/1f/library/std/src/panicking.rs:645:5\n"
    "   1: tvm::relax::FuseOps::{{closure}}::h0123456789abcdef\n             at ./src/fuse.rs:12:5\n",
)


def test_one_bug_is_one_group_in_whatever_form_its_trace_is_printed() -> None:
    assert len(groups(*({"message": "boom", "trace": trace} for trace in PRINTED))) == 1


def test_frames_are_objects_lists_or_texts_and_either_end_may_be_the_inner_one() -> None:
    inner, outer = "ns::Fold", ["ns::Run", "ns::Build"]
    for flip in (1, -1):
        one = [{"message": "a", "frames": [inner, *outer][::flip]}] * 2
        other = [{"message": "a", "frames": ["ns::Tile", *outer][::flip]}] * 2
        objects = [{"file": "x/f.cc", "line": 3, "function": name} for name in [inner, *outer][::flip]]
        lists = [["x/f.cc", 3, name] for name in [inner, *outer][::flip]]
        texts = [f"{name} at /x/f.cc:7" for name in [inner, *outer][::flip]]
        same = [{"message": "a", "frames": frames} for frames in (objects, lists, texts)]
        assert groups(*one, *other, *same) == [{0, 1, 4, 5, 6}, {2, 3}]


def test_a_trace_inside_the_message_counts_as_one() -> None:
    lines = [
        {"message": f"boom\nStack trace:\n  0: ns::{name}(int)\n  1: ns::Run()"} for name in ("Fold", "Tile", "Fold")
    ]
    assert groups(*lines) == [{0, 2}, {1}]


OPENVINO = """Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
While validating ONNX node '<Node({op}): z>': Check 'rank == 2' failed at src/frontends/onnx/frontend/src/op/{file}:27:
rank must be 2
"""


def test_openvinos_chain_of_checks_is_a_place() -> None:
    lines = [
        {"message": OPENVINO.format(op=op, file=file)} for op, file in (("A", "a.cpp"), ("B", "b.cpp"), ("C", "a.cpp"))
    ]
    assert groups(*lines) == [{0, 2}, {1}]


# ------------------------------------------------------------------ what tells nothing


def test_a_harness_through_which_all_comes_is_no_place() -> None:
    harness = '  File "/h/harness/worker.py", line 5, in run_one\n    return fn(case)\n'
    placed = [
        {
            "message": f"no {letter}",
            "trace": f'Traceback (most recent call last):\n{harness}  File "/v/{letter}.py", line 3, in f\n    g()\n',
        }
        for letter in "abcdefg"
    ]
    alone = [
        {"message": text, "trace": f"Traceback (most recent call last):\n{harness}ValueError: {text}"}
        for text in ("rank is not known", "pads are negative") * 2
    ]
    found = groups(*placed, *alone)
    assert {7, 9} in found and {8, 10} in found


def test_what_native_code_says_through_a_binding_is_told_by_its_words() -> None:
    trace = 'Traceback (most recent call last):\n  File "/v/binding.py", line 3, in invoke\n    run()\nCompilerError: '
    texts = ("error: stack allocation of 3 bytes is too large", "error: failed to legalize an operation of this kind")
    assert groups(*({"message": text, "trace": trace + text} for text in texts * 2)) == [{0, 2}, {1, 3}]


def test_a_death_is_a_death_in_whatever_words() -> None:
    said = (
        "process died with signal 11",
        "Segmentation fault (core dumped)",
        "worker 3 crashed (exit code -11)",
        "SIGSEGV",
    )
    assert len(groups(*({"message": text, "trace": native("ns::Fold", "ns::Run")} for text in said))) == 1


def test_wrong_results_are_one_bug_where_one_pass_is_blamed_and_two_where_one_gives_nan() -> None:
    blamed = [
        {"message": "values differ; guilty pass: FoldTranspose", "operator": operator, "symptom": "wrong result"}
        for operator in ("Add", "Softmax")
    ]
    ways = [
        {"message": f"got {got}, expected [1, 2]", "operator": "Resize", "symptom": "wrong result"}
        for got in ("[nan, 2]", "[7, 9]")
    ]
    assert groups(*blamed, *ways) == [{0, 1}, {2}, {3}]


# ------------------------------------------------------------------ what must not matter


@pytest.mark.parametrize("style", synthetic.STYLES, ids=lambda style: style.name)
def test_neither_order_nor_ids_change_a_group_or_its_name(style: synthetic.Style) -> None:
    lines = [line for line, _ in synthetic.failures(7, 400, style, bugs=40)]
    found = group(reports(lines))
    shuffled = random.Random(1).sample(lines, len(lines))
    again = group(reports([{**line, "id": f"x{line['id']}"} for line in shuffled]))
    assert again.groups == found.groups
    assert {name.removeprefix("x"): each for name, each in again.assignment.items()} == found.assignment


def test_hostile_texts_are_grouped_like_any_other() -> None:
    texts = [
        "(" * 200_000,
        "#0 " * 50_000,
        "<" * 100_000,
        "a::" * 100_000,
        'File "' * 40_000,
        "  at " * 50_000,
        "\x1b[31m",
    ]
    texts += [
        "/x" * 100_000,
        "_ZN" + "9" * 50_000,
        "\ud800 ‘naïve’ 漢字",
        "1: " * 50_000,
        "'a' " * 50_000,
        "\r\n" * 90_000,
    ]
    lines = [{"message": text, "trace": text, "frames": [text[:5_000]]} for text in texts]
    assert sum(map(len, groups(*lines))) == len(texts)


def test_a_script_stands_at_the_outer_end_of_a_list_however_it_is_called() -> None:
    def listed_frames(script: str, inner: str) -> list[dict[str, object]]:
        outer = {"file": f"/w/{script}.py", "line": 3, "function": "<module>"}
        return [outer, {"file": "/v/acme/passes.py", "line": 9, "function": inner}]

    lines = [
        {"message": f"no {inner}", "frames": listed_frames(f"{script}{at}", inner)}
        for inner, scripts in (("fold", ("net", "block", "case")), ("tile", ("head", "tail", "stem")))
        for at, script in enumerate(scripts)
    ]
    assert groups(*lines) == [{0, 1, 2}, {3, 4, 5}]


def test_traces_of_a_batch_tell_which_end_of_its_lists_is_the_inner_one() -> None:
    one, other = (("acme::Fold", "acme::A", "acme::B"), ("acme::Tile", "acme::C", "acme::D"))
    lines = [{"message": "no", "trace": native(*stack)} for stack in (one, other)]
    for stacks in ((one, other), (one[::-1], other[::-1])):
        lists = [{"message": "no", "frames": list(stack)} for stack in stacks]
        assert groups(*lines, *lists) == [{0, 2}, {1, 3}]


def test_functions_that_differ_in_a_number_are_two_places() -> None:
    lines = [{"message": "no", "trace": native(f"acme::lower_pad_{at}", "acme::run")} for at in (3, 4, 3, 4)]
    assert groups(*lines) == [{0, 2}, {1, 3}]


def test_a_compiler_may_lie_in_a_temporary_folder() -> None:
    def trace(root: str, function: str) -> str:
        frames = f'  File "{root}/acme/passes/fold.py", line 3, in {function}\n'
        return f"Traceback (most recent call last):\n{frames}ValueError: no\n"

    lines = [{"message": "no", "trace": trace(at, name)} for name in ("fold", "tile") for at in ("/tmp/b", "/home/u")]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_a_message_that_was_clipped_goes_on_as_its_trace_tells() -> None:
    told = "no weights of the layer are in '/home/u/models/encoder/weights.bin', and none were given"
    trace = f'Traceback (most recent call last):\n  File "/w/t.py", line 3, in <module>\n    go()\nValueError: {told}\n'
    assert groups({"message": told}, {"message": told[:57], "trace": trace}) == [{0, 1}]


@pytest.mark.parametrize("length", [150, 160])
def test_a_clipped_message_is_the_one_of_its_operator_that_begins_so(length: int) -> None:
    def told(operator: str, file: str, check: str) -> str:
        return (
            "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running "
            f"{operator} node. Name:'n' Status Message: "
            f"/onnxruntime_src/onnxruntime/core/providers/cpu/{file}.cc:12 {check}"
        )

    pad, tile = told("Pad", "tensor/pad", "pads are too long"), told("Tile", "tensor/tile", "repeats are too few")
    lines = [{"message": text} for text in (pad, pad, pad[:length], tile, tile, tile[:length])]
    assert groups(*lines) == [{0, 1, 2}, {3, 4, 5}]
    other = told("Pad", "nn/pad", "no such mode")
    assert {2} in groups(*lines, {"message": other}, {"message": other})  # either may go on so


def test_two_operators_that_messages_name_are_two_bugs_whatever_the_reporter_noted() -> None:
    def told(operation: str) -> str:
        return f"kernel '{operation}' is registered twice"

    lines = [
        {"message": told("acme.pad"), "operator": "acme.pad"},
        {"message": told("acme.tile"), "operator": "acme.tile"},
        {"message": told("acme.pad"), "operator": "ConstantPad"},
        {"message": told("acme.tile"), "operator": "Repeat"},
    ]
    assert groups(*lines) == [{0, 2}, {1, 3}]


def test_bool_is_an_element_type_as_any_other() -> None:
    lines = [
        {"message": f"indices must be integers, but the given dtype is {name}"} for name in ("bool", "float32", "f16")
    ]
    assert groups(*lines) == [{0, 1, 2}]


def test_an_assertion_is_told_with_and_without_what_its_program_prints_before_it() -> None:
    bare = "Assertion `rank == other' failed."
    lines = [f"acme-opt: /b/{folder}/fold.cpp:12: mlir::Value ns::fold(mlir::Op): {bare}" for folder in ("x", "y/z")]
    assert groups({"message": bare}, *({"message": line} for line in lines)) == [{0, 1, 2}]
    assert len(groups({"message": bare}, {"message": "Assertion `other' failed."})) == 2


def test_one_check_of_tensorrts_parser_is_one_bug_however_a_version_writes_it() -> None:
    check = 'Assertion failed: scales.is_weights() && "Resize scales must be an initializer!"'
    other = 'Assertion failed: mode == "nearest" && "Only nearest!"'
    at = "ERROR: builtin_op_importers.cpp:3526 In function importResize:\n[8]"
    forms = (
        "In node 143 (importResize): UNSUPPORTED_NODE: {}",
        "ERROR:EngineBuilder:In node 7 (importResize): UNSUPPORTED_NODE: {}",
        "Failed to parse onnx, In node 3 (importResize): UNSUPPORTED_NODE: {}",
        f"[01/02/2023-10:11:12] [E] [TRT] ModelImporter.cpp:726: {at} {{}}",
        f'While parsing node number 12 [Resize -> "20"]:\n{at} {{}}',
    )
    walked = [{"message": f"In node {number} (parseGraph): INVALID_GRAPH: {other}"} for number in (1, 2)]
    lines = [{"message": form.format(check)} for form in forms]
    assert groups(*lines, *walked) == [{0, 1, 2, 3, 4}, {5, 6}]


def test_a_diagnosis_of_mlir_is_told_by_its_operation_with_and_without_the_line_of_the_program() -> None:
    def told(operation: str, name: str, number: int) -> str:
        line = f'    %{number} = torch.operator "onnx.{name}"(%a, %{number}) : (!torch.vtensor<[{number}],f16>)'
        return (
            f"m.mlir:3:{number}: error: failed to legalize operation '{operation}' that was explicitly marked illegal\n"
            f'{line}\n          ^\nm.mlir:3:{number}: note: see current operation: %0 = "{operation}"(%1)'
        )

    lines = [told("torch.operator", name, at) for name in ("Pad", "Tile") for at in (3, 44)]
    lines += [told("acme.conv", "Conv", 5), told("acme.conv", "Conv", 6).partition("\n")[0]]
    assert groups(*({"message": line} for line in lines)) == [{0, 1}, {2, 3}, {4, 5}]


def test_a_bare_assertion_in_the_walk_over_a_graph_is_told_by_where_in_it() -> None:
    def trace(function: str) -> str:
        frames = f'  File "/v/torch/_inductor/scheduler.py", line 12, in {function}\n    assert ok\n'
        return f"Traceback (most recent call last):\n{frames}torch._inductor.exc.InductorError: AssertionError: \n"

    lines = [{"message": "AssertionError: ", "trace": trace(name)} for name in ("fuse_nodes", "compute_last_usage") * 2]
    assert groups(*lines) == [{0, 2}, {1, 3}]


def test_what_instructions_of_xla_are_asked_is_told_by_the_pass_that_asks() -> None:
    def trace(visitor: str) -> str:
        names = (
            "xla::cast_internal::CastImpl<>",
            "xla::HloInstruction::literal",
            visitor,
            "xla::HloPassInterface::Run",
        )
        return "*** Check failure stack trace: ***\n" + "\n".join(
            f"    @     0x7f{at}  {name}()" for at, name in enumerate(names)
        )

    lines = [
        {"message": "Check failed: T::ClassOf(instr)", "trace": trace(f"xla::{name}::Run")}
        for name in ("Fold", "Tile") * 2
    ]
    assert groups(*lines) == [{0, 2}, {1, 3}]


@pytest.mark.parametrize(
    "around",
    [
        "[INFO] loading model\n{}",
        "{}\nmake: *** [Makefile:12: test] Error 1",
        "100%|##########| 12/12 [00:01<00:00, 11.5it/s]\n{}",
        "[ ERROR ] {}",
        "ERROR:acme.runner:{}",
        "{}\nSegmentation fault (core dumped)",
        "{}\n[1]    55441 segmentation fault  ./demo",
    ],
)
def test_what_a_log_says_around_a_message_is_no_part_of_it(around: str) -> None:
    told = "Broad cast error, cannot bring two tensors together"
    assert groups({"message": told}, {"message": around.format(told)}) == [{0, 1}]


def test_every_group_says_why_in_one_line() -> None:
    found = group(reports([{"id": "1", "message": "line one\nline two", "operator": "Pad"}, {"id": "2", **WHOLE}]))
    assert set(found.groups) == set(found.assignment.values())
    assert all(why and "\n" not in why for why in found.groups.values())


# ------------------------------------------------------------------ known bugs


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("style", synthetic.STYLES, ids=lambda style: style.name)
def test_synthetic_bugs_are_found_again(style: synthetic.Style, seed: int) -> None:
    lines, labels = zip(*synthetic.failures(seed, 2_000, style), strict=True)
    found = group(reports(lines))
    assert synthetic.adjusted_rand(labels, [found.assignment[line["id"]] for line in lines]) >= 0.97


def test_real_failures_are_grouped_by_their_cause_alone_and_in_any_company() -> None:
    lines = [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]
    labels = {str(line["id"]): line.pop("label") for line in lines}
    found = [Report(**{key: str(value) for key, value in line.items() if key != "compiler"}) for line in lines]
    whole = group(found).assignment
    assert synthetic.adjusted_rand([labels[each.id] for each in found], [whole[each.id] for each in found]) >= 0.95
    half = found[::2]
    alone = group(half).assignment
    assert synthetic.adjusted_rand([whole[each.id] for each in half], [alone[each.id] for each in half]) >= 0.95


def test_failures_of_invented_projects_are_grouped_by_their_bugs_whatever_the_form_of_their_traces() -> None:
    lines = [json.loads(line) for line in FORMS.read_text(encoding="utf-8").splitlines()]
    labels = {line["id"]: line.pop("label") for line in lines}
    found = [Report(**line) for line in lines]
    together = group(found).assignment
    assert synthetic.adjusted_rand([labels[each.id] for each in found], [together[each.id] for each in found]) >= 0.95


@pytest.mark.parametrize(
    ("name", "least"), [("logs_first", 0.84), ("logs_second", 0.78), ("issues", 0.88), ("issues_second", 0.85)]
)
def test_logs_of_many_compilers_are_grouped_by_their_bugs(name: str, least: float) -> None:
    path = REAL.with_name(f"{name}.jsonl")
    found = list(read(path))
    labels = [json.loads(line)["label"] for line in path.read_text(encoding="utf-8").splitlines()]
    assigned = group(found).assignment
    assert synthetic.adjusted_rand(labels, [assigned[each.id] for each in found]) >= least


@pytest.mark.parametrize(("reading", "least"), [("first", 0.84), ("second", 0.94), ("third", 0.82), ("fourth", 0.80)])
def test_failures_of_own_hunts_are_grouped_much_as_four_readings_of_them_say(reading: str, least: float) -> None:
    cells = [json.loads(line) for line in REAL.with_name("hunts.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = ("symptom", "operator", "exception", "message", "frames", "trace")
    lines = [
        {key: cell[key] for key in keys if key in cell} | {"id": f"{at}/{copy}"}
        for at, cell in enumerate(cells)
        for copy in range(cell["count"])
    ]
    found = group(reports(lines))
    got = [found.assignment[line["id"]] for line in lines]
    labels = [cell[reading] for cell in cells for _ in range(cell["count"])]
    known = [(label, name) for label, name in zip(labels, got, strict=True) if label != "?"]
    assert synthetic.adjusted_rand(*map(list, zip(*known, strict=True))) >= least


def opera(frontend: str) -> tuple[list[dict[str, Any]], Grouping]:
    """OPERA's cells, and the grouping of as many failures as each stands for."""
    cells = json.loads((OPERA / f"openvino_{frontend}.json").read_text())
    lines = [
        {key: cell[key] for key in ("symptom", "operator", "message")} | {"id": f"{at}/{copy}"}
        for at, cell in enumerate(cells)
        for copy in range(cell["count"])
    ]
    return cells, group(reports(lines))


@pytest.mark.parametrize(("frontend", "clusters"), [("keras", 21), ("torch", 23)])
@pytest.mark.parametrize("reader", ["first", "second", "third", "fourth"])
def test_operas_failures_are_grouped_much_as_four_readings_of_them_say(
    frontend: str, clusters: int, reader: str
) -> None:
    cells, found = opera(frontend)
    assert len(found.groups) == clusters
    labels = [cell[reader] for cell in cells for _ in range(cell["count"])]
    got = [found.assignment[f"{at}/{copy}"] for at, cell in enumerate(cells) for copy in range(cell["count"])]
    # The two independent readers of the PyTorch data agree with each other to 0.952.
    assert synthetic.adjusted_rand(labels, got) >= 0.94


def test_no_rule_names_an_operator_of_operas_data() -> None:
    operators = {cell["operator"].lower() for frontend in ("keras", "torch") for cell in opera(frontend)[0]}
    rules = "".join(path.read_text().lower() for path in (OPERA.parents[2] / "data" / "signatures").glob("*.toml"))
    assert not operators & set(re.findall(r"\w+", rules))
