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
                _REPORTED
                + "-- getitem with a message: Check 'fits' failed at src/frontends/pytorch/src/op/getitem.cpp:34:"
                " [PyTorch Frontend] Index: 1 is out of bounds\n-- aten.var_mean.correction with a message:\nCheck "
                "'(correction == 1)' failed at src/frontends/pytorch/src/op/var_mean.cpp:53:\nFrontEnd API failed with "
                "OpConversionFailure:\n[PyTorch Frontend] Unexpected value of correction.",
            ),
            Error(
                _CONVERSION,
                _REPORTED
                + "-- getitem with a message: Check 'fits' failed at src/frontends/pytorch/src/op/getitem.cpp:34:"
                " [PyTorch Frontend] Index: 1 is out of bounds",
            ),
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
    ids=["embedding_bag", "correction", "element type", "complex result", "no implementation", "decomposition"],
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


def _frame(function: str) -> tuple[Frame, ...]:
    return (Frame("tvm/relax/frontend/onnx/onnx_frontend.py", 1, function),)


@pytest.mark.parametrize(
    ("kind", "message", "function", "failed"),
    [
        ("ValueError", "TopK sorted must be 1 for Relax frontend", "TopK._impl_v11", "TopK axis is out of range"),
        ("NotImplementedError", "Ndim > 5 not supported for convolution.", "Conv._impl_v11", "no convolution"),
        ("NotImplementedError", "Ndim > 5 not supported for convolution.", "ConvTranspose._impl_v1", "Ndim"),
        ("AssertionError", "Currently only 1D/2D/3D/ pooling is supported.", "Pool._impl_v1", "Value is invalid."),
        ("ValueError", "Dynamic axes are not supported for Pad yet.", "Pad._parse_pads_and_axes", "Pad expects pads"),
        ("AssertionError", "Only constant position supported for SequenceAt", "SequenceAt._impl_v11", ""),
        (
            "NotImplementedError",
            "5D (volumetric) GridSample with mode='cubic' is not supported (TOPI 3D grid_sample ...)",
            "GridSample._impl_v16",
            "GridSample with mode='cubic'",
        ),
        (
            "NotImplementedError",
            "GridSample only supports 4D or 5D input, got 6D.",
            "GridSample._impl_v16",
            "GridSample only supports 4D or 5D input, got 4D.",
        ),
        (
            "NotImplementedError",
            "ONNX BatchNormalization with mixed input dtypes is currently supported only for float16 data with ...",
            "BatchNormalization._impl_v15",
            "ONNX BatchNormalization requires scale and bias to have the same dtype",
        ),
        ("NotImplementedError", "Squeeze with symbolic axes not supported", "Squeeze._squeeze", "Squeeze on symbolic"),
        (
            "ValueError",
            "Slice with dynamic parameters does not support ShapeExpr input.",
            "Slice._impl_v13",
            "Slice step values must be non-zero.",
        ),
        (
            "NotImplementedError",
            "SplitToSequence with dynamic dim size and scalar split is not supported.",
            "SplitToSequence._impl_v11",
            "SplitToSequence is not supported",
        ),
    ],
)
def test_what_tvms_onnx_frontend_says_it_lacks_is_refused_honestly(
    kind: str, message: str, function: str, failed: str
) -> None:
    refused = Error(kind, message, _frame(function))
    assert unsupported.reason("tvm", refused, Stage.CONVERT)
    for other in (dataclasses.replace(refused, message=failed), dataclasses.replace(refused, frames=_frame("g"))):
        assert not unsupported.reason("tvm", other, Stage.CONVERT)


@pytest.mark.parametrize(
    ("operator", "dtype", "refused"),
    [
        ("Prelu", "int32", True),
        ('ir.Op(span=None, name="relax.sqrt", support_level=10)', "uint8", True),
        ('ir.Op(span=None, name="relax.exp", support_level=10)', "int32", False),  # ONNX's takes real numbers alone
        ("Prelu", "bool", False),
    ],
)
def test_integers_are_refused_by_tvm_only_where_the_operator_of_onnx_takes_them(
    operator: str, dtype: str, refused: bool
) -> None:
    said = f"{operator} requires the input tensor to have float dtype. However, the given input dtype is T.{dtype}"
    inner = (Frame("tvm/relax/block_builder.py", 1, "BlockBuilder.normalize"), Frame("nn.cc", 1, "<module>"))
    error = Error("TypeError", said, (*_frame("ONNXGraphImporter._convert_operator"), *inner))
    assert bool(unsupported.reason("tvm", error, Stage.CONVERT)) is refused
    assert not unsupported.reason("tvm", dataclasses.replace(error, frames=inner), Stage.CONVERT)


