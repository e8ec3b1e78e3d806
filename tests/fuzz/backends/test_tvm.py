"""Apache TVM through the real worker: results, refusals, and who converts what."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from fuzz import catalogue
from fuzz.backends.tvm import reproduce
from fuzz.case import Case, Origin, Stage, Status
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import asking
from triage.signing import Signer


@pytest.fixture(scope="module")
def tvm() -> Iterator[Runner]:
    """TVM takes seconds to import: all tests of this file share one process that has."""
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def one_node(operator: str, inputs: dict[str, np.ndarray], opset: int = 17, **attributes: object) -> Case:
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape))
        for name, value in inputs.items()
    ]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node(operator, list(inputs), ["y"], **attributes)], "g", given, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return Case("onnx", model.SerializeToString(), inputs, Origin("t"))


def test_a_tiny_model_gives_the_right_numbers_under_the_names_of_its_outputs(tvm: Runner) -> None:
    case, expected = catalogue._tiny_model()
    outcome = tvm.run(case, catalogue.target("tvm"))
    assert outcome.status is Status.OK, outcome
    assert np.asarray(outcome.outputs[0][1]).tolist() == expected.tolist()
    assert outcome.outputs[0][0] == "y"


def test_inputs_are_matched_by_name(tvm: Runner) -> None:
    case = one_node("Sub", {"b": np.float32([5]), "a": np.float32([2])})
    swapped = Case("onnx", case.model, dict(reversed(list(case.inputs.items()))), case.origin)
    for given in (case, swapped):
        assert np.asarray(tvm.run(given, catalogue.target("tvm")).outputs[0][1]).tolist() == [3.0]


def test_an_unknown_operator_is_an_honest_refusal(tvm: Runner) -> None:
    case = one_node("Det", {"x": np.zeros((2, 2), dtype=np.float32)})
    outcome = tvm.run(case, catalogue.target("tvm"))
    assert (outcome.status, outcome.stage) == (Status.UNSUPPORTED, Stage.CONVERT)
    assert outcome.error is not None and outcome.error.operator == "Det"


def test_strings_cannot_be_fed_or_are_refused(tvm: Runner) -> None:
    case = one_node("Identity", {"x": np.array(["a"], dtype=object)})
    assert tvm.run(case, catalogue.target("tvm")).status in (Status.SKIPPED, Status.UNSUPPORTED, Status.EXCEPTION)


def test_the_registry_names_the_implementation_for_an_opset(tvm: Runner) -> None:
    target = catalogue.target("tvm")
    operators = [("", "Relu", 17), ("", "Squeeze", 11), ("", "Squeeze", 13), ("", "NoSuchOperator", 17)]
    relu, squeeze11, squeeze13, unknown = tvm.converters(target, operators)
    assert relu.startswith("Relu._impl_v")
    assert squeeze11 != squeeze13 and {squeeze11.partition(".")[0], squeeze13.partition(".")[0]} == {"Squeeze"}
    assert unknown == ""


def test_the_registry_names_the_function_for_an_aten_operator(tvm: Runner) -> None:
    asked = [("torch", name, 0) for name in ("aten.addmm.default", "aten.mul.Tensor", "torch.addmm")]
    addmm, mul, unknown = tvm.converters(catalogue.target("tvm"), asked)
    assert addmm.endswith("._addmm") and mul.endswith("convert(mul)") and unknown == ""


@pytest.mark.parametrize("api", ["torch.nn.functional.linear", "torch.addmm"])
def test_an_exception_of_an_instance_names_the_converter_that_the_walk_called(tvm: Runner, api: str) -> None:
    halves = [
        {"dtype": "float16", "shape": shape, "values": [1.0] * size}
        for shape, size in (([1, 2], 2), ([2, 2], 4), ([2], 2))
    ]
    tensors = halves if api.endswith("linear") else [halves[2], *halves[:2]]
    text = json.dumps({"api": api, "args": [{"tensor": at} for at in range(3)], "library": "torch", "tensors": tensors})
    error = tvm.run(Case("instance", text.encode(), {}, Origin("t")), catalogue.target("tvm")).error
    assert error is not None, "the compiler no longer has this bug: find another for the test"
    assert (error.operator, error.conversion_function) == ("aten.addmm.default", "BaseFXGraphImporter._addmm")


def test_what_fails_before_any_operator_is_converted_is_no_operators(tvm: Runner) -> None:
    """TVM cannot take four-bit initializers (0.27), whoever reads them: one bug, not one for every operator."""
    found = set()
    for text in (
        '<ir_version: 10, opset_import: ["": 21]> g () => (float[3] y) <int4[3] x = {1, -1, 2}>'
        " { y = Cast <to = 1> (x) }",
        '<ir_version: 10, opset_import: ["": 21]> g () => (float[3] y) <int4[3] x = {1, -1, 2}, float s = {2.0}>'
        " { y = DequantizeLinear (x, s) }",
    ):
        case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("t"))
        failure = Judge(tvm, catalogue.target("reference")).examine(case, catalogue.target("tvm")).failure
        assert failure is not None, "the compiler no longer has this bug: find another for the test"
        described = Signer(tvm).describe(failure)
        assert described.operators == ("initializer",)
        found.add((described.fingerprint, described.conversion_function))
    assert [place for _, place in found] == ["ONNXGraphImporter._parse_graph_initializers"]


def test_an_instance_is_known_by_the_operators_that_the_frontend_meets(tvm: Runner) -> None:
    """An api's own name does not tell: TVM has a function called _baddbmm that baddbmm never reaches."""
    text = (
        b'{"api":"torch.baddbmm","args":[{"tensor":0},{"tensor":0},{"tensor":0}],"kwargs":{"beta":2},"library":"torch",'
        b'"tensors":[{"dtype":"float32","shape":[1,2,2]}]}'
    )
    met = asking.operators(tvm, Case("instance", text, {}, Origin("t")), catalogue.target("tvm"))
    assert met == ["aten.bmm.default", "aten.mul.Tensor", "aten.add.Tensor"]


