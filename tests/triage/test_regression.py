"""Regression tests in the projects' own styles: each fails now, in a fresh process, the way its bug does."""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, registry
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status
from fuzz.judge import Judge
from fuzz.runner import Runner
from fuzz.wire import dtype_name
from triage import reproducer
from triage.regression import Regression, regressions, support
from triage.regression_rendering import names


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(
    op_type: str, given: dict[str, np.ndarray[Any, Any]], result: np.ndarray[Any, Any], **attributes: Any
) -> Case:
    node = helper.make_node(op_type, list(given), ["y"], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in [*given.items(), ("y", result)]
    ]
    graph = helper.make_graph([node], "g", infos[:-1], infos[-1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), dict(given), Origin("test"))


def drafted(failure: Failure, subject: str = "Some operator") -> list[Regression]:
    backend = registry.backend(failure.target.backend)
    assert backend.reproduce is not None
    taken = [dtype_name(value) for value in failure.case.inputs.values()]
    given = [dtype_name(value) for _, value in (failure.reference or failure.outcome).outputs]
    snippet = backend.reproduce(failure.case.kind, dict(failure.target.options), taken, given)
    parts = failure.target.backend, failure.case, failure.outcome, failure.reference, failure.symptom
    return list(regressions(*parts, snippet, subject))


def idiomatic(failure: Failure, subject: str = "Some operator", agreeing: Sequence[str] = ()) -> list[Regression]:
    """The tests on helpers of the project's own."""
    backend = registry.backend(failure.target.backend)
    assert backend.reproduce is not None and failure.reference is not None
    taken = [dtype_name(value) for value in failure.case.inputs.values()]
    snippet = backend.reproduce("onnx", {}, taken, [dtype_name(value) for _, value in failure.reference.outputs])
    parts = failure.target.backend, failure.case, failure.outcome, failure.reference, failure.symptom
    return list(regressions(*parts, snippet, subject, agreeing))[:-1]


def simplest(failure: Failure, subject: str = "Some operator") -> Regression:
    return drafted(failure, subject)[-1]


def rerun(test: Regression) -> reproducer.Rerun:
    return reproducer.rerun(test.code, runner=test.runner, variables=test.variables, support=support(test.code))


