"""MNN through the real worker: its four dtypes and those it carries in them, its refusals, and its deaths."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, registry
from fuzz.case import Case, Origin, Outcome, Stage, Status
from fuzz.classes import Class, classify
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import Value
from triage import reproducer, script

pytestmark = pytest.mark.skipif(
    find_spec("MNN") is None and "GRAPHWARDEN_PYTHON_MNN" not in os.environ, reason="MNN is not installed"
)
ROOT = Path(__file__).parents[3]
NUMBER = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16,
    "bool": TensorProto.BOOL,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "float16": TensorProto.FLOAT16,
    "uint64": TensorProto.UINT64,
    "bfloat16": TensorProto.BFLOAT16,
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def node(
    operator: str,
    inputs: Sequence[np.ndarray],
    dtype: str = "float32",
    shape: Sequence[int | str] = (3,),
    dims: Sequence[int | str] | None = None,
    **attributes: object,
) -> Case:
    """One node on `inputs`, with one result of `dtype` and `shape`; `dims` are declared for the inputs, not theirs."""
    names = [f"x{at}" for at in range(len(inputs))]
    given = [
        helper.make_tensor_value_info(name, NUMBER[each.dtype.name], each.shape if dims is None else dims)
        for name, each in zip(names, inputs, strict=True)
    ]
    result = helper.make_tensor_value_info("y", NUMBER[dtype], shape)
    graph = helper.make_graph([helper.make_node(operator, names, ["y"], **attributes)], "g", given, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), dict(zip(names, inputs, strict=True)), Origin("t"))


def run(runner: Runner, case: Case, **options: str) -> Outcome:
    return runner.run(case, catalogue.target("mnn", options))


def only_output(outcome: Outcome) -> np.ndarray:
    assert outcome.status is Status.OK, outcome
    [(_, value)] = outcome.outputs
    return np.asarray(value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int16", "uint16", "bool", "int8", "uint8"])
def test_every_dtype_that_it_takes_comes_back_as_it_was(runner: Runner, dtype: str) -> None:
    data = np.array([[0, 1, 2], [3, 0, 5]]).astype(dtype)
    case = node("Reshape", [data, np.array([3, 2])], dtype, [3, 2])
    found = only_output(run(runner, case))
    assert (found.dtype.name, found.tolist()) == (dtype, data.reshape(3, 2).tolist())


def test_scalars_and_empty_tensors_have_their_shapes(runner: Runner) -> None:
    assert only_output(run(runner, node("Neg", [np.array(2.5, np.float32)], shape=[]))).tolist() == -2.5
    empty = only_output(run(runner, node("Neg", [np.zeros((0, 3), np.float32)], shape=[0, 3])))
    assert (empty.shape, empty.dtype.name) == ((0, 3), "float32")


@pytest.mark.parametrize("rows", [1, 5])
def test_sizes_that_a_model_leaves_open_are_those_of_the_inputs(runner: Runner, rows: int) -> None:
    data = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    case = node("Neg", [data], shape=["rows", 2], dims=["rows", 2])
    assert only_output(run(runner, case)).tolist() == (-data).tolist()


@pytest.mark.parametrize("options", [{"level": "2"}, {"threads": "4"}], ids=str)
def test_every_option_computes_the_same(runner: Runner, options: dict[str, str]) -> None:
    data = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4)
    found = only_output(run(runner, node("Tanh", [data], shape=data.shape), **options))
    np.testing.assert_allclose(found, np.tanh(data), atol=1e-5)


FLOAT = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (node("Neg", [FLOAT.astype(np.float16)], "float16"), "MNN has no tensors of float16"),
        (node("Neg", [FLOAT.astype(ml_dtypes.bfloat16)], "bfloat16"), "MNN has no tensors of bfloat16"),
        (node("Cast", [FLOAT], "uint64", to=TensorProto.UINT64), "MNN has no tensors of uint64"),
        (node("Neg", [np.array([1, 2, 2**40])], "int64"), "x0 holds values that are beyond int32"),
        (node("Neg", [np.array([1, 2, 1e300])], "float64"), "x0 holds values that are beyond float32"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_it_has_no_tensor_for_is_not_fed(runner: Runner, case: Case, said: str) -> None:
    outcome = run(runner, case)
    assert (outcome.status, outcome.stage) == (Status.SKIPPED, Stage.LOAD)
    assert outcome.error is not None and said in outcome.error.message


def test_an_operator_that_it_does_not_know_is_an_honest_refusal(runner: Runner) -> None:
    outcome = run(runner, node("Hardmax", [np.ones((2, 3), np.float32)], shape=[2, 3]))
    assert (outcome.status, outcome.stage) == (Status.UNSUPPORTED, Stage.CONVERT)
    assert outcome.error is not None and outcome.error.operator == "Hardmax"
    assert "These Op Not Support: ONNX::Hardmax" in outcome.error.message
    assert classify(outcome.status, outcome.stage) is None


def test_a_kernel_without_the_dtype_is_an_honest_refusal(runner: Runner) -> None:
    small = np.ones(3, np.uint8)
    outcome = run(runner, node("Equal", [small, small], "bool"))
    assert (outcome.status, outcome.stage) == (Status.UNSUPPORTED, Stage.RUN)


def test_garbage_is_an_exception_and_not_a_refusal(runner: Runner) -> None:
    assert run(runner, Case("onnx", b"no model at all", {}, Origin("t"))).status is Status.EXCEPTION


def test_what_it_prints_when_it_fails_is_the_message(runner: Runner) -> None:
    """Its shape inference refuses a window that it could pad, and no exception tells."""
    data = np.ones((1, 1, 4, 4), np.float32)
    case = node("MaxPool", [data], shape=[1, 1, 4, 4], kernel_shape=[2, 2], auto_pad="SAME_UPPER")
    outcome = run(runner, case)
    assert (outcome.status, outcome.stage) == (Status.EXCEPTION, Stage.RUN)
    assert outcome.error is not None and "Compute Shape Error for y" in outcome.error.message
    assert classify(outcome.status, outcome.stage) is Class.INFERENCE_FAILURE


def test_a_death_is_contained_and_the_next_model_runs(runner: Runner) -> None:
    """Mean of one input kills the converter, a pool without strides the interpreter."""
    dead = run(runner, node("Mean", [FLOAT]))
    assert (dead.status, dead.stage) == (Status.SIGNAL, Stage.CONVERT)
    assert classify(dead.status, dead.stage) is Class.CONVERSION_FAILURE
    assert dead.error is not None and "Not support 1 input for Mean op" in dead.error.stderr
    pool = node("AveragePool", [np.ones((1, 1, 4, 4), np.float32)], shape=[1, 1, 3, 3], kernel_shape=[2, 2])
    assert run(runner, pool).status is Status.SIGNAL
    assert only_output(run(runner, node("Neg", [FLOAT]))).tolist() == [-1, -1, -1]


def test_wrong_values_that_need_a_wider_dtype_than_it_has_are_excused(runner: Runner) -> None:
    large = np.array([2**20, 3, 4])
    verdict = Judge(runner, catalogue.target("reference")).examine(
        node("Mul", [large, large], "int64"), catalogue.target("mnn")
    )
    assert verdict.status is Status.SKIPPED
    assert verdict.reason == "mnn holds int64 in int32, which changes values of y"


def test_a_wrong_shape_is_a_comparison_failure(runner: Runner) -> None:
    """Its pools know no dilations, and do not say so."""
    data = np.ones((1, 1, 4, 4), np.float32)
    case = node("MaxPool", [data], shape=[1, 1, 2, 2], kernel_shape=[2, 2], strides=[1, 1], dilations=[2, 2])
    verdict = Judge(runner, catalogue.target("reference")).examine(case, catalogue.target("mnn"))
    assert verdict.failure is not None and verdict.failure.symptom == "wrong:shape"
    assert classify(verdict.status, Stage.RUN) is Class.COMPARISON_FAILURE


def test_the_ratio_of_near_elements_decides_where_the_target_says_so(runner: Runner) -> None:
    """Round takes halves away from zero, which is one element in two thousand."""
    data = np.arange(2000, dtype=np.float32)
    data[7] = 2.5
    judge, case = Judge(runner, catalogue.target("reference")), node("Round", [data], shape=[2000])
    assert judge.examine(case, catalogue.target("mnn")).status is Status.WRONG
    assert judge.examine(case, catalogue.target("mnn", {"rule": "ratio"})).status is Status.OK


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "int8", "uint8"])
def test_its_script_runs_alone(runner: Runner, dtype: str) -> None:
    data = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    case = node("Transpose", [data], dtype, [3, 2])
    outcome, known = run(runner, case), runner.run(case, catalogue.target("reference"))
    found = rerun(case, outcome, known, dtype)
    assert "PASS" in found.output, found.output


def test_its_script_feeds_several_inputs_and_fails_where_the_result_is_wrong(runner: Runner) -> None:
    """It compares two negative numbers the wrong way round."""
    case = node("Less", [np.array([-2, 1, -1], np.float32), np.array([-1, 2, -2], np.float32)], "bool")
    verdict = Judge(runner, catalogue.target("reference")).examine(case, catalogue.target("mnn"))
    assert verdict.failure is not None
    found = rerun(case, verdict.failure.outcome, verdict.failure.reference, "bool")
    assert reproducer.reproduces("wrong:values", "", found), found.output


@pytest.mark.parametrize(
    "dtypes", [("float32", "int32"), ("float32", "int32", "float32"), ("int8", "float32", "uint8")]
)
def test_its_script_feeds_inputs_of_several_dtypes(runner: Runner, dtypes: tuple[str, ...]) -> None:
    names = [f"x{at}" for at in range(len(dtypes))]
    nodes = [helper.make_node("Cast", [name], [f"c{name}"], to=TensorProto.FLOAT) for name in names]
    nodes += [helper.make_node("Concat", [f"c{name}" for name in names], ["y"], axis=0)]
    given = {name: np.array([1, 2]).astype(dtype) for name, dtype in zip(names, dtypes, strict=True)}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), [2])
        for name, value in given.items()
    ]
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2 * len(names)])
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos, [made]), opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    case = Case("onnx", model.SerializeToString(), given, Origin("test"))
    found = rerun(case, run(runner, case), runner.run(case, catalogue.target("reference")), "float32")
    assert "PASS" in found.output, found.output


def test_its_script_fails_where_the_converter_writes_no_model(runner: Runner) -> None:
    case = node("Hardmax", [np.ones((2, 3), np.float32)], shape=[2, 3])
    found = rerun(case, run(runner, case), None, "float32")
    message = "These Op Not Support: ONNX::Hardmax"
    assert reproducer.reproduces("exception:builtins.RuntimeError", message, found), found.output


def rerun(case: Case, outcome: Outcome, known: Outcome | None, dtype: str) -> reproducer.Rerun:
    target = catalogue.target("mnn")
    reproduce = registry.backend("mnn").reproduce
    assert reproduce is not None
    snippet = reproduce("onnx", {}, [value.dtype.name for value in arrays(case)], [dtype])
    text = script.script(case, outcome, known, "", snippet)
    return reproducer.rerun(text, target.revision.python)


def arrays(case: Case) -> list[np.ndarray]:
    found: list[Value] = list(case.inputs.values())
    return [np.asarray(value) for value in found]


def test_warming_imports_it_without_what_installs_packages() -> None:
    script = "import sys, fuzz.backends.mnn as b; b.warm(); print(*sys.modules, sep='\\n')"
    python = catalogue.target("mnn").revision.python or sys.executable
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    imported = set(done.stdout.splitlines())
    assert {"_tools", "MNN.nn", "MNN.expr"} <= imported
    assert not {"MNN.tools", "torch"} & imported