def test_passes_are_named_and_may_be_left_out(tvm: Runner) -> None:
    case, expected = catalogue._tiny_model()
    target = catalogue.target("tvm")
    met = asking.passes(tvm, case, target)
    assert {"LegalizeOps", "tirx.StorageRewrite"} <= set(met)
    without = asking.with_options(target, disable="tirx.StorageRewrite,tirx.CommonSubexprElim")
    assert np.asarray(tvm.run(case, without).outputs[0][1]).tolist() == expected.tolist()
    assert "tirx.StorageRewrite" not in asking.passes(tvm, case, without)
    assert tvm.run(case, asking.with_options(target, disable="LegalizeOps")).status is Status.EXCEPTION


def test_the_worker_that_compiled_is_used_again(tvm: Runner) -> None:
    case, _ = catalogue._tiny_model()
    outcomes = list(tvm.run_batch([case] * 5, catalogue.target("tvm")))
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    assert outcomes[-1].peak_mb > 100


def test_a_sequence_is_one_output_and_not_as_many_as_it_has_items(tvm: Runner) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    y = helper.make_value_info("y", helper.make_sequence_type_proto(tensor))
    graph = helper.make_graph([helper.make_node("SequenceConstruct", ["x", "x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": np.array([1, 2], np.float32)}, Origin("t"))
    outcome = tvm.run(case, catalogue.target("tvm"))
    assert outcome.status is Status.OK, outcome
    [(name, value)] = outcome.outputs
    assert name == "y" and isinstance(value, list)
    assert [item.tolist() for item in value] == [[1.0, 2.0], [1.0, 2.0]]


def test_a_result_that_is_none_is_left_out_as_the_library_s_is(tvm: Runner) -> None:
    """The weights of an attention that nobody asked for: TVM returns None, and we failed on it, not the compiler."""
    tensor = {"dtype": "float32", "shape": [2, 2], "values": [1.0, 2.0, 3.0, 4.0]}
    call = {"library": "torch", "api": "torch.nn.MultiheadAttention", "args": [{"tensor": 0}] * 3, "tensors": [tensor]}
    text = json.dumps({**call, "init": {"args": [2, 1], "kwargs": {}}, "kwargs": {"need_weights": False}})
    case = Case("instance", text.encode(), {}, Origin("t"))
    outcome = tvm.run(case, catalogue.target("tvm"))
    assert outcome.status is Status.OK, outcome
    assert [name for name, _ in outcome.outputs] == ["output_0"]
    expected = tvm.run(case, catalogue.target("reference")).outputs
    np.testing.assert_allclose(np.asarray(outcome.outputs[0][1]), np.asarray(expected[0][1]), rtol=1e-3)


@pytest.mark.parametrize(
    ("dtype", "fed"), [("float32", "tensor(a.numpy())"), ("bfloat16", "from_dlpack(a.contiguous())")]
)
def test_a_script_does_not_hang_on_where_the_memory_of_a_tensor_begins(dtype: str, fed: str) -> None:
    """numpy's begins at 16 bytes, and TVM takes none that is not aligned to 64: drafts were lost as flaky."""
    text = reproduce("instance", {}, [dtype], [dtype])
    assert f"*[tvm.runtime.{fed} for a in args]" in text