@pytest.mark.parametrize(("shape", "refused"), [("[1,1,3,3,3,3]", True), ("[?,2..8,3,3,3,3]", True), ("[1,3]", False)])
@pytest.mark.parametrize("file", ["convolution", "pooling"])
def test_openvino_has_windows_of_up_to_three_dimensions(file: str, shape: str, refused: bool) -> None:
    said = (
        f"{_REPORTED}failed at src/core/shape_inference/include/{file}_shape_inference_util.hpp:42:\n"
        f"Expected a 3D, 4D or 5D tensor for the input. Got: {shape}"
    )
    assert bool(unsupported.reason("openvino", Error("RuntimeError", said), Stage.CONVERT)) is refused
    elsewhere = said.replace("shape_inference_util", "kernel")
    assert not unsupported.reason("openvino", Error("RuntimeError", elsewhere), Stage.CONVERT)


_RAN = "[ONNXRuntimeError] : {} : Non-zero status code returned while running {} node. Name:'' Status Message: {}"
_SAMPLED = "/src/onnxruntime/core/providers/cpu/tensor/grid_sample.cc:{} Compute was false. {}"


@pytest.mark.parametrize(
    ("kind", "code", "operator", "message", "failed"),
    [
        ("InvalidArgument", "2 : INVALID_ARGUMENT", "MaxPool", "Unsupported pooling size.", "Invalid pooling size."),
        ("InvalidArgument", "2 : INVALID_ARGUMENT", "AveragePool", "Unsupported pooling size.", "Unsupported."),
        (
            "InvalidArgument",
            "2 : INVALID_ARGUMENT",
            "LpPool",
            "Unsupported kernel dimension : 4",
            "Unsupported kernel dimension : 2",
        ),
        (
            "Fail",
            "1 : FAIL",
            "GridSample",
            _SAMPLED.format(395, "Only support GridSample Cubic mode in 4-D cases."),
            _SAMPLED.format(395, "Bad cubic"),
        ),
        (
            "Fail",
            "1 : FAIL",
            "GridSample",
            _SAMPLED.format(380, "Only 4-D or 5-D tensor is supported"),
            "Only 4-D or 5-D tensor is supported",
        ),
    ],
)
def test_onnxruntime_says_of_how_many_dimensions_it_has_windows(
    kind: str, code: str, operator: str, message: str, failed: str
) -> None:
    error = Error(
        f"onnxruntime.capi.onnxruntime_pybind11_state.{kind}",
        _RAN.format(code, operator, message),
        (Frame("onnxruntime/capi/onnxruntime_inference_collection.py", 1, "Session.run"),),
    )
    assert unsupported.reason("onnxruntime", error, Stage.RUN)
    broken = dataclasses.replace(error, message=_RAN.format(code, operator, failed))
    assert not unsupported.reason("onnxruntime", broken, Stage.RUN)


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino", "tvm"])
def test_pooling_of_four_dimensions_is_refused_honestly(backend: str) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,1,2,2,2,2] x) => (float[1,1,1,1,1,1] y) '
        "{y = MaxPool <kernel_shape = [2, 2, 2, 2]> (x)}"
    )
    case = Case("onnx", model.SerializeToString(), {"x": np.ones((1, 1, 2, 2, 2, 2), np.float32)}, Origin("test"))
    with Runner(catalogue.PATIENT, jobs=1) as runner:
        outcome = runner.run(case, catalogue.target(backend))
    assert outcome.status is Status.UNSUPPORTED, outcome.error


def test_places_of_one_hot_that_are_no_integers_are_refused_by_tvm() -> None:
    said = "one_hot op requires the input indices to have integer dtype. However, the given indices dtype is T."
    inner = (Frame("tvm/relax/block_builder.py", 1, "BlockBuilder.normalize"), Frame("manipulate.cc", 1, "<module>"))
    for dtype, refused in (("float32", True), ("int64", False)):
        error = Error("TypeError", said + dtype, (*_frame("ONNXGraphImporter._convert_operator"), *inner))
        assert bool(unsupported.reason("tvm", error, Stage.CONVERT)) is refused


def test_pooling_of_an_image_without_size_is_refused_by_onnxruntime() -> None:
    said = (
        "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running MaxPool node. Name:'' Status "
        "Message: /onnxruntime_src/onnxruntime/core/providers/cpu/nn/pool_attributes.h:124 "
        "onnxruntime::TensorShapeVector onnxruntime::PoolAttributes::SetOutputSize(const onnxruntime::TensorShape&) "
        "const input_shape.Size() > 0 || input_shape[0] == 0 was false. "
        "Invalid input shape. Only N can be zero. Got:{1,2,0,3}\n"
    )
    kind = "onnxruntime.capi.onnxruntime_pybind11_state.Fail"
    frames = (Frame("onnxruntime/capi/onnxruntime_inference_collection.py", 1, "Session.run"),)
    assert unsupported.reason("onnxruntime", Error(kind, said, frames), Stage.RUN)
    other = said.replace("Only N can be zero", "The rank is wrong")
    assert not unsupported.reason("onnxruntime", Error(kind, other, frames), Stage.RUN)