def int32(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def float32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


BUGS = {
    "tvm": lambda: case_of("Pow", {"x": int32(1, 2), "p": float32(1, 2)}, int32(1, 2)),  # an exception
    "openvino": lambda: case_of("ReduceMin", {"x": float32()}, float32(0)),  # a wrong value
    "onnxruntime": lambda: case_of("Div", {"x": int32(1, -(2**31)), "d": int32(-1, -1)}, int32(0, 0)),  # a signal
}


@pytest.mark.parametrize("backend", BUGS)
def test_the_test_of_a_real_bug_fails_as_the_bug_does(backend: str, judge: Judge) -> None:
    pytest.importorskip(backend)
    verdict = judge.examine(BUGS[backend](), catalogue.target(backend))
    failure = verdict.failure
    if failure is None and verdict.outcome is not None:  # excused: what overflows is undefined, and still kills
        failure = Failure(verdict.case, verdict.target, verdict.outcome, None, "crash", "crash:SIGFPE", "")
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    test = simplest(failure)
    found = rerun(test)
    message = failure.outcome.error.message if failure.outcome.error else ""
    assert reproducer.reproduces(failure.symptom, message, found), found.output


def passing(backend: str, value: np.ndarray[Any, Any]) -> Failure:
    """A failure that the compiler does not have: its test must pass."""
    case = case_of("Relu", {"x": float32(-1, 2)}, float32(0, 2))
    right = Outcome(Status.OK, Stage.RUN, outputs=(("y", float32(0, 2)),))
    wrong = Outcome(Status.WRONG, Stage.RUN, outputs=(("y", value),))
    return Failure(case, catalogue.target(backend), wrong, right, "inconsistency", "wrong:values", "")


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_the_test_passes_once_the_bug_is_gone(backend: str) -> None:
    test = simplest(passing(backend, float32(1, 2)))
    found = rerun(test)
    assert found.status == 0, found.output


def test_each_project_has_its_own_style() -> None:
    ort = simplest(passing("onnxruntime", float32(1, 2)), "Gather (int8) with axis=-1").code
    assert "class TestInferenceSession(unittest.TestCase):" in ort
    assert "def test_gather_int8_with_axis_minus_1(self):" in ort
    tvm = simplest(passing("tvm", float32(1, 2)), "Gather")
    assert tvm.path == "tests/python/relax/test_frontend_onnx.py" and tvm.code.endswith("    tvm.testing.main()\n")
    assert "def test_gather_values():" in tvm.code  # test_gather is one that the project has
    openvino = simplest(passing("openvino", float32(1, 2)), "GatherND with x")
    assert openvino.code.startswith("# -*- coding: utf-8 -*-\n# Copyright (C) 2018-2026 Intel Corporation\n# SPDX-")
    assert "Apache-2.0\n\nimport numpy" in openvino.code
    assert openvino.path.endswith("tests_python/test_ops_gather_nd.py") and openvino.is_new
    assert "\n\n\ndef test_" in openvino.code


@pytest.mark.parametrize(
    ("backend", "path"),
    [
        ("onnxruntime", "onnxruntime/test/python/onnxruntime_test_python.py"),
        ("openvino", "src/frontends/onnx/tests/tests_python/test_ops_reduction.py"),
        ("reference", "tests/python/reference_evaluator_test.py"),
    ],
)
def test_a_test_goes_into_the_file_that_the_project_has_for_the_operator(backend: str, path: str) -> None:
    test = simplest(passing(backend, float32(1, 2)), "ReduceMax (float16) with axes")
    assert test.path == path and not test.is_new


INSTANCE = Case("instance", b'{"api": "torch.abs", "args": [{"dtype": "float32", "values": [-1.0]}]}', {}, Origin("t"))


def test_inductor_is_compared_with_eager_mode() -> None:
    failure = dataclasses.replace(
        passing("onnxruntime", float32(1)), case=INSTANCE, target=catalogue.target("inductor")
    )
    test = simplest(failure, "torch.abs")
    ast.parse(test.code)
    assert test.code.startswith('# Owner(s): ["module: inductor"]\nimport torch\n')
    assert "class TestAbsValues(TestCase):" in test.code and "self.assertEqual(actual, expected" in test.code
    assert 'torch.compile(module, backend="inductor", fullgraph=True, dynamic=False)(*args)' in test.code


def test_a_failure_on_a_gpu_is_tested_there_and_skipped_elsewhere() -> None:
    failure = dataclasses.replace(
        passing("onnxruntime", float32(1)), case=INSTANCE, target=catalogue.target("inductor", {"device": "cuda"})
    )
    test = simplest(failure, "torch.abs")
    ast.parse(test.code)
    assert '    @unittest.skipIf(not torch.cuda.is_available(), "needs cuda")\n    def test_' in test.code
    assert test.code.index('module = module.to("cuda")') < test.code.index("expected = module(*args)")
    assert 'torch.compile(module, backend="inductor", fullgraph=True, dynamic=False)(*args)' in test.code
    assert reproducer.rerun(test.code).status == 0


def test_a_module_that_becomes_local_has_no_gap_before_it() -> None:
    failure = dataclasses.replace(passing("tvm", float32(1)), case=INSTANCE)
    assert "\n\n\n    " not in simplest(failure, "torch.abs").code


def test_an_invalid_model_is_to_be_refused() -> None:
    died = Outcome(Status.SIGNAL, Stage.LOAD, error=Error(signal="SIGABRT"))
    failure = dataclasses.replace(
        passing("onnxruntime", float32(1)), outcome=died, symptom="dies-on-invalid:crash:SIGABRT"
    )
    for backend, words in (
        ("onnxruntime", "with self.assertRaises(Exception):"),
        ("tvm", "with pytest.raises(Exception):"),
    ):
        test = simplest(dataclasses.replace(failure, target=catalogue.target(backend)))
        ast.parse(test.code)
        assert words in test.code and "expected" not in test.code
    found = reproducer.rerun(simplest(failure).code)
    assert found.status == 1 and "Exception not raised" in found.output


def test_no_number_is_expected_that_is_drawn_at_random(judge: Judge) -> None:
    """OpenVINO 2026 does not convert the operator for doubles; mended, it would draw others than the reference did."""
    case = case_of("RandomUniformLike", {"x": np.array([1.0, 2.0])}, np.array([1.0, 2.0]))
    failure = judge.examine(case, catalogue.target("openvino")).failure
    if failure is None:
        pytest.skip("this OpenVINO converts it")
    code = simplest(failure).code
    assert "RandomUniformLike" in code and "expected" not in code and "assert" not in code


def test_nothing_is_compared_where_the_result_cannot_be_written() -> None:
    """The compiler has no short way to give four bits: its snippet ends where the model is compiled."""
    pytest.importorskip("openvino")
    failure = dataclasses.replace(
        passing("openvino", float32(1)), outcome=Outcome(Status.SIGNAL, Stage.COMPILE), symptom="crash:SIGABRT"
    )
    parts = failure.case, failure.outcome, failure.reference, failure.symptom
    snippet = "import openvino as ov\n\ncore = ov.Core()\n"
    snippet += 'compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")'
    [test] = regressions("openvino", *parts, snippet, "Relu")
    assert "expected" not in test.code
    found = rerun(test)
    assert found.status == 0, found.output


@pytest.mark.parametrize("symptom", ["hang", "oom", "dies-on-invalid:hang"])
def test_what_would_stop_a_test_suite_gets_no_test(symptom: str) -> None:
    failure = passing("tvm", float32(1))
    assert not list(regressions("tvm", failure.case, failure.outcome, failure.reference, symptom, "pass", "x"))


def test_a_project_without_a_template_gets_no_test() -> None:
    failure = passing("tvm", float32(1))
    parts = failure.case, failure.outcome, failure.reference, failure.symptom
    assert not list(regressions("newcomer", *parts, "pass", "x"))
    assert list(regressions("../tvm", *parts, "pass", "x"))  # a backend given as a file is known by its stem


# ---------------------------------------------------------------- on the helpers of a project


def instance(**fields: Any) -> Case:
    return Case("instance", json.dumps(fields).encode(), {}, Origin("t"))


#: beta=0 means that the first argument is not even read; OpenVINO multiplies its NaN by zero.
ADDMM = instance(
    api="torch.addmm",
    args=[{"dtype": "float32", "shape": [1], "values": [float("nan")]}]
    + [{"dtype": "float32", "shape": [1, 1], "values": [2.0]}] * 2,
    kwargs={"beta": 0},
)


def test_a_layer_test_of_openvino_fails_as_the_bug_does(judge: Judge) -> None:
    failure = judge.examine(ADDMM, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    by_default, exported, plain = drafted(failure, "torch.addmm with beta=0")
    assert (
        "class TestAddmmWithBeta0(PytorchLayerTest):" in by_default.code and "@pytest.mark.precommit" in by_default.code
    )
    assert by_default.path == "tests/layer_tests/pytorch_tests/test_addmm.py" and not by_default.variables
    assert exported.variables == {"PYTORCH_TRACING_MODE": "EXPORT"} and "dynamic_shapes=False" in exported.code
    found = rerun(exported)
    assert reproducer.reproduces(failure.symptom, "", found), found.output
    assert "PytorchLayerTest" not in plain.code and not support(plain.code)


@pytest.mark.parametrize("position", [0, 1])
def test_a_layer_test_passes_where_there_is_no_bug(position: int) -> None:
    case = instance(api="torch.abs", args=[{"dtype": "float32", "shape": [2], "values": [-1.0, 2.0]}])
    failure = dataclasses.replace(passing("openvino", float32(1)), case=case)
    found = rerun(drafted(failure, "torch.abs")[position])
    assert found.status == 0, found.output


def test_a_layer_test_is_not_made_of_what_its_helper_cannot_feed() -> None:
    case = instance(api="torch.abs", args=[{"dtype": "bfloat16", "shape": [1], "values": [-1.0]}])
    failure = dataclasses.replace(passing("openvino", float32(1)), case=case)
    [test] = drafted(failure, "torch.abs")
    assert test.path == "tests/layer_tests/pytorch_tests/test_abs.py"
    assert not test.is_new  # that project has a file for most apis, and nothing here says for which


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("subject", "symptom", "error", "name"),
    [
        ("Attention", "exception:KeyError", Error("KeyError", "'num_heads'"), "attention_without_key_error_num_heads"),
        (
            "Gather",
            "exception:x.InternalError",
            Error("x.InternalError", "shape_of expects a tensor input, but received R.Shape(ndim=2)"),
            "gather_without_internal_error_shape_of_expects_a_tensor",
        ),
        ("Dropout", "wrong:dtype", None, "dropout_output_dtype"),
        ("Resize", "crash:SIGSEGV", None, "resize_compiles"),
        ("Resize with axes", "wrong:values", None, "resize_with_axes"),
        (
            "Cast (float8e5m2 to float16, also float8e4m3fn and 2 more)",
            "wrong:nan",
            None,
            "cast_float8e5m2_to_float16",
        ),
        ("ReduceMax (float16; also ReduceMin)", "wrong:inf", None, "reduce_max_float16"),
        ("ReduceMax (also ReduceMin and 3 more)", "wrong:inf", None, "reduce_max_infinity"),
    ],
)
def test_a_test_is_named_by_more_than_its_operator(subject: str, symptom: str, error: Error | None, name: str) -> None:
    outcome = Outcome(Status.EXCEPTION if error else Status.WRONG, Stage.COMPILE, error=error)
    assert names(subject, symptom, outcome)["name"] == name


# ---------------------------------------------------------------- on helpers of TVM's own


def test_tvm_has_tests_on_its_own_helpers(judge: Judge) -> None:
    pytest.importorskip("tvm")
    case = case_of("IsInf", {"x": float32(np.inf, 1)}, np.array([False, False]), detect_positive=0)
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    compared, written = idiomatic(failure, "IsInf ignores detect_positive=0", ["onnxruntime"])
    assert "    check_correctness(model, inputs, ir_version=9, opset=20)\n" in compared.code
    assert "def test_is_inf_ignores_detect_positive_0():" in compared.code
    assert "actual = run_in_tvm(model, inputs, ir_version=9, opset=20).numpy()" in written.code
    for test in (compared, written):
        found = reproducer.rerun(test.probe, runner=test.runner, support=support(test.probe))
        assert reproducer.reproduces(failure.symptom, "", found) and "1 failed, 1 passed" in found.output, found.output
    [alone] = idiomatic(failure, "IsInf ignores detect_positive=0")  # where ONNX Runtime is wrong, nothing is compared
    assert alone.code == written.code


def test_small_floats_are_not_compared_with_the_bytes_that_onnxruntime_gives(judge: Judge) -> None:
    """`check_correctness` compares its uint8 with TVM's float8, so that such a test fails whatever TVM computes."""
    pytest.importorskip("tvm")
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E4M3FN)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT8E4M3FN, [2])]
    model = helper.make_model(
        helper.make_graph([node], "g", infos, outs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    case = Case("onnx", model.SerializeToString(), {"x": float32(1, np.nan)}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    [test] = idiomatic(failure, "Cast (float32 to float8e4m3fn) with NaN x", ["onnxruntime"])
    assert "run_in_tvm(" in test.code and "check_correctness" not in test.code
    found = reproducer.rerun(test.probe, runner=test.runner, support=support(test.probe))
    assert reproducer.reproduces(failure.symptom, "", found) and "1 failed, 1 passed" in found.output, found.output


def test_a_helper_that_takes_another_road_fails_its_probe(judge: Judge) -> None:
    """TVM's helpers decompose for inference, so that a BatchNormalization in training mode does something else."""
    pytest.importorskip("tvm")
    node = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "mean", "var"], training_mode=1)
    given = {name: float32(1, 2) for name in ("s", "b", "m", "v")} | {"x": np.float32([[1, 2], [3, 5]])}
    infos = [helper.make_tensor_value_info(name, 1, value.shape) for name, value in given.items()]
    outputs = [
        helper.make_tensor_value_info(name, 1, shape) for name, shape in (("y", [2, 2]), ("mean", [2]), ("var", [2]))
    ]
    graph = helper.make_graph([node], "g", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), dict(given), Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    [test] = idiomatic(failure)
    found = reproducer.rerun(test.probe, runner=test.runner, support=support(test.probe))
    assert "2 failed" in found.output, found.output


def test_a_test_on_tvms_helpers_passes_where_there_is_no_bug() -> None:
    pytest.importorskip("tvm")
    compared, _ = idiomatic(passing("tvm", float32(1, 2)), agreeing=["onnxruntime"])
    found = rerun(compared)
    assert found.status == 0, found.output
