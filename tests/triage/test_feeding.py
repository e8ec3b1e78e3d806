"""What a reduced case is too small to tell of its inputs is asked of the tests that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions

PLANTED = str(Path(__file__).with_name("planted_relations.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def normalization(test: str, shape: Sequence[int], fed: Sequence[str]) -> Case:
    names = ["x", "s", "b", "m", "v"]
    channels = shape[1] if len(shape) > 1 else 1
    arrays = {name: np.ones(shape if name == "x" else channels, np.float32) for name in names}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, arrays[name].shape) for name in ("x", *fed)]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    held = [numpy_helper.from_array(arrays[name], name) for name in names[1:] if name not in fed]
    graph = helper.make_graph([helper.make_node("BatchNormalization", names, ["y"])], "g", infos, outs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {n: arrays[n] for n in ("x", *fed)}, Origin("test", test))


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("test_batchnorm", "BatchNormalization with non-constant scale, B, input_mean or input_var"),
        ("17", "BatchNormalization"),
    ],
)
def test_a_test_tells_which_inputs_may_be_no_constants(judge: Judge, test: str, told: str) -> None:
    """With a constant in its place, one dimension is refused for another reason; two are not."""
    reduced = normalization("", [3], ["v"])
    seen = normalization(test, [2, 3], ["s", "b", "m", "v"])
    failure = judge.examine(reduced, catalogue.target(PLANTED)).failure
    assert failure is not None and failure.symptom == "exception:ValueError"
    assert titles.subject(reduced, ["BatchNormalization"], conditions(judge, failure, seen=[seen])) == told
