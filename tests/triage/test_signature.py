"""What two failures have in common when they are one bug, with the words of the real compilers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.case import Case, Error, Failure, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.runner import Operator
from triage.signature import LONGEST_MESSAGE, Signature, normalise, sign

OPENVINO_MOD = """Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- Mod-28 with a message:
While validating ONNX node '<Node(Mod): z>': Check 'dividend.get_element_type().is_integral() && \
divisor.get_element_type().is_integral()' failed at src/frontends/onnx/frontend/src/op/mod.cpp:27:
FrontEnd API failed with GeneralFailure:
If the input type is floating point, then `fmod` attribute must be set to 1.

Summary:
-- Conversion is failed for: Mod-28
"""
OPENVINO_CELU = """Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- Celu-28 with a message:
While validating ONNX node '<Node(Celu): Y>': Check 'element::Type::merge(result_et, node->get_input_element_type(0), \
node->get_input_element_type(1))' failed at src/core/src/op/util/elementwise_args.cpp:18:
While validating node 'opset1::Maximum Maximum_788593 (opset1::Parameter X[0]:f16[5], opset1::Constant \
Constant_788592[0]:f32[]) -> (dynamic[...])' with friendly_name 'Maximum_788593':
Arguments do not have the same element type (arg0 element type: f16, arg1 element type: f32).
"""
TVM_POW = (
    "Binary operators must have the same datatype for both operands.  However, R.power(x, y) uses datatype T.int32 "
    'on the LHS (Type of R.Tensor((3,), dtype="int32")), and datatype T.float32 on the RHS (Type of '
    'R.Tensor((3,), dtype="float32")).'
)
TVM_EMIT = (
    "CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or route the operator to "
    'an external codegen before VM codegen.\nOffending call:\nR.broadcast_to(metadata["ir.GenericConst"][0], lv)'
)
ORT_SHAPES = (
    "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running Add node. Name:'add_7' "
    "Status Message: /onnxruntime_src/onnxruntime/core/providers/cpu/math/element_wise_ops.h:540 "
    "void onnxruntime::BroadcastIterator::Init(ptrdiff_t, ptrdiff_t) axis == 1 || axis == largest was false. "
    "Attempting to broadcast an axis by a dimension other than 1. 2 by 3\n"
)

#: (what differs, one message, the other)
SAME: list[tuple[str, str, str]] = [
    ("an address", "no kernel at 0x7f00a1b2c3d4", "no kernel at 0xdeadbeef"),
    ("numbers", "axis 3 out of range 2", "axis -1 out of range 17"),
    ("floats", "scale 0.5 is bad", "scale 1e-07 is bad"),
    ("a shape", "cannot broadcast (2, 3) to [4,?]", "cannot broadcast (1,) to [8,9]"),
    ("a folder", "/home/me/src/onnx/op/pad.cpp:12: no", "/build/1/src/onnx/op/pad.cpp:99: no"),
    ("colours", "\x1b[31mno\x1b[0m", "no"),
    ("a line break", "no such\n  thing", "no such thing"),
    ("SSA names", "cannot emit R.add(lv12, gv)", "cannot emit R.add(lv3, gv)"),
    ("dtypes", TVM_POW, TVM_POW.replace("int32", "int64").replace("(3,)", "(2, 4)")),
    (
        "a generated node",
        OPENVINO_CELU,
        OPENVINO_CELU.replace("788593", "17").replace("788592", "16").replace("[5]", "[7]"),
    ),
    ("an opset", OPENVINO_MOD, OPENVINO_MOD.replace("Mod-28", "Mod-13")),
    ("a node's name", ORT_SHAPES, ORT_SHAPES.replace("add_7", "block/Add").replace("2 by 3", "5 by 64")),
]
#: Messages of bugs that are not the same.
DIFFERENT = (
    OPENVINO_MOD,
    OPENVINO_CELU,
    TVM_POW,
    TVM_EMIT,
    ORT_SHAPES,
    "no value in Constant",
    "object of type 'Var' has no len()",
    "object of type 'NoneType' has no len()",
    "dtype mismatch between input (int32) and attribute (11)",
    "If the input type is floating point, then `fmod` attribute must be set to 0.5 or more",
    "'num_heads'",
    "",
)

RELU: Operator = ("", "Relu", 17)
ADD: Operator = ("", "Add", 14)
TARGET = Target("tvm", Revision("1.0"))


def failure(error: Error, symptom: str = "exception:ValueError", target: Target = TARGET) -> Failure:
    case = Case("onnx", b"", {}, Origin("test"))
    oracle = "inconsistency" if symptom.startswith("wrong") else "crash"
    status = Status.WRONG if oracle == "inconsistency" else Status.EXCEPTION
    return Failure(case, target, Outcome(status, Stage.RUN, error=error), None, oracle, symptom, "detail")


def signed(message: str = "", **fields: object) -> Signature:
    error = replace(Error("ValueError", message), **fields)  # type: ignore[arg-type]
    return sign(failure(error), [RELU], ["Relu._impl_v14"])


@pytest.mark.parametrize(("what", "one", "other"), SAME, ids=[what for what, _, _ in SAME])
def test_a_message_is_the_same_whatever_is(what: str, one: str, other: str) -> None:
    assert one != other
    assert signed(one).fingerprint == signed(other).fingerprint


def test_different_messages_stay_different() -> None:
    found = {signed(message).fingerprint: message for message in DIFFERENT}
    assert len(found) == len(DIFFERENT)


def test_preambles_do_not_crowd_out_what_happened() -> None:
    assert signed(OPENVINO_MOD).message.endswith("then `fmod` attribute must be set to N.")
    assert "Arguments do not have the same element type" in signed(OPENVINO_CELU).message
    assert "onnxruntime_src" not in signed(ORT_SHAPES).message


def test_names_of_the_case_itself_do_not_matter_but_common_words_do() -> None:
    one = normalise("input shape_17 of node relu_a is wrong", {"shape_17", "relu_a", "is", "input"})
    other = normalise("input hidden of node last is wrong", {"hidden", "last"})
    assert one == other == "input NAME of node NAME is wrong"


def test_odd_names_of_a_case_are_taken_literally() -> None:
    assert normalise("value (a+)+[ is lost", {"(a+)+["}) == "value NAME is lost"
    assert normalise("nothing", {""}) == "nothing"


def test_a_long_message_is_cut() -> None:
    assert len(normalise("words " * 10_000)) <= LONGEST_MESSAGE


def test_a_hostile_message_is_normalised_like_any_other() -> None:
    for text in ("(" * 1_000, "1," * 1_000, "/a" * 1_000, "[1 " * 1_000, "T_" * 1_000, "0x" * 1_000):
        assert len(normalise(text)) <= LONGEST_MESSAGE


def test_normalising_twice_changes_nothing() -> None:
    for message in DIFFERENT:
        once = signed(message).message
        assert normalise(once) == once


# ---------------------------------------------------------------- the place


def test_the_backends_own_word_on_the_conversion_function_counts_most() -> None:
    found = sign(failure(Error(conversion_function="Pad._impl_v19")), [RELU, ADD], ["a", "b"])
    assert (found.place, found.kind, found.conversion_function) == (
        "Pad._impl_v19",
        "conversion function",
        "Pad._impl_v19",
    )


def test_operators_that_share_a_function_share_a_signature() -> None:
    one = sign(failure(Error(message="no")), [RELU], ["unary"])
    other = sign(failure(Error(message="no")), [("", "Abs", 13)], ["unary"])
    assert one.fingerprint == other.fingerprint and one.why != other.why


def test_the_operator_that_the_error_names_is_the_one_in_fault() -> None:
    found = sign(failure(Error(operator="Add")), [RELU, ADD], ["convert_relu", "convert_add"])
    assert found.conversion_function == "convert_add"
    unknown = sign(failure(Error(operator="Mul")), [RELU, ADD], ["convert_relu", "convert_add"])
    assert unknown.conversion_function == ""


FRAMES = (
    Frame("/a/site-packages/tvm/relax/transform/passes.py", 12, "FuseOps"),
    Frame("/a/site-packages/tvm/tirx/build.py", 34, "build"),
)


def test_without_a_function_the_telling_frames_are_the_place() -> None:
    found = sign(failure(Error(frames=FRAMES)), [RELU, ADD], ["", "b"])
    assert (found.place, found.kind) == ("build.py build < passes.py FuseOps", "stack")
    moved = tuple(replace(frame, line=99, file=frame.file.replace("/a/", "/home/x/")) for frame in FRAMES)
    assert sign(failure(Error(frames=moved)), [RELU, ADD], ["", "b"]).fingerprint == found.fingerprint
    elsewhere = (*FRAMES[:1], replace(FRAMES[1], function="lower"))
    assert sign(failure(Error(frames=elsewhere)), [RELU, ADD], ["", "b"]).fingerprint != found.fingerprint


def test_without_frames_the_operators_are_the_place() -> None:
    found = sign(failure(Error(), "wrong:values"), [ADD, RELU], ["a", "b"])
    assert (found.place, found.kind, found.message) == ("Add+Relu", "operators", "")
    assert sign(failure(Error(), "wrong:values"), [RELU, ADD], ["b", "a"]).fingerprint == found.fingerprint
    assert sign(failure(Error()), [], []).place == "model"


def test_a_wrong_result_has_no_message() -> None:
    one = sign(failure(Error(message="1 of 3 differ"), "wrong:values"), [RELU], ["r"])
    other = sign(failure(Error(message="2 of 9 differ"), "wrong:values"), [RELU], ["r"])
    assert one.fingerprint == other.fingerprint


def test_symptom_backend_and_place_each_make_another_bug() -> None:
    ort = replace(TARGET, backend="onnxruntime")
    prints = {
        sign(failure(Error(message="no"), symptom, target), [RELU], [function]).fingerprint
        for symptom in ("exception:A", "exception:B", "crash:SIGSEGV", "crash:SIGABRT", "hang", "oom", "wrong:nan")
        for target in (TARGET, ort)
        for function in ("r", "s")
    }
    assert len(prints) == 28


def test_the_version_and_the_options_are_no_part_of_a_bug() -> None:
    newer = replace(TARGET, revision=Revision("2.0"), options=(("opt", "off"),))
    one, other = (sign(failure(Error(message="no"), target=target), [RELU], ["r"]) for target in (TARGET, newer))
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize(
    "symptom", ["exception:A", "crash:SIGSEGV", "hang", "oom", "wrong:nan", "dies-on-invalid:hang"]
)
def test_why_is_one_sentence(symptom: str) -> None:
    for converters in (["r"], [""]):
        why = sign(failure(Error(message="no\nmore", frames=FRAMES), symptom), [RELU], converters).why
        assert why.startswith("same because ") and "\n" not in why and ", the symptom is " in why


def test_a_hostile_message_of_slashes_is_normalised_in_linear_work():
    # Backtracking over this took minutes once; the possessive pattern gives up at once.
    assert normalise("/a" * 40_000 + " end") == "NAME"


def test_a_path_is_shortened_to_its_file_and_a_fraction_is_not():
    assert normalise("at /opt/build/x/file.cc or N/A") == "at file.cc or N/A"


def test_a_function_that_converts_many_operators_is_one_place_where_the_message_is_about_any_of_them() -> None:
    def unary(operator: str, message: str) -> Signature:
        return signed(message, conversion_function=f"Importer._unary_op.<locals>.convert({operator})")

    log, tan = (unary(name, f"relax.{name} requires a float input") for name in ("log", "tan"))
    assert log.fingerprint == tan.fingerprint
    assert log.conversion_function == "Importer._unary_op.<locals>.convert"
    assert unary("log", "the registry is empty").fingerprint != unary("tan", "the registry is empty").fingerprint
    assert unary("log", "relax.log needs a float").fingerprint != log.fingerprint


def test_tvms_type_without_a_width_is_a_type_like_the_others() -> None:
    words = "relax.erf requires the input tensor to have float dtype. However, the given input dtype is T.{}"
    assert normalise(words.format("bool")) == normalise(words.format("int64"))
