"""Where a process died: which frame tells it, and what makes two deaths one bug."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue, native
from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import crash_site, dying, twins
from triage.interesting import same_signature
from triage.records import Bug, NewFailure
from triage.signature import CRASH_SITE, Signature, sign
from triage.store import Store, open_store
from triage.trials import Answer

OPENVINO = Target("openvino", Revision("2026.4.1"))
DIES = Path(__file__).parents[1] / "faulty" / "dies_in_a_library.py"
FAULTHANDLER = 'Fatal Python error: Segmentation fault\n\nStack (most recent call first):\n  File "a.py", line 3 in f\n'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=2000), jobs=1) as shared:
        yield shared


def output(*frames: str) -> str:
    return "\n".join([FAULTHANDLER, native.HEADING, *(f"#{at}  {frame}" for at, frame in enumerate(frames)), ""])


def case_of(text: str, wish: str = "", opset: int = 17, **inputs: np.ndarray) -> Case:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]>\n' + text)
    model.graph.doc_string = f"fault:{wish};" if wish else ""
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def died(stderr: str, signal: str = "SIGSEGV", target: Target = OPENVINO, name: str = "a") -> Failure:
    case = Case("onnx", name.encode(), {"x": np.arange(3)}, Origin("test", name))
    outcome = Outcome(Status.SIGNAL, Stage.COMPILE, error=Error(signal=signal, stderr=stderr))
    return Failure(case, target, outcome, None, "crash", f"crash:{signal}", "died")


def signed(failure: Failure, *operators: str) -> Signature:
    return sign(failure, [("", name, 17) for name in operators], [f"convert_{name}" for name in operators])


def test_the_innermost_function_of_the_compiler_is_the_site() -> None:
    stderr = output("MNN::MaxReduce::onReduce from _mnncengine.so", "MNN::Reduction::onExecute from _mnncengine.so")
    assert crash_site.place(stderr) == "MNN::MaxReduce::onReduce"


@pytest.mark.parametrize(
    "shared",
    [
        "memcpy from libc.so.6",
        "abort from libc.so.6",
        "string_at from _ctypes.cpython-311-x86_64-linux-gnu.so",
        "ffi_call from libffi.so.8.1.2",
        "PyObject_Str from libpython3.12.so.1.0",
        "std::vector<int>::at(unsigned long) from libopenvino.so.2641",
        "ov::Node::Node from libopenvino.so.2641",
        "ov::op::util::BinaryElementwiseArithmetic::BinaryElementwiseArithmetic from libopenvino.so.2641",
        "tbb::detail::r1::execute from libtbb.so.12",
    ],
)
def test_what_everything_comes_by_is_no_site(shared: str) -> None:
    inner = output(shared, "ov::op::v1::Maximum::Maximum from libopenvino.so.2641")
    assert crash_site.place(inner) == "ov::op::v1::Maximum::Maximum"


@pytest.mark.parametrize("allocator", ["free", "malloc", "cfree", "operator new(unsigned long)", "malloc_consolidate"])
def test_a_broken_heap_is_found_anywhere_and_tells_no_site(allocator: str) -> None:
    stderr = output("abort from libc.so.6", f"{allocator} from libc.so.6", "ov::op::v1::Maximum::Maximum from lib.so")
    assert crash_site.site(stderr) is None


def test_generated_code_and_the_way_into_a_compiler_are_no_site() -> None:
    assert crash_site.site(output("?? from unknown", "ov::op::v1::Add::Add from libopenvino.so")) is None
    assert crash_site.site(output("ov::pass::Manager::run_passes from libopenvino.so.2641")) is None
    assert crash_site.site(FAULTHANDLER) is None and crash_site.site("") is None


def test_a_call_through_ctypes_alone_is_no_site() -> None:
    stderr = output("string_at from _ctypes.cpython-311-x86_64-linux-gnu.so", "ffi_call from libffi.so.8.1.2")
    assert crash_site.site(stderr) is None and signed(died(stderr), "Sign").place == "convert_Sign"


def test_what_chooses_a_kernel_or_names_a_value_is_passed_over() -> None:
    named = output("MNN::Express::Variable::setName from t.so", "MNN::Express::OnnxLSTMTransform::onExecute from t.so")
    assert crash_site.place(named) == "MNN::Express::OnnxLSTMTransform::onExecute"
    assert (
        crash_site.site(output("MNN::CPUBackend::onCreate from e.so", "MNN::Pipeline::allocMemory from e.so")) is None
    )


def test_a_reader_sees_no_frames_that_only_hand_a_call_on() -> None:
    stderr = output(
        "MNN::Express::Quantize::onExecute from libMNN.so+0x1",
        "_ZNSt17_Function_handlerIFbSt10shared_ptrIN3MNN4ExprEEEE9_M_invokeERKSt9_Any_data from libMNN.so+0x2",
        "std::_Function_handler<bool (MNN::Expr), MNN::Merge::insert()::{lambda()#1}>::_M_invoke from libMNN.so+0x3",
        "std::function<bool (MNN::Expr)>::operator()(MNN::Expr) const from libMNN.so+0x4",
        "std::vector<int>::at from libMNN.so+0x5",
    )
    assert crash_site.shown(stderr) == [
        "MNN::Express::Quantize::onExecute  (libMNN.so)",
        "std::vector<int>::at  (libMNN.so)",
    ]


def test_a_function_without_a_name_is_compared_within_one_build_only() -> None:
    one = output("?? from libopenvino_intel_cpu_plugin.so+0x2e64ea7", "ov::Core::compile_model from libopenvino.so")
    other = output("?? from libopenvino_intel_cpu_plugin.so+0x652ead")
    assert crash_site.same(one, one, one_build=True) is True
    assert crash_site.same(one, other, one_build=True) is False
    assert crash_site.same(one, one, one_build=False) is None
    assert crash_site.place(one) == "" and signed(died(one), "Div").place == "convert_Div"


def test_two_places_of_one_nameless_function_are_one_site_of_a_build() -> None:
    one = output("?? from libopenvino_onnx_frontend.so.2641+0x1c3319 (in +0x1c30c0)")
    other = output("?? from libopenvino_onnx_frontend.so.2641+0x1c33a2 (in +0x1c30c0)")
    further = output("?? from libopenvino_onnx_frontend.so.2641+0x1c3319 (in +0x1c3300)")
    assert crash_site.same(one, other, one_build=True) is True
    assert crash_site.same(one, other, one_build=False) is None
    assert crash_site.same(other, further, one_build=True) is False


def test_a_stack_taken_before_beginnings_were_known_is_compared_by_its_place() -> None:
    old = output("?? from libopenvino_onnx_frontend.so.2641+0x1c3319")
    new = output("?? from libopenvino_onnx_frontend.so.2641+0x1c3319 (in +0x1c30c0)")
    assert crash_site.same(old, new, one_build=True) is True


CLIP = "?? from libopenvino_onnx_frontend.so.2641+0x1c3319 (in +0x1c30c0)"


def made(operation: str, *outer: str) -> str:
    return output(f"ov::op::v1::{operation}::{operation} from libopenvino.so.2641", *outer)


def test_two_operations_that_one_nameless_converter_makes_of_nonsense_are_one_site() -> None:
    again = "?? from libopenvino_onnx_frontend.so.2641+0x1c33a2 (in +0x1c30c0)"
    assert crash_site.same(made("Maximum", CLIP), made("Minimum", again), one_build=True) is True
    assert crash_site.place(made("Maximum", CLIP)) == "ov::op::v1::Maximum::Maximum"


@pytest.mark.parametrize(
    "other",
    [
        made("Minimum", "?? from libopenvino_onnx_frontend.so.2641+0x1c33a2 (in +0x1c3300)"),  # another function
        made("Minimum", "?? from libopenvino_onnx_frontend.so.2641+0x1c33a2"),  # nobody knows which
        made("Minimum"),
        output("ov::op::v1::Minimum::evaluate from libopenvino.so.2641", CLIP),  # no constructor
    ],
)
def test_operations_made_elsewhere_or_asked_for_something_else_are_two_sites(other: str) -> None:
    assert crash_site.same(made("Maximum", CLIP), other, one_build=True) is False


def test_a_constructor_that_its_own_library_calls_is_told_by_itself_alone() -> None:
    inside = "?? from libopenvino.so.2641+0x1c3319 (in +0x1c30c0)"
    assert crash_site.same(made("Maximum", inside), made("Minimum", inside), one_build=True) is False


def test_one_site_under_two_operators_is_one_bug_and_two_sites_under_one_are_two() -> None:
    site, other = output("MNN::CreateBinaryOp from a.so"), output("MNN::CPUBinaryInt8::onResize from a.so")
    assert signed(died(site), "Min").fingerprint == signed(died(site), "Mean", "Cast").fingerprint
    assert signed(died(site), "Min").fingerprint != signed(died(other), "Min").fingerprint
    assert signed(died(site), "Min").kind == CRASH_SITE


def record(store: Store, failure: Failure, fingerprint: str, *operators: str) -> Bug:
    store.record(0, (), [NewFailure(failure, fingerprint, "", operators, "", "same")])
    return next(found for found in store.bugs() if found.fingerprint == fingerprint)


def test_bugs_that_died_at_one_nameless_place_of_a_build_are_twins_whatever_the_operators_and_signal(
    store: Store,
) -> None:
    stderr = output("?? from libopenvino_intel_cpu_plugin.so+0x2e64ea7")
    first = record(store, died(stderr, name="a"), "a", "GroupNormalization", "Div")
    failure = died(stderr, "SIGBUS", name="b")
    second = record(store, failure, "b", "GroupNormalization", "LessOrEqual")
    found = twins.twin(store, second, signed(failure, "GroupNormalization"), ["GroupNormalization"], stderr)
    assert found is not None and found.id == first.id


def test_bugs_of_one_operator_that_died_at_two_places_are_no_twins(store: Store) -> None:
    record(store, died(output("?? from plugin.so+0x10"), name="a"), "a", "Scan")
    stderr = output("?? from plugin.so+0x999")
    failure = died(stderr, name="b")
    second = record(store, failure, "b", "Scan")
    assert twins.twin(store, second, signed(failure, "Scan"), ["Scan"], stderr) is None


def test_a_reduction_keeps_to_the_place_where_the_process_died(runner: Runner) -> None:
    text = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    judge = Judge(runner, catalogue.target("reference"))
    target = Target(str(DIES), Revision("0"))
    x = np.ones(3, np.float32)
    like = judge.examine(case_of(text, "checksum", x=x), target).failure
    assert like is not None
    interesting = same_signature(judge, like, lambda failure: signed(failure, "Relu"))
    assert interesting(case_of(text, "checksum", x=x + 1)) is Answer.SAME
    assert interesting(case_of(text, "other_checksum", x=x)) is Answer.OTHER


def test_what_dies_elsewhere_each_time_has_no_place_and_is_reduced_without(runner: Runner) -> None:
    text = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    judge = Judge(runner, catalogue.target("reference"))
    like = judge.examine(case_of(text, "dies_anywhere", x=np.ones(3, np.float32)), Target(str(DIES), Revision("0")))
    assert like.failure is not None and crash_site.place(dying.last_output(like.failure))
    assert dying.steadily(judge, like.failure) == ""
    interesting = same_signature(judge, like.failure, lambda failure: signed(failure, "Relu"))
    smaller = case_of(text, "dies_anywhere", x=np.zeros(3, np.float32))
    assert [interesting(smaller) for _ in range(2)] == [Answer.SAME, Answer.SAME]


def dies_in_openvino(runner: Runner, last: str) -> str:
    """What OpenVINO says when it dies over a normalisation that another operator follows."""
    text = f"""g (float[2,1] x, float[2,1] b) => (float[2,1] y) <float[1] one = {{1}}, float[1] too = {{1}}> {{
        n = GroupNormalization <num_groups: int = 1> (x, one, too)
        y = {last}(n, b)
    }}"""
    case = case_of(text, opset=21, x=np.ones((2, 1), np.float32), b=np.ones((2, 1), np.float32))
    outcome = runner.run_fresh(case, catalogue.target("openvino"))
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"
    return outcome.error.stderr


def test_two_real_deaths_at_one_place_of_a_compiler_are_one_bug_whatever_the_operators(runner: Runner) -> None:
    one, other = dies_in_openvino(runner, "Div"), dies_in_openvino(runner, "Sub")
    assert "openvino" in next(crash_site.frames(one)).library
    assert crash_site.same(one, other, one_build=True) is True


EXPR = "std::shared_ptr<tiny::Expr>"
HANDLER = f"std::_Function_handler<bool ({EXPR}), {{}}>::_M_invoke from libtiny.so"


@pytest.mark.parametrize(
    ("held", "place"),
    [
        (f"tiny::Folding::Folding()::{{lambda({EXPR})#1}}", "tiny::Folding::Folding::{lambda#1}"),
        (
            f"tiny::Merge::add(std::string, std::function<bool ({EXPR})>)::{{lambda(int)#2}}",
            "tiny::Merge::add::{lambda#2}",
        ),
        ("bool (*)(int)", ""),
    ],
)
def test_a_lambda_that_a_function_holds_is_the_place_though_it_has_no_frame(held: str, place: str) -> None:
    found = crash_site.site(output(HANDLER.format(held), "tiny::Merge::run from libtiny.so"))
    assert (found.place if found else "") == (place or "tiny::Merge::run")


def test_a_lambda_whose_name_may_be_anothers_is_no_place() -> None:
    mangled = "_ZNSt17_Function_handlerIFbiEZNKS2_L9gRegisterMUlvE_clEvEUlS4_E5_E9_M_invokeERKSt9_Any_data"
    found = crash_site.site(output(f"{mangled} from libtiny.so", "tiny::Merge::run from libtiny.so"))
    assert found is not None and found.place == "tiny::Merge::run"
