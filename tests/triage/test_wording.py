"""Of a long message a title gets the words that somebody wrote for people."""

from __future__ import annotations

import pytest

from triage.wording import headed, telling

OPENVINO = (
    "Exception from src/inference/src/cpp/core.cpp:105:\n"
    "Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:\n"
    "FrontEnd API failed with OpConversionFailure:\n"
    "Model wasn't fully converted. Failed operations detailed log:\n"
    "-- Scan-27 with a message:\n"
    "While validating ONNX node '<Node(Scan): outs, y0>': "
)
ENFORCED = (
    "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Attention node. Name:'' "
    "Status Message: /onnxruntime_src/onnxruntime/core/attention_helper.h:159 "
    "onnxruntime::common::Status onnxruntime::helper::Compute(const onnxruntime::Tensor*, bool, float) "
)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            OPENVINO + "Check 'a.size() >= b' failed at src/frontends/onnx/frontend/src/op/scan.cpp:36:\n"
            "FrontEnd API failed with OpConversionFailure:\nouts, y0 Number of inputs (6) is less than required",
            "Number of inputs (6) is less than required",
        ),
        (
            OPENVINO + "Exception from src/frontends/onnx/frontend/src/core/attribute.hpp:45:\nInvalid attribute type",
            "Invalid attribute type",
        ),
        (
            OPENVINO + "Check 'a || b' failed at src/core/x.hpp:360:\nWhile validating node 'opset1::Reshape R_9 "
            "(opset1::Constant C[0]:i16[]) -> (dynamic[...])' with friendly_name 'R_9':\n"
            "Shape inference input shapes {[],[3]}\nRequested output shape [3,2,1] is incompatible with input shape",
            "Requested output shape [3,2,1] is incompatible with input shape",
        ),
        ("Check failed: arr_size == nbytes (2 vs. 3) : CopyFromBytes: size mismatch", "CopyFromBytes: size mismatch"),
        ("Check failed: (IsFloatType(x.ty())) is false: power only applies to float", "power only applies to float"),
        ("Check failed: (a && b) is false: ", "Check failed: (a && b) is false:"),
        (ENFORCED + "y0 == nullptr || y0->Shape()[1] == p.x was false. The mask must be 2D", "The mask must be 2D"),
        (ENFORCED + "y0 == nullptr || y0->Shape()[1] == p.length", "y0 == nullptr || y0->Shape()[1] == p.length"),
        (ENFORCED + "mask must be 2D", "mask must be 2D"),
        ("'num_heads'", "'num_heads'"),
        ("?", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_places_checks_and_signatures_are_no_words(message: str, words: str) -> None:
    assert telling(message, {"outs", "y0"}) == words


def test_a_message_of_many_brackets_ends_soon() -> None:
    assert telling("a.h:1 f(" + "(" * 3000 + "x" * 3000)
    assert telling("Check failed: " + "(a vs. " * 3000)


def test_a_check_without_words_ends_where_they_would_begin() -> None:
    assert telling("Check failed: indices_dim_i >= 1 (0 vs. 1) :") == "Check failed: indices_dim_i >= 1 (0 vs. 1)"


def test_what_openvino_says_before_a_conversions_own_words_is_left_out() -> None:
    said = "Exception happened during conversion of operation unfold/aten.unfold.default with schema NONE\n"
    assert telling(f"{said}Accessing out-of-range dimension") == "Accessing out-of-range dimension"


def test_a_frontend_in_brackets_and_the_part_of_a_log_that_names_python_are_no_words() -> None:
    message = (
        "Model wasn't fully converted. Failed operations detailed log:\n"
        "-- <built-in function getitem> with a message:\n"
        "Exception happened during conversion of operation getitem_2/<built-in function getitem> with schema NONE\n"
        "Check '(getitem_idx < static_cast<int64_t>(list_elems.size()))' failed at src/op/getitem.cpp:34:\n"
        "FrontEnd API failed with OpConversionFailure:\n"
        "[PyTorch Frontend] Index: 2 is out of bounds of input list of len: 1\n"
    )
    assert telling(message) == "Index: 2 is out of bounds of input list of len: 1"


def test_an_operator_that_is_printed_with_all_that_it_holds_is_its_name() -> None:
    message = (
        'In ir.Op(span=None, ty=ir.Type(span=None), name="relax.sum", description="", arguments=(ir.ArgumentInfo('
        'name="x", type_info="Tensor", description="The input data tensor"),), attrs_type_key="", num_inputs=1, '
        "support_level=10), the input axis 0 is out of range. The input tensor has 0 dimensions."
    )
    assert telling(message) == "In relax.sum, the input axis 0 is out of range. The input tensor has 0 dimensions."


def test_a_line_that_announces_the_next_one_is_told_with_it() -> None:
    message = (
        "LLVM module verification failed with the following errors: \n"
        "Invalid operand types for FCmp instruction\n  %10 = fcmp oeq i1 %6, %9, !dbg !37\n"
    )
    said = "LLVM module verification failed with the following errors: Invalid operand types for FCmp instruction"
    assert telling(message) == said


def test_what_a_virtual_machine_was_doing_is_no_words() -> None:
    context = 'ErrorContext(match_cast, ty=R.Tensor((inverse_numbers,), dtype="int64"))  '
    message = f"Check failed: input_shape.size() == size (2 vs. 1) : {context}match_cast shape size mismatch."
    assert telling(message) == "match_cast shape size mismatch."


def test_a_last_sentence_without_what_it_announces_is_left_out() -> None:
    assert telling("Type/shape was set to non-existent input. Converted model:\n0x7f\n") == (
        "Type/shape was set to non-existent input."
    )


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("torch.compile (inductor) agrees", "torch.compile (inductor) agrees"),
        ("num_inputs is too small", "num_inputs is too small"),
        ("rounding alone can cause it", "Rounding alone can cause it"),
        ("OpenVINO agrees", "OpenVINO agrees"),
        ("", ""),
    ],
)
def test_a_name_from_code_keeps_its_small_letter_at_the_head_of_a_sentence(text: str, head: str) -> None:
    assert headed(text) == head
