"""What a blind trial of the grouping taught, one by one: wrappers, first lines, poorer evidence, generated names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.triage import synthetic
from tests.triage.test_group import PACKAGES, groups, native, python, reports
from triage.group import group

GOLDEN = Path(__file__).parents[1] / "golden" / "grouping"

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


FRONTEND = "src/frontends/onnx/frontend/src/frontend.cpp"
REPORT = "src/frontends/common_translators/src/unconverted_ops_report.cpp"
REFUSED = "OpenVINO does not support the following ONNX operations: ai.onnx.Sorted"
INTERNAL = "Error Code 2: Internal Error ("
CALL = "call_function <built-in method f of type object at 0x7f12>(*(FakeTensor(..., size=(2,)), 1), **{})"
SETUP = "Pad node could not be set up"
RECURSION = "maximum recursion depth exceeded"
NO_MATCH = "error: no matching function for call to"
TRACED = "Cannot trace\n  Explanation: it may be anything.\n  Developer debug context: "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CppCompileError: no lowering", "backend='inductor' raised:\nCppCompileError: no lowering"),
        (REFUSED, f"Check 'false' failed at {FRONTEND}:305:\nErrors during ONNX translation:\n{REFUSED}"),
        (REFUSED, f"Check 'm_errors.empty()' failed at {REPORT}:142:\n{REFUSED}"),
        (SETUP, f"Check 'false' failed at src/plugins/intel_cpu/src/node.cpp:9:\n{SETUP}"),
        (f"{INTERNAL}[w.cpp::validate::40] p: no weights)", f"[w.cpp::validate::44] {INTERNAL}p: no weights)"),
        (
            f"Failed running {CALL}:\nbad size 3",
            f"Dynamo failed to run FX node with fake tensors: {CALL}: got RuntimeError('bad size 4')",
        ),
        (
            "LLVM ERROR: Cannot select: t12: bf16 = fma t3, t5, t7",
            "LLVM ERROR: Cannot select: 0x5581: bf16 = fma 0x55ff, 0x5602, 0x5a",
        ),
        ("Check failed: (a->n == 2) is false: no pairs", "Check failed: a->n == 2 (3 vs. 2) : no pairs"),
        (f"{RECURSION} in comparison", f"{RECURSION} while calling a Python object"),
        (f"{NO_MATCH} 'fold(const float&, double)'", f"{NO_MATCH} 'fold(c10::Half&, float&)'"),
        ("Failed to materialize symbols: { (d_7, { a.2 }) }", "Failed to materialize symbols: { (d_8, { b_c.3, e }) }"),
        (f"{TRACED}A(b)", f"{TRACED}C"),
    ],
)
def test_what_a_wrapper_or_a_version_writes_around_an_error_is_no_bug(one: str, other: str) -> None:
    assert groups({"message": one}, {"message": other}) == [{0, 1}]


def test_the_innermost_node_of_a_chain_of_bodies_is_the_one_that_failed() -> None:
    code = "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : "
    running = "Non-zero status code returned while running {} node. Name:'{}' Status Message: "
    around = ("", *(running.format(name, f"n_{name}") for name in ("Loop", "If", "Scan", "SequenceMap")))
    said = [running.format(inner, "k") + "invalid shape" for inner in ("Expand", "Tile")]
    lines = [{"message": f"{code}{outer}{inner}"} for inner in said for outer in around]
    assert groups(*lines) == [set(range(5)), set(range(5, 10))]


def test_a_check_that_converters_share_is_told_by_the_converter_that_its_chain_names() -> None:
    check = "Check 'merged' failed at src/core/shape_inference/include/eltwise_shape_inference.hpp:125:\nShapes differ."
    lines = [
        {"message": f"{before}[ONNX Frontend] Conversion failed for {name}-17\n{check}", "symptom": "crash"}
        for name in ("LayerNormalization", "BatchNormalization")
        for before in ("", f"Check 'false' failed at {FRONTEND}:12:\n")
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_the_operator_that_an_error_is_said_to_be_in_tells_what_a_generic_check_does_not() -> None:
    frames = [
        (f"{PACKAGES}/torch/_inductor/utils.py", "run", "return model(new_inputs)"),
        (f"{PACKAGES}/torch/_inductor/output_code.py", "__call__", "return self.current_callable(inputs)"),
    ]
    advice = "\nThis error most often comes from a incorrect fake (aka meta) kernel."
    lines = []
    for name in ("fft", "pool"):
        said = f"AssertionError: expected size 3==3, stride 4==5 at dim=1\nError in op: torch.ops.aten.{name}.default"
        lines += [{"message": said}, {"message": "", "trace": python(*frames, final=f"{said}{advice}")}]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_a_message_whose_only_telling_word_is_a_name_of_the_model_is_told_by_the_operator() -> None:
    lines = [{"message": f"Compute Shape Error for {name}", "operator": op} for name in "ab" for op in ("Pad", "Tile")]
    assert groups(*lines) == [{0, 2}, {1, 3}]


# ------------------------------------------------------------------ whose failure it is


SEARCH = ("torch/_inductor/scheduler.py:{} fuse_nodes", "torch/_inductor/scheduler.py:{} will_fusion_create_cycle")


def test_a_search_in_a_file_of_a_walk_is_a_place_whatever_the_operator() -> None:
    hung = {"symptom": "hang", "frames": ["fuzz/worker.py:130 main", *(frame.format(90) for frame in SEARCH)]}
    said = zip(("timeout after 30 s", "timed out (300.0 s)", "no answer"), ("Add", "Mul", "Concat"), strict=True)
    assert len(groups(*({**hung, "message": message, "operator": name} for message, name in said))) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"frames": ["torch/_inductor/graph.py:40 run", "torch/_inductor/scheduler.py:90 fuse_nodes"]},
        {"exception": "torch._inductor.exc.InductorError"},
        {"trace": python((f"{PACKAGES}/torch/_inductor/graph.py", "run", "super().run()"), final="TimeoutError: hung")},
    ],
    ids=["frames", "exception", "trace"],
)
def test_what_says_nothing_joins_no_bug_of_another_compiler(other: dict[str, Any]) -> None:
    hung: dict[str, Any] = {"message": "timeout after 30 s", "symptom": "hang", "operator": "Add"}
    loop = {**hung, "frames": ["main", "onnxruntime::ConstantFolding::ApplyImpl", "onnxruntime::LoopImpl::Execute"]}
    walk = {**hung, "frames": ["main", "onnxruntime::InferenceSession::Run"]}
    assert groups(loop, hung) == [{0, 1}]
    assert groups(loop, {**hung, **other}) == [{0}, {1}]
    assert groups(walk, {**hung, **other}) == [{0}, {1}]


# ------------------------------------------------------------------ places


FORMS_OF_OFFSETS = {
    "glibc": "libk.so(+0x{1}) [0x7f{0}{1}]",
    "numbered": "#{0} /opt/libk.so(+0x{1}) [0x7f{0}{1}]",
    "sanitizer": "    #{0} 0x7f{0}{1}  (/opt/libk.so+0x{1}) (BuildId: ab12)",
    "Android": "#0{0} pc 0000000000{1}  /data/libk.so (BuildId: ab12)",
}


@pytest.mark.parametrize("form", FORMS_OF_OFFSETS)
def test_stripped_frames_are_told_by_their_offsets_in_one_build(form: str) -> None:
    died = {"message": "Segmentation fault", "symptom": "crash"}
    stacks = (("1f3a20", "20aa10", "20b1f4"), ("1f3a20", "20aa10", "20b1f4"), ("8812c4", "20aa10", "20b1f4"))
    traces = ["\n".join(FORMS_OF_OFFSETS[form].format(*frame) for frame in enumerate(stack)) for stack in stacks]
    operators = ("Conv", "Relu", "Conv")
    lines = [{**died, "trace": trace, "operator": name} for trace, name in zip(traces, operators, strict=True)]
    assert groups(*lines) == [{0, 1}, {2}]


def test_the_offsets_of_two_builds_are_not_compared() -> None:
    died = {"message": "Segmentation fault", "symptom": "crash"}
    builds = [
        {**died, "trace": "\n".join(f"libk.so(+0x{at:x}) [0x7f]" for at in build)} for build in ((9, 99), (7, 77))
    ]
    assert groups(*builds) == [{0, 1}]


def test_offsets_tell_nothing_beside_frames_with_names() -> None:
    lines = [
        {"message": "Segmentation fault", "trace": f"libk.so(+0x{at}) [0x7f]\nlibk.so(_ZN2ns4FoldEv+0x1) [0x7f]"}
        for at in (12, 34)
    ]
    assert groups(*lines) == [{0, 1}]


@pytest.mark.parametrize("last", range(4))
def test_of_functions_that_call_each_other_without_end_it_is_chance_which_meets_the_limit(last: int) -> None:
    calls = [(f"{PACKAGES}/halcyon/{name}.py", f"visit_{name}", f"walk_{name}()") for name in ("sum", "term", "power")]
    leaf = [(f"{PACKAGES}/halcyon/leaf.py", "args", "return self._args")] if last == 3 else []
    said = "RecursionError: maximum recursion depth exceeded"
    one = python(*calls * 9, final=f"{said} in comparison")
    other = python(*calls * 8, *calls[: last % 3], *leaf, final=f"{said} while calling a Python object")
    elsewhere = python(*[(f"{PACKAGES}/halcyon/fold.py", "fold", "fold()")] * 9, final=said)
    assert groups({"trace": one}, {"trace": other}, {"trace": elsewhere}) == [{0, 1}, {2}]


def test_a_program_that_died_in_a_cycle_died_in_the_whole_of_it() -> None:
    calls = ("ns::Simplify", "ns::Visit")
    lines = [{"message": "Segmentation fault", "trace": native(*calls[at:], *calls * 20, "ns::Run")} for at in (0, 1)]
    assert groups(*lines) == [{0, 1}]


# ------------------------------------------------------------------ poorer evidence

CHECKER = "tvm::relax::InferStructInfoPad"
HELPER = "tvm::relax::NormalizeAxes"
CONVERTER = 'tvm/relax/frontend/onnx/onnx_frontend.py", line {}, in _impl_v13\n    return relax.op.{}(data)'
SAID = "In Op(relax.{}), the axis is out of range"


def converted(name: str) -> str:
    """A mixed trace: the converter in Python, the shared check in C++."""
    top = "\n".join(f'  File "src/relax/op.cc", line 12, in {each}' for each in (CHECKER, HELPER))
    return f'Traceback (most recent call last):\n  File "{PACKAGES}/{CONVERTER.format(90, name)}\n{top}\nValueError: x'


def cut_off(*functions: str) -> str:
    return "\n".join(f"  {at}: {name}\n        at src/topi/x.cc:12" for at, name in enumerate(functions))


def full(name: str, operator: str) -> dict[str, Any]:
    return {"message": SAID.format(name), "operator": operator, "symptom": "crash", "trace": converted(name)}


POORER: dict[str, dict[str, Any]] = {
    "a trace without its outer end": {"message": SAID.format("pad"), "trace": cut_off(HELPER, CHECKER)},
    "a message alone": {"message": SAID.format("pad")},
    "frames without a message": {
        "frames": [f"{PACKAGES}/tvm/relax/frontend/onnx/onnx_frontend.py:90 _impl_v13", CHECKER, HELPER],
        "trace": "",
    },
}


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize("operator", ["Pad", ""])
def test_what_tells_less_joins_the_only_bug_that_tells_the_same(poorer: str, operator: str) -> None:
    less = {"message": "", "symptom": "crash", "operator": operator or "Pad", **POORER[poorer]}
    less |= {"operator": operator} if less["message"] else {}
    assert groups(full("pad", "Pad"), full("tile", "Tile"), less) == [{0, 2}, {1}]


def test_more_evidence_of_one_bug_puts_nothing_out_of_it() -> None:
    less = [{"symptom": "crash", "operator": "Pad", **each} for each in POORER.values()]
    assert groups(full("pad", "Pad"), full("tile", "Tile"), *less) == [{0, 2, 3, 4}, {1}]


def test_what_tells_less_joins_none_of_two_bugs_that_tell_the_same() -> None:
    other = {**full("pad", "Pad"), "trace": converted("pad").replace("_impl_v13", "_from_pads")}
    less = {"message": SAID.format("pad"), "symptom": "crash", "operator": "Pad", "trace": cut_off(HELPER, CHECKER)}
    assert groups(full("pad", "Pad"), other, less) == [{0}, {1}, {2}]


def test_at_a_shared_place_the_caller_tells_what_brings_no_operator_and_no_message() -> None:
    said = {"message": "Check failed: mismatched types", "symptom": "crash"}
    ways = {"Slice": "tvm::topi::strided_slice", "Gather": "tvm::topi::gather"}
    known = [
        {**said, "operator": name, "trace": f"{cut_off('tvm::tir::Add::Add', way)}\n# {at}"}
        for name, way in ways.items()
        for at in (1, 2)
    ]
    nameless = {**said, "trace": cut_off("tvm::tir::Add::Add", ways["Gather"])}
    silent = {
        "symptom": "crash",
        "operator": "Slice",
        "frames": ["tvm/topi/x.py:7 slice", ways["Slice"], "tvm::tir::Add::Add"],
    }
    assert groups(*known, nameless, silent) == [{0, 1, 5}, {2, 3, 4}]


def test_what_a_language_says_is_no_beginning_of_a_longer_message() -> None:
    said = "IndexError: list index out of range"
    lines = [
        {"message": f"{said} while folding the scale", "trace": native("ns::Fold")},
        {"message": said, "trace": native("ns::Slice")},
        {"message": said, "trace": native("ns::Expand")},
        {"message": f"{said} while folding the scale"},
    ]
    assert groups(*lines) == [{0, 3}, {1}, {2}]


def test_an_operator_that_a_message_names_tells_more_than_the_wrapper_that_raised_it() -> None:
    said = "AssertionError:\n  target: aten.{}.default\n  args[0]: TensorBox({})"
    lines = [
        {"message": said.format("pad", 1), "exception": "InductorError", "trace": native("ns::Pad")},
        {"message": said.format("roll", 1), "exception": "BackendCompilerFailed", "trace": native("ns::Roll")},
        {"message": said.format("pad", 2), "exception": "BackendCompilerFailed"},
    ]
    assert groups(*({**line, "symptom": "crash"} for line in lines)) == [{0, 2}, {1}]


def test_another_class_that_raised_a_message_again_hides_nothing_of_it() -> None:
    check = f"Check 'false' failed at {FRONTEND}:375:"
    lines = [
        {"message": f"RuntimeError: {check}", "trace": python(OPENVINO, final=f"openvino.Failure: {check}\n{said}")}
        for said in ("no such axis", "no such input")
    ]
    assert groups(*lines) == [{0}, {1}]


def test_a_death_joins_no_bug_that_says_something_elsewhere() -> None:
    silent = {"operator": "Expand", "symptom": "crash", "frames": ["compiler/expand.py:9 expand"]}
    told = {**silent, "message": "no attribute of this name", "trace": python(("compiler/expand.py", "expand", "x.y"))}
    assert groups(told, silent, {**silent, "message": "Segmentation fault", "frames": []}) == [{0, 1}, {2}]


def test_a_kernel_is_one_for_whatever_instructions_it_was_compiled() -> None:
    died = {"message": "Segmentation fault", "symptom": "crash"}
    names = ("MlasGemmKernelZeroAvx512F", "MlasGemmKernelZeroAvx2", "MlasGemmKernelZeroFma3")
    assert groups(*({**died, "trace": native(name, "MlasGemm")} for name in names)) == [{0, 1, 2}]


def test_a_traceback_that_native_code_prints_within_pythons_goes_on_from_it() -> None:
    outer = python((f"{PACKAGES}/tvm/relax/frontend/onnx/onnx_frontend.py", "_impl_v1", "emit(x)"), final="")
    inner = f"Traceback (most recent call last):\n{cut_off(HELPER, CHECKER)}\nTypeError: no such axis"
    whole, alone = {"trace": f"{outer}\n{inner}"}, {"trace": inner}
    assert groups({**whole, "operator": "Pad"}, {**alone, "operator": "Pad"}) == [{0, 1}]
    other = {"trace": whole["trace"].replace("_impl_v1", "_convert_pad").replace("emit(x)", "pad(x)")}
    assert groups(whole, other) == [{0}, {1}]


# ------------------------------------------------------------------ failures that are met again and again


def again(*lines: dict[str, Any], times: int = 4) -> list[set[int]]:
    """The groups of lines each of which is met so often, at other addresses."""
    met = [
        {**line, "trace": f"{line['trace']}\n#0 0x7{at}f00 in __restore_rt ()"} for line in lines for at in range(times)
    ]
    found = [{at // times for at in members} for members in groups(*met)]
    assert sum(map(len, found)) == len(lines), "what is met again is the same bug"
    return found


def test_exceptions_that_only_pass_on_another_tell_nothing() -> None:
    at = {"message": "no such buffer", "operator": "Conv", "trace": native("ns::Fold", "ns::Run")}
    other = {**at, "operator": "Pad"}
    lines = [{**at, "exception": "BackendCompilerFailed"}, {**other, "exception": "torch._inductor.exc.InductorError"}]
    assert again(*lines) == [{0, 1}]
    assert again({**at, "exception": "ValueError"}, {**other, "exception": "KeyError"}) == [{0}, {1}]


def test_a_key_that_is_missing_is_a_value_with_and_without_quotes() -> None:
    lines = [
        {"message": f"KeyError: {key}", "operator": name, "trace": native("ns::Retrieve", "ns::Run")}
        for key, name in (("b_bn1_running_mean", "Add"), ("'weights'", "Conv"), ("b_running_var", "Pad"))
    ]
    assert again(*lines) == [{0, 1, 2}]
    codes = ("KERNEL_STATUS_BAD_PARAM", "KERNEL_STATUS_NOT_SUPPORTED")
    lines = [
        {"message": code, "operator": name, "trace": native("ns::Call", "ns::Run")}
        for code, name in zip(codes, ("Add", "Pad"), strict=True)
    ]
    assert again(*lines) == [{0}, {1}]


def test_an_endless_recursion_is_one_bug_whatever_the_operator() -> None:
    calls = [(f"{PACKAGES}/sympy/printing/{name}.py", name, "self.print(x)") for name in ("term", "power")]
    trace = python(*calls * 8, final="RecursionError: maximum recursion depth exceeded")
    assert again(*({"trace": trace, "operator": name} for name in ("Softmax", "Slice", "ReduceMean"))) == [{0, 1, 2}]


def test_a_debuggers_list_has_the_inner_end_first_whatever_the_others_of_its_batch() -> None:
    inner = ["ns::Fold", "ns::Run", "onnxruntime::ExecuteKernel"]
    outer_first = [
        {"frames": ["main", "onnxruntime::ExecuteKernel", "ns::Run", name]} for name in ("ns::Fold", "ns::Pad")
    ]
    assert groups(*outer_first, {"frames": inner}) == [{0, 2}, {1}]


def test_a_place_that_is_printed_once_more_without_its_function_is_no_frame() -> None:
    file = f"{PACKAGES}/tvm/relax/frontend/onnx/onnx_frontend.py"
    check = f'  0: {CHECKER}(x)\n        at src/relax/op/op.h:12\n  File "src/relax/op/op.h", line 12'
    outer = python((file, "_impl_v1", "emit(pad(x))"), final="")
    whole = {
        "trace": f"{outer}\nTraceback (most recent call last):\n{check}\nTypeError: no such axis",
        "operator": "Pad",
    }
    assert groups(whole, {"frames": [f"{file}:12 _impl_v1", CHECKER], "operator": "Pad"}) == [{0, 1}]


def test_frames_of_a_walk_alone_join_the_refusal_of_their_operator() -> None:
    walk = "tvm/relax/frontend/torch/exported_program_translator.py"
    frames = [f"{PACKAGES}/{walk}:1460 from_exported_program", f"{PACKAGES}/{walk}:122 _check_unsupported_func_type"]
    calls = [
        (f"{PACKAGES}/{walk}", name, f"self.{name}()")
        for name in ("from_exported_program", "_check_unsupported_func_type")
    ]
    lines = [
        {
            "message": f"Unsupported function types ['{name}']",
            "operator": name,
            "trace": python(*calls, final="AssertionError"),
        }
        for name in ("histc.default", "cdist.default")
    ]
    assert groups(*lines, {"operator": "aten.histc.default", "frames": frames}) == [{0, 2}, {1}]


def test_exceptions_without_a_word_are_told_by_their_class() -> None:
    silent = {"message": "", "symptom": "crash"}
    classes = ("AssertionError", "DiagnosticError", "AssertionError")
    assert groups(*({**silent, "exception": name} for name in classes)) == [{0, 2}, {1}]


# ------------------------------------------------------------------ the set itself


@pytest.mark.parametrize("times", [1, 3])
def test_the_failures_of_the_trial_are_grouped_by_their_bugs_however_often_they_are_sent(times: int) -> None:
    rows = [json.loads(line) for line in (GOLDEN / "blind.jsonl").read_text(encoding="utf-8").splitlines()]
    labels = [row.pop("label") for row in rows]
    sent = [{"message": "", **row, "id": f"{at}/{copy}"} for at, row in enumerate(rows) for copy in range(times)]
    assigned = group(reports([{key: value or "" for key, value in row.items()} for row in sent])).assignment
    got = [assigned[f"{at}/0"] for at in range(len(rows))]
    assert synthetic.adjusted_rand(labels, got) >= 0.97
    joined = {name: {label for label, each in zip(labels, got, strict=True) if each == name} for name in set(got)}
    assert max(map(len, joined.values())) == 1
