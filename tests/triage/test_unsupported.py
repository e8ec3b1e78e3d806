"""Of a model on which OpenVINO dies it is told which operator it knows nothing of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue, registry
from fuzz.case import Case, Failure, Origin, Outcome, Stage, Status
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import report, reproducer
from triage.conditions import conditions
from triage.facts import Facts
from triage.regression import regressions
from triage.unsupported import KIND


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def test_what_is_refused_alone_is_told_of_a_model_on_which_the_compiler_dies(judge: Judge) -> None:
    pytest.importorskip("openvino")
    nodes = [
        helper.make_node("MaxUnpool", ["x", "places"], ["larger"], kernel_shape=[3, 2]),
        helper.make_node("Clip", ["larger", "low"], ["y"]),
    ]
    fed = {"x": np.array([[[[1]], [[2]]]], np.float32), "low": np.array(1, np.float32)}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in fed.items()]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3, 2])]
    places = numpy_helper.from_array(np.array([[[[3]], [[7]]]]), "places")
    graph = helper.make_graph(nodes, "g", infos, outs, [places])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    [told] = [one for one in conditions(judge, failure) if one.kind == KIND]
    facts = Facts(
        *(case, failure.target, failure.outcome, failure.reference, failure.symptom, failure.detail, "f"),
        snippet=registry.backend("openvino").reproduce("onnx", {}, ["float32"] * 2, ["float32"]),  # type: ignore[misc]
        conditions=(told,),
    )
    written = report.draft(facts)
    assert "once the compiler takes the model, or refuses it with an error" in written.body
    assert reproducer.reproduces(failure.symptom, "", reproducer.rerun(written.script))
    assert told.text == "MaxUnpool" and told.sentence.startswith("By itself MaxUnpool is refused as not supported")


def test_what_is_refused_alone_may_be_refused_once_the_bug_is_gone() -> None:
    """MaxUnpool alone stands for the model on which the compiler does not die any more."""
    pytest.importorskip("openvino")
    node = helper.make_node("MaxUnpool", ["x", "places"], ["y"], kernel_shape=[3, 2])
    fed = {"x": np.array([[[[1]], [[2]]]], np.float32)}
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 1, 1])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3, 2])]
    places = numpy_helper.from_array(np.array([[[[3]], [[7]]]]), "places")
    model = helper.make_model(helper.make_graph([node], "g", infos, outs, [places]), ir_version=10)
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    target, died = catalogue.target("openvino"), Outcome(Status.SIGNAL, Stage.CONVERT)
    right = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.zeros((1, 2, 3, 2), np.float32)),))
    failure = Failure(case, target, died, right, "crash", "crash:SIGSEGV", "")
    snippet = registry.backend("openvino").reproduce("onnx", {}, ["float32"], ["float32"])  # type: ignore[misc]
    parts = case, failure.outcome, failure.reference, failure.symptom, snippet, "MaxUnpool"
    for refused, status in ((["MaxUnpool"], 0), ([], 1)):
        [test] = regressions("openvino", *parts, refused=refused)
        found = reproducer.rerun(test.code, runner=test.runner)
        assert found.status == status, found.output
