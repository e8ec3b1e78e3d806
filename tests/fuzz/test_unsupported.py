"""Honest refusals: recognised by class and raising site, never by a word in the message."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue, registry, unsupported
from fuzz.case import Case, Error, Frame, Origin, Stage, Status
from fuzz.runner import Runner

AROUND = Path(__file__).parents[1] / "mutants" / "faults.py"
OPERATOR_REFUSED = Error(
    type="tvm.error.OpNotImplemented",
    message="The following operators are not supported for frontend ONNX: Foo",
    frames=(
        Frame("/site-packages/tvm/relax/frontend/onnx/onnx_frontend.py", 1, "from_onnx"),
        Frame(
            "/site-packages/tvm/relax/frontend/onnx/onnx_frontend.py",
            2,
            "ONNXGraphImporter._check_for_unsupported_ops",
        ),
    ),
)


def test_class_and_site_together_make_a_refusal() -> None:
    assert unsupported.reason("tvm", OPERATOR_REFUSED, Stage.CONVERT)


def test_the_message_alone_does_not() -> None:
    elsewhere = dataclasses.replace(OPERATOR_REFUSED, frames=(Frame("tvm/other.py", 1, "lower"),))
    another_class = dataclasses.replace(OPERATOR_REFUSED, type="ValueError")
    without_frames = dataclasses.replace(OPERATOR_REFUSED, frames=())
    for error in (elsewhere, another_class, without_frames):
        assert unsupported.reason("tvm", error, Stage.CONVERT) == ""


@pytest.mark.parametrize("backend", ["tvm", "onnxruntime", "openvino", "inductor", "reference", "faulty"])
def test_a_failure_that_says_support_is_a_failure(backend: str) -> None:
    error = Error("RuntimeError", "this operator is not supported: unsupported", (Frame("x.py", 1, "f"),))
    assert all(unsupported.reason(backend, error, stage) == "" for stage in Stage)


def test_another_backends_rule_does_not_apply() -> None:
    assert unsupported.reason("onnxruntime", OPERATOR_REFUSED, Stage.CONVERT) == ""


def test_a_backend_around_a_compiler_refuses_what_the_compiler_refuses() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (double[2] x) => (double[2] y) {y = Acosh (x)}'
    )
    case = Case("onnx", model.SerializeToString(), {"x": np.array([1.5, 2.0])}, Origin("test"))
    with Runner(jobs=1) as runner:
        for name in ("onnxruntime", str(AROUND)):
            assert runner.run(case, catalogue.target(name)).status is Status.UNSUPPORTED


@pytest.mark.parametrize("backend", registry.names())
def test_every_rule_names_class_site_and_reason(backend: str) -> None:
    for rule in unsupported.rules(backend):
        assert rule.exception and ":" in rule.site and rule.reason
        assert set(rule.stages) <= set(Stage)


def test_the_site_must_be_within_the_innermost_frames() -> None:
    rule = unsupported.Rule("ValueError", "a.py:refuse", "because")
    inner, outer = Frame("lib/a.py", 1, "refuse"), Frame("lib/b.py", 1, "call")
    assert rule.matches(Error("ValueError", "", (outer, inner)), Stage.RUN)
    assert not rule.matches(Error("ValueError", "", (inner, outer)), Stage.RUN)
    assert dataclasses.replace(rule, depth=2).matches(Error("ValueError", "", (inner, outer)), Stage.RUN)


def test_a_message_pattern_must_match_from_the_start_and_a_stage_exactly() -> None:
    rule = unsupported.Rule("ValueError", "a.py:*", "because", message="Cannot [a-z]+", stages=("convert",))
    frames = (Frame("a.py", 1, "f"),)
    assert rule.matches(Error("ValueError", "Cannot do\nthat", frames), Stage.CONVERT)
    assert not rule.matches(Error("ValueError", "I Cannot do", frames), Stage.CONVERT)
    assert not rule.matches(Error("ValueError", "Cannot do", frames), Stage.RUN)


@pytest.mark.parametrize("line", [164, 221])
def test_older_releases_of_openvino_say_in_other_words_that_there_is_no_converter(line: int) -> None:
    begun = (
        f"Exception from src/inference/src/cpp/core.cpp:95:\nCheck 'false' failed at "
        f"src/frontends/onnx/frontend/src/frontend.cpp:{line}:\nFrontEnd API failed with GeneralFailure:\n"
    )
    refused = Error("RuntimeError", f"{begun}OpenVINO does not support the following ONNX operations: Det\n\n")
    failed = Error("RuntimeError", f"{begun}Check 'axis < rank' failed at src/core/src/validation_util.cpp:12:\n")
    assert unsupported.reason("openvino", refused, Stage.CONVERT) == "the frontend has no converter for an operator"
    assert not unsupported.reason("openvino", failed, Stage.CONVERT)


def test_a_recurrent_operators_activation_that_openvino_does_not_know_is_refused_honestly() -> None:
    said = "Exception from src/core/src/pass/graph_rewrite.cpp:298:\n[X] END: node CALLBACK HAS THROWN: "
    refused = Error("RuntimeError", said + "Unknown activation function: affine")
    assert unsupported.reason("openvino", refused, Stage.CONVERT) == "an activation function of a recurrent operator"
    thrown = dataclasses.replace(refused, message=said + "Unexpected: CPU plugin")
    assert not unsupported.reason("openvino", thrown, Stage.CONVERT)


_REPORTED = "Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151: "
_CONVERSION = "openvino._pyopenvino.OpConversionFailure"


@pytest.mark.parametrize(
    ("refused", "failed"),
    [
        (
            Error(
                _CONVERSION,
                _REPORTED + "failed at src/frontends/pytorch/src/op/embedding_bag.cpp:56: FrontEnd API failed with "
                "OpConversionFailure: [PyTorch Frontend] Inclusion last offset is not supported",
            ),
            Error(_CONVERSION, _REPORTED + "failed at src/frontends/pytorch/src/op/embedding_bag.cpp:56: bad index"),
        ),
        (
            Error(
                _CONVERSION,
                _REPORTED + "failed at src/core/src/op/util/binary_elementwise_arithmetic.cpp:26: While validating "
                "node 'Maximum_7': This operation does not support inputs with element type: boolean",
            ),
            Error(
                _CONVERSION,
                _REPORTED + "failed at src/core/src/op/util/binary_elementwise_arithmetic.cpp:26: While validating "
                "node 'Maximum_7': Argument shapes are inconsistent",
            ),
        ),
        (
            Error(
                _CONVERSION,
                _REPORTED + "-- ComplexTypeMark with a message:\nThis is OpenVINO internal type. Consumer: "
                "opset1::Result Result_4",
            ),
            Error(
                _CONVERSION,
                _REPORTED + "-- SequenceMark with a message:\nThis is OpenVINO internal type. Consumer: aten.cat",
            ),
        ),
        (
            Error(
                "RuntimeError",
                "Check 'newNode' failed at src/plugins/intel_cpu/src/node.cpp:1626:\nUnsupported operation of type: "
                "MaxPool name: x\nDetails:\nException from src/plugins/intel_cpu/src/nodes/reference.cpp:36:\n"
                "Not Implemented:\nCannot fallback on ngraph reference implementation.",
            ),
            Error("RuntimeError", "Exception from src/plugins/intel_cpu/src/nodes/reference.cpp:36:\nBad shape"),
        ),
        (
            Error(
                "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
                "Could not extract specialized integer",
                (Frame("torch/fx/experimental/symbolic_shapes.py", 1, "ShapeEnv._evaluate_expr"),),
            ),
            Error(
                "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
                "Could not extract specialized integer",
                (Frame("openvino/frontend/pytorch/fx_decoder.py", 1, "decode"),),
            ),
        ),
    ],
    ids=["embedding_bag", "element type", "complex result", "no implementation", "decomposition"],
)
def test_openvino_refuses_by_sentence_and_site_and_fails_otherwise(refused: Error, failed: Error) -> None:
    assert unsupported.reason("openvino", refused, Stage.CONVERT)
    assert not unsupported.reason("openvino", failed, Stage.CONVERT)


def test_a_branch_on_data_is_refused_honestly_by_dynamo() -> None:
    """`gaussian_nll_loss` looks at the sign of its variances and raises."""
    vector = {"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}
    told = {
        "library": "torch",
        "api": "torch.nn.functional.gaussian_nll_loss",
        "args": [{"tensor": 0}, {"tensor": 1}, {"tensor": 2}],
        "kwargs": {},
        "tensors": [vector, vector, vector],
    }
    with Runner(catalogue.PATIENT, jobs=1) as runner:
        case = Case("instance", json.dumps(told).encode(), {}, Origin("test"))
        outcome = runner.run_fresh(case, catalogue.target("inductor"))
    assert outcome.status is Status.UNSUPPORTED, outcome.error


@pytest.mark.parametrize("backend", ["tvm", "openvino"])
def test_what_pytorch_itself_cannot_export_is_no_failure_of_a_frontend(backend: str) -> None:
    frame = Frame("torch/_subclasses/functional_tensor.py", 1, "FunctionalTensorMode.__torch_dispatch__")
    said = "Found a custom (non-ATen) operator whose output has alias annotations: aten::polygamma_"
    assert unsupported.reason(backend, Error("RuntimeError", said, (frame,)), Stage.CONVERT)
    assert not unsupported.reason(backend, Error("RuntimeError", "a tensor is missing", (frame,)), Stage.CONVERT)
