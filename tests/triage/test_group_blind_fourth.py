"""What a fourth blind trial of the grouping taught: wrappers, logs, statuses, who calls whom, noted operators."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fuzz.case import Frame
from tests.triage import synthetic
from tests.triage.test_group import PACKAGES, groups, native, python, reports
from tests.triage.test_group_blind import GOLDEN
from triage.frame_order import Order
from triage.group import group
from triage.reading import Report, read
from triage.testcase import named
from triage.trace_listed import listed
from triage.unescaped import unescaped

MODEL = "/onnxruntime_src/onnxruntime/core/graph/model.cc"

# ------------------------------------------------------------------ what runners write


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"Check 'a' failed at x.hpp:95:\nWhile validating 'y'", "Check 'a' failed at x.hpp:95:\nWhile validating 'y'"),
        ("RuntimeError('it\\'s no\\nshape')", "RuntimeError: it's no\nshape"),
        ('onnx.Fail("C:\\\\\\\\new\\\\\\\\node.cc:7 is bad")', "onnx.Fail: C:\\\\new\\\\node.cc:7 is bad"),
        (r"D:\a\onnxruntime\core\node.cc failed", r"D:\a\onnxruntime\core\node.cc failed"),
        ("R.add(x, y)", "R.add(x, y)"),
    ],
)  # fmt: skip
def test_a_message_that_python_shows_within_something_is_read_as_it_was(written: str, meant: str) -> None:
    assert unescaped(written) == meant


def test_what_is_left_of_a_log_behind_a_message_is_no_part_of_it() -> None:
    said = f"{MODEL}:163 onnxruntime::Model::Model Unsupported model IR version: 13"
    stamped = [f"2026-08-03 07:35:2{at}.69 ERROR worker[26{at}]" for at in range(4)]
    logged = f"{stamped[0]} Traceback\n{stamped[1]}   a\n{stamped[2]} ValueError: {said}\n{stamped[3]} "
    tested = f"E       ValueError: {said}\nE       \n======== 1 failed, 31 passed in 570.22s ========"
    lines = [{"message": said, "trace": trace} for trace in ("", logged, tested)]
    assert groups(*lines) == [{0, 1, 2}]


CHATTER = [
    "2026-06-24 09:04:15.333507: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is fast.",
    "E0000 00:00:1767183.133   918518 cuda_dnn.cc:8310] Unable to register cuDNN factory: one has been registered",
    "I0000 00:00:1767679.230   3613813 cuda_executor.cc:1015] successful NUMA node read",
    "OMP: Info #276: omp_set_nested routine deprecated",
    "DeprecationWarning: builtin type SwigPyPacked has no __module__ attribute",
    "[W:onnxruntime:, graph.cc:473 MergeShapeInfo] Error merging shape info for output.",
    "+ python -X faulthandler case_204.py --seed 74",
]


@pytest.mark.parametrize("line", CHATTER)
def test_what_libraries_log_of_themselves_is_neither_message_nor_place(line: str) -> None:
    said = "RuntimeError: no such layout: Blocked"
    call = (f"{PACKAGES}/tvm/relax/build.py", "build", "return lower(mod)")
    lines = [{"message": f"{line}\n{said}"}, {"message": said}, {"message": "", "trace": f"{line}\n{said}"}]
    assert groups(*lines) == [{0, 1, 2}]
    traced = python(call, final=said)
    assert groups({"message": "", "trace": f"{line}\n{traced}"}, {"message": "", "trace": traced}) == [{0, 1}]


def test_a_warning_that_is_raised_is_an_exception() -> None:
    call = (f"{PACKAGES}/tvm/relax/build.py", "build", "warn(text)")
    warned, other = (python(call, final=f"UserWarning: {text}") for text in ("no schedule", "a slow one"))
    both = group(reports([{"message": "", "trace": warned, "id": 1}, {"message": "", "trace": other, "id": 2}]))
    assert all("no schedule" in why or "a slow one" in why for why in both.groups.values())


def test_a_status_says_nothing_where_the_trace_tells_the_reason() -> None:
    said = ("the shape is not static", "no kernel for this node")
    calls = (f"{PACKAGES}/tvm/relax/build.py", "build", "raise error")
    lines: list[dict[str, Any]] = [
        {"message": "subprocess exited with code 1", "trace": python(calls, final=f"ValueError: {text}")}
        for text in said * 2
    ]
    bare = [{"message": f"ValueError: {text}"} for text in said]
    found = groups(*lines, *bare)
    assert any({0, 2, 4} <= together for together in found) and any({1, 3, 5} <= together for together in found)


# ------------------------------------------------------------------ frames

INNER, OUTER = "ns::Binding::check", "ns::Binding::update"


def test_numbers_tell_which_end_of_a_list_is_the_inner_one() -> None:
    rising = [f"#{at} 0x7f12ab in {name}" for at, name in enumerate((INNER, OUTER, "ns::run"))]
    order = Order([])
    for written in (rising, rising[::-1]):
        frames = listed(written)
        assert order.inner_last(frames) and frames[-1].function == INNER


def test_lists_without_numbers_follow_those_that_tell_who_calls_whom() -> None:
    numbered = [f"#{at} 0x7f12ab in {name}" for at, name in enumerate((INNER, OUTER, "ns::run"))]
    lines: list[dict[str, Any]] = [
        {"message": "not equal", "frames": numbered},
        {"message": "not equal", "frames": [INNER, OUTER, "ns::run"]},
        {"message": "not equal", "frames": ["ns::run", OUTER, INNER]},
        {"message": "not equal", "frames": [OUTER, INNER]},
    ]
    assert groups(*lines) == [{0, 1, 2, 3}]


def test_a_list_of_one_frame_and_an_empty_one_go_by_what_is_usual() -> None:
    order = Order([listed([INNER]), ()])
    assert order.inner_last(()) == order.inner_last((Frame("", 0, INNER),))


def test_a_place_without_a_function_is_nobodys_caller() -> None:
    listed_below = "  1: tvm::codegen::Build\n  0: tvm::tir::Verify()\n"
    lines = [
        {"message": "", "trace": f"Traceback (most recent call last):\n{listed_below}{more}ValueError: not bound"}
        for more in ("", '  File "/opt/tvm/src/tir/verify.cc", line 211\n')
    ]
    assert groups(*lines) == [{0, 1}]


# ------------------------------------------------------------------ operators


def at_a_helper(*operators: str, said: str = "the axis is out of range") -> list[dict[str, Any]]:
    return [
        {"message": said, "trace": native("tvm::relax::NormalizeAxis", "TVMFuncCall", line=at), "operator": operator}
        for at, operator in enumerate(operators)
    ]


def test_what_many_operators_meet_alike_is_about_none_of_them() -> None:
    many = [operator for operator in ("Add", "Conv", "Softmax", "Gather") for _ in range(3)]
    assert len(groups(*at_a_helper(*many))) == 1


def test_what_a_few_operators_meet_alike_at_a_helper_is_a_bug_of_each() -> None:
    few = [operator for operator in ("Add", "Conv", "Softmax") for _ in range(3)]
    assert len(groups(*at_a_helper(*few))) == 3


def test_what_names_the_operator_is_about_it_however_many_there_are() -> None:
    lines = [
        line
        for operator in ("Gather", "Conv", "Softmax", "Expand", "Concat")
        for line in at_a_helper(operator, operator, said=f"{operator} is out of range")
    ]
    assert len(groups(*lines)) == 5


def test_the_node_that_ran_out_of_memory_is_noise() -> None:
    lines = [
        {
            "symptom": "oom",
            "message": f"[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running {operator} node. "
            f"Name:'n{at}' Status Message: /onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:{at} "
            f"onnxruntime::BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 9{at}",
        }
        for at, operator in enumerate(("Max", "Tile", "Pad", "Conv", "Expand"))
    ]
    assert groups(*lines) == [{0, 1, 2, 3, 4}]


@pytest.mark.parametrize(
    "refusal",
    [
        "NotImplementedError: The following operators are not implemented: ['aten::{}']",
        "error: failed to legalize operation 'torch.aten.{}' that was explicitly marked illegal",
        "error: 'tf.{}' op is neither a custom op nor a flex op",
        "No conversion rule found for operations: aten::{}",
    ],
)
def test_each_operator_that_is_refused_is_a_bug(refusal: str) -> None:
    call = (f"{PACKAGES}/tvm/relay/pytorch.py", "report", "raise NotImplementedError(text)")
    lines = [
        {"message": refusal.format(name), "trace": python(call, final=refusal.format(name))}
        for name in ("Bincount", "Histc") * 2
    ]
    assert groups(*lines) == [{0, 2}, {1, 3}]


def test_a_wrong_result_is_told_by_the_id_of_its_test() -> None:
    lines = [
        {
            "message": f"FAILED tests/test_ops.py::test_{compiler}[{operator}-float16-shape{at}] - AssertionError: "
            f"Not equal to tolerance rtol=1e-0{at}, atol=1e-05",
            "trace": python(("/builds/qa/compare.py", "compare", "assert_allclose(x, y)"), final="AssertionError: "),
        }
        for at, (compiler, operator) in enumerate(
            [("onnxruntime", "Pow"), ("onnxruntime", "LayerNormalization"), ("tvm", "Pow"), ("onnxruntime", "Pow")]
        )
    ]
    assert groups(*lines) == [{0, 3}, {1}, {2}]


@pytest.mark.parametrize(
    ("text", "subject", "operator"),
    [
        ("FAILED a.py::test_inductor[avg_pool2d-float32-shape3]", "inductor", "avg_pool2d"),
        ("test_ort[float16-3x4-Gemm]", "ort", "Gemm"),
        ("test_case[0-f32-cpu]", "case", ""),
        ("the latest[Conv]", "", ""),
        ("", "", ""),
    ],
)
def test_parameters_that_are_no_settings_are_operators(text: str, subject: str, operator: str) -> None:
    assert named(text) == (subject, operator)


# ------------------------------------------------------------------ wordings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            f"{MODEL}:163 onnxruntime::Model::Model(onnx::ModelProto&&, const Options&) Unsupported version: 13",
            "D:\\a\\onnxruntime\\core\\graph\\model.cc:70 onnxruntime::Model::Model Unsupported version: 9",
        ),
        ("Check failed: (n.defined()) is false: no node", "Check failed: n.defined(): no node"),
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.0 GiB.",
            "CUDA out of memory. Tried to allocate 1.5 GiB (GPU 0; 15.5 GiB total capacity; 1 GiB free)",
        ),
    ],
)
def test_two_versions_tell_one_thing_in_their_own_words(one: str, other: str) -> None:
    assert groups({"message": one}, {"message": other}) == [{0, 1}]


# ------------------------------------------------------------------ what a fifth taught


def test_a_title_gives_way_to_what_the_log_of_its_issue_says() -> None:
    def issue(title: str, said: str) -> dict[str, Any]:
        traced = python((f"{PACKAGES}/tvm/{said[:2]}.py", "build", "raise error"), final=f"ValueError: {said}")
        return {"message": title, "trace": f"### Describe the bug\n\n```\n{traced}\n```\n"}

    title = "[Bug] whisper does not build on cuda"
    said = ("no kernel for this node", "the shape is not static")
    bare = {"message": f"ValueError: {said[0]}"}
    assert groups(issue(title, said[0]), issue(f"ValueError: {said[0]}", said[0]), bare, issue(title, said[1])) == [
        {0, 1, 2},
        {3},
    ]


@pytest.mark.parametrize(
    "lacking",
    [
        "[Errno 28] No space left on device: '/tmp/{}.onnx'",
        "libcublasLt.so.12: cannot open shared object file: No such file {}",
        "python: /lib/libc.so.6: version `GLIBC_2.34' not found (required by {})",
    ],
)
def test_what_the_machine_lacks_is_one_failure_wherever_it_is_asked_for(lacking: str) -> None:
    lines = [
        {
            "message": "",
            "operator": operator,
            "trace": python(
                (f"{PACKAGES}/tvm/{operator}.py", operator, "x()"), final="OSError: " + lacking.format(operator)
            ),
        }
        for operator in ("Gather", "Conv")
    ]
    assert groups(*lines) == [{0, 1}]


def test_a_hang_says_nothing_of_the_symptoms_of_others() -> None:
    call = (f"{PACKAGES}/tvm/relax/build.py", "build", "lower(mod)")
    hang = {"message": "case exceeded 120 s", "trace": python(call, final="")}
    others = [
        {"message": "", "trace": python(call, final=f"ValueError: {said}")} for said in ("no such layout", "not static")
    ]
    assert groups(hang, *others, *others) != [{0, 1, 2, 3, 4}] and {0} in groups(hang, *others)


def test_a_tag_names_compiler_and_operator_of_a_wrong_result() -> None:
    lines = [
        {"message": f"[{tag}] \nNot equal to tolerance rtol=0.001\nMismatched elements: {at} / 9\nMax {more}: 0.{at}"}
        for at, (tag, more) in enumerate(
            [
                ("tvm_relax/Resize", "absolute difference"),
                ("tvm_relax/Resize", "relative difference among violations"),
                ("onnxruntime/Resize", "absolute difference"),
                ("tvm_relax/CumSum", "absolute difference"),
            ]
        )
    ]
    assert groups(*lines) == [{0, 1}, {2}, {3}]


# ------------------------------------------------------------------ what a sixth taught


def test_what_raises_is_no_crash_where_others_of_the_batch_tell_the_two_apart() -> None:
    said = "MLIR translation rule for primitive 'schur' not found"
    lines = [
        {"message": f"NotImplementedError: {said}", "symptom": "error", "operator": "schur"},
        {"message": f"NotImplementedError_/jax/_src/mlir.py_1824_{said}", "symptom": "crash", "operator": "schur"},
        {"message": "free(): invalid size", "exception": "WorkerError", "symptom": "crash", "operator": "schur"},
        {"message": "free(): invalid size", "exception": "WorkerError", "symptom": "native_crash", "operator": "schur"},
    ]
    assert groups(*lines) == [{0, 1}, {2, 3}]


def test_where_nobody_notes_exceptions_a_crash_may_be_one() -> None:
    lines = [
        {"message": "ValueError: no such layout", "symptom": "crash"},
        {"message": "no such layout", "symptom": "crash"},
    ]
    assert groups(*lines) == [{0, 1}]


@pytest.mark.parametrize(
    ("shaped", "valued"),
    [
        (
            "[tvm vs reference] output 0: (shapes (24, 64, 2), (12, 4) mismatch)",
            "[tvm vs reference] output 0: Not equal to tolerance rtol=0.001\nMismatched elements: 116 / 120",
        ),
        (
            "tvm (llvm) vs reference: output shape differs: [4, 128] vs [4, 32]",
            "tvm (llvm) vs reference: values differ, max_abs=0.13 max_rel=191.5 atol=1e-3",
        ),
    ],
)
def test_another_shape_and_other_values_are_two_bugs_of_an_operator(shaped: str, valued: str) -> None:
    lines = [{"message": text, "symptom": "mismatch", "operator": "Resize"} for text in (shaped, valued, shaped + " ")]
    assert groups(*lines) == [{0, 2}, {1}]


def test_whose_result_is_wrong_stands_before_a_colon() -> None:
    lines = [
        {"message": f"{whose}: wrong values, max abs err 1.4 at index {at}", "symptom": "wrong", "operator": "CumSum"}
        for at, whose in enumerate(
            ("onnxruntime CPUExecutionProvider", "openvino CPU", "onnxruntime CPUExecutionProvider")
        )
    ]
    assert groups(*lines) == [{0, 2}, {1}]


def test_what_the_language_says_of_a_fault_in_the_compilers_own_machinery_is_told_by_where_that_was() -> None:
    """In OpenVINO's data dispatcher, which every call goes through: no operator's."""
    final = "IndexError: index 0 is out of bounds for axis 0 with size 0"
    call = (
        f"{PACKAGES}/openvino/utils/data_helpers/data_dispatcher.py",
        "set_scalar_tensor",
        "tensor.data[0] = inputs[0]",
    )
    lines = [{"message": "", "operator": name, "trace": python(call, final=final)} for name in ("ReLU6", "Dropout3d")]
    assert groups(*lines) == [{0, 1}]


# ------------------------------------------------------------------ the sets themselves


def _given(row: dict[str, Any]) -> dict[str, Any]:
    """What a line of a file says: null is not said."""
    return {key: value for key, value in row.items() if value is not None}


@pytest.mark.parametrize(
    ("name", "part", "least"),
    [
        ("blind_fourth", "seed1", 0.96),
        ("blind_fourth", "seed2", 0.92),
        ("blind_fourth", "seed3", 0.93),
        ("blind_fifth", "seed1", 0.97),
        ("blind_fifth", "seed2", 0.96),
        ("blind_fifth", "seed3", 0.79),
        ("blind_sixth", "seed1", 0.94),
        ("blind_sixth", "seed2", 0.87),
        ("blind_seventh", "seed1", 0.94),
        ("blind_seventh", "seed2", 0.95),
        ("blind_eighth", "seed1", 0.75),
        ("blind_eighth", "seed2", 0.84),
        ("blind_eighth", "seed3", 0.75),
        ("blind_ninth", "seed1", 0.72),
        ("blind_ninth", "seed2", 0.81),
        ("blind_ninth", "seed3", 0.60),
        ("blind_tenth", "seed1", 0.66),
        ("blind_tenth", "seed2", 0.73),
        ("blind_tenth", "seed3", 0.59),
        ("blind_eleventh", "seed1", 0.73),
        ("blind_eleventh", "seed2", 0.71),
        ("blind_eleventh", "seed3", 0.56),
        ("blind_twelfth", "seed1", 0.80),
        ("blind_twelfth", "seed2", 0.71),
        ("blind_twelfth", "seed3", 0.60),
    ],
)
def test_the_failures_of_the_last_trials_are_grouped_by_their_bugs(name: str, part: str, least: float) -> None:
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.pop("part") == part]
    labels = [row.pop("label") for row in rows]
    rows = [{"message": "", **_given(row), "id": str(at)} for at, row in enumerate(rows)]
    assigned = group(reports(rows)).assignment
    assert synthetic.adjusted_rand(labels, [assigned[row["id"]] for row in rows]) >= least


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("no bound of a variable, as in case c27113-pad", False),
        ("c27113-pad: Pad has no bound", True),
        ("no kernel for TRT-10023-Pad", True),
        ("E0113-Pad: this mode is not supported", True),
    ],
)
def test_an_operator_in_the_name_of_a_case_is_not_what_a_message_is_about(message: str, names: bool) -> None:
    assert read(Report("1", message, operator="Pad"), Order([])).names_operator is names
