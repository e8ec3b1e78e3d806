"""A draft of an attribute that is ignored tells of its siblings that are ignored as well, and one report is enough."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import Condition, conditions
from triage.ignored_beside import KIND
from triage.twins import _ignored


def attention(**attributes: int) -> Case:
    """Attention over five keys, within a window."""
    rng = np.random.default_rng(5)
    sizes = {"q": (1, 1, 5, 2), "k": (1, 1, 5, 2), "v": (1, 1, 5, 1)}
    fed = {name: rng.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 5, 1])
    graph = helper.make_graph([helper.make_node("Attention", list(sizes), ["y"], **attributes)], "g", infos, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    return Case("onnx", model.SerializeToString(), fed, Origin("test", "attention"))


def conditions_of(case: Case, backend: str) -> list[Condition]:
    with Runner(jobs=1) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        failure = judge.examine(case, catalogue.target(backend)).failure
        assert failure is not None, "the compiler no longer has this bug: find another for the test"
        return list(conditions(judge, failure))


def test_the_other_side_of_a_window_is_told_where_it_is_ignored_as_well() -> None:
    """OpenVINO 2026.4 looks at neither."""
    pytest.importorskip("openvino")
    case = attention(left_window_size=0)
    found = conditions_of(case, "openvino")
    assert titles.subject(case, ["Attention"], found) == "Attention ignores left_window_size and right_window_size"
    [akin] = [one for one in found if one.kind == "ignored beside"]
    assert akin.sentence.startswith("With `right_window_size=0` in its place the result is wrong as well")


def test_an_attribute_about_the_other_sign_is_asked_about_on_the_other_sign() -> None:
    """TVM's IsInf looks at neither; of an input without -inf `detect_negative=0` changes nothing."""
    pytest.importorskip("tvm")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.BOOL, [3])
    graph = helper.make_graph([helper.make_node("IsInf", ["x"], ["y"], detect_positive=0)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    fed = {"x": np.array([np.inf, 1, 2], np.float32)}
    case = Case("onnx", model.SerializeToString(), fed, Origin("test", "isinf"))
    found = conditions_of(case, "tvm")
    subject = titles.subject(case, ["IsInf"], found)
    assert subject == "IsInf ignores detect_positive=0 and detect_negative"
    shown = " ".join((Path(__file__).parents[2] / "README.md").read_text().replace("\n> ", "\n").split())
    assert f"{subject}: returns" in shown  # the report that is shown
    [akin] = [one for one in found if one.kind == KIND]
    assert akin.sentence.startswith(
        "With `detect_negative=0` in its place and the opposites of the inputs the result is "
    )
    assert akin.sentence in shown


def test_titles_that_ignore_one_thing_in_common_are_known_by_it() -> None:
    both, one = "left_window_size=1 and right_window_size", "right_window_size=0"
    assert _ignored(both) & _ignored(one) == {"right_window_size"}
    assert not _ignored("antialias=1") & _ignored("exclude_outside=1") and not _ignored("")
