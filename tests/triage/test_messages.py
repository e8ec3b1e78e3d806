"""What is left of a compiler's message once its empty words are gone."""

from triage.messages import core

OPENVINO = """Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- GatherElements-20 with a message:
While validating ONNX node '<Node(GatherElements): t>': Check 'data_rank == indices_rank' failed at src/core/x.hpp:45:
While validating node 'opset6::GatherElements G_16 (P[0]:f32[1]) -> (dynamic[...])' with friendly_name 'G_16':
data and indices rank must be equal. But instead got: 1 and 2

Summary:
-- Conversion is failed for: GatherElements-20
"""


def test_openvinos_chain_of_rethrows_leaves_the_check_and_its_sentence():
    assert core(OPENVINO) == (
        "Check 'data_rank == indices_rank' failed at src/core/x.hpp:45:\n"
        "data and indices rank must be equal. But instead got: 1 and 2"
    )


def test_onnx_runtimes_status_prefix_goes():
    told = (
        "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running ReduceMax node. "
        "Name:'' Status Message: empty set"
    )
    assert core(told) == "ReduceMax node. empty set"


def test_a_message_of_nothing_but_empty_words_stays_as_it_is():
    assert core("[ONNXRuntimeError] : 1 : FAIL : ") == "[ONNXRuntimeError] : 1 : FAIL :"


def test_other_messages_are_untouched():
    assert core("no value in Constant") == "no value in Constant"
