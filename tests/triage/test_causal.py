"""Two failures of one signature are two bugs when each needs something that the other does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import causal, hunt, pipeline
from triage.causal import Needs
from triage.localize.trial import Trial
from triage.signing import Signer
from triage.steps import reducing
from triage.steps.desk import Desk
from triage.store import open_store
from triage.submodel import load
from triage.trials import Answer

OPTIONS = catalogue.target(str(Path(__file__).with_name("planted_options.py")))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def call_of(api: str, *args: str, **kwargs: object) -> Case:
    tensor = '{"dtype": "float32", "shape": [3], "values": [1.0, 2.0, 4.0]}'
    text = f'{{"api": "{api}", "args": [{", ".join((tensor, *args))}], "kwargs": {json.dumps(kwargs)}}}'
    return Case("instance", text.encode(), {}, Origin("test"))


def test_a_call_needs_what_is_given_by_name_alone_and_is_wrong_with_it(judge: Judge) -> None:
    """Reduced without it, the call would show what the compiler does wrong where nothing is given, another bug."""
    planted = catalogue.target(str(Path(__file__).with_name("planted_calls.py")))
    failure = judge.examine(call_of("torch.var", "0", correction=1.5, keepdim=True), planted).failure
    assert failure is not None
    correction = frozenset(("correction",))
    assert causal.needs(Trial(judge, failure)) == Needs(frozenset(("correction", "keepdim")), correction, correction)
    assert causal.holds(judge, failure.case, planted, correction)
    assert not causal.holds(judge, failure.case, planted, frozenset(("keepdim",)))


def argmax(data: np.ndarray, **attributes: Any) -> Case:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(data.shape))
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [None] * data.ndim)
    graph = helper.make_graph([helper.make_node("ArgMax", ["x"], ["y"], **attributes)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("test", "argmax " + " ".join(attributes)))


def clip() -> Case:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    bounds = [numpy_helper.from_array(np.float32(at), name) for name, at in (("low", 0), ("high", 9))]
    graph = helper.make_graph(
        [helper.make_node("Clip", ["x", "low", "high"], ["y"])], "g", infos[:1], infos[1:], bounds
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": np.float32([1, 2])}, Origin("test"))


DATA = np.float32([[3, 1, 2], [1, 5, 4]])


def needs(judge: Judge, case: Case) -> Needs:
    failure = judge.examine(case, OPTIONS).failure
    assert failure is not None
    return causal.needs(Trial(judge, failure))


@pytest.mark.parametrize(
    ("attributes", "needed"),
    [
        ({"select_last_index": 1}, {"select_last_index"}),
        ({"axis": 1}, {"axis"}),
        ({"axis": 1, "select_last_index": 1}, set()),  # either suffices, so neither is needed
    ],
)
def test_needed_is_what_the_failure_goes_away_without(
    judge: Judge, attributes: dict[str, int], needed: set[str]
) -> None:
    assert needs(judge, argmax(DATA, **attributes)) == Needs(frozenset(attributes), frozenset(needed))


def test_optional_inputs_are_options_too(judge: Judge) -> None:
    assert needs(judge, clip()) == Needs(frozenset({"input min", "input max"}), frozenset({"input max"}))


def parted(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return Needs(*(frozenset(part.split()) for part in one)).parts_from(
        Needs(*(frozenset(part.split()) for part in other))
    )


def test_only_needs_on_both_sides_make_two_bugs() -> None:
    """Whatever proves less leaves them one: a duplicate is worse than a report that covers two."""
    assert parted(("a", "a"), ("b", "b"))
    assert not parted(("a", "a"), ("", ""))
    assert not parted(("a", "a"), ("a b", "b"))  # the other has a as well: who knows
    assert not parted(("a b", "a b"), ("b", "b"))
    assert not parted(("", ""), ("", ""))
    assert parted(("antialias", "antialias"), ("mode exclude_outside", "exclude_outside"))


def test_options_of_one_family_make_no_two_bugs() -> None:
    """TVM 0.27 ignores both options of IsInf: that is one mistake."""
    one, other = frozenset({"detect_positive"}), frozenset({"detect_negative"})
    assert not Needs(one, one).parts_from(Needs(other, other))
    assert not Needs(one, one, one).parts_from(Needs(other, other, other)), "not looked at, either of them"
    assert Needs(one, one, one).parts_from(Needs(other)), "that one shows without the ignored option"


def test_the_others_are_grouped_by_what_they_need() -> None:
    def of(*names: str) -> Needs:
        return Needs(frozenset(names), frozenset(names))

    others = {1: of("a"), 2: of("b"), 3: of("c"), 4: of("b"), 5: of("a", "b"), 6: of()}
    assert causal.partition(of("a"), others) == [[2, 4], [3]]


def cast_like(op_type: str = "CastLike", opset: int = 19) -> Case:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    t, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT8E5M2, [2]) for name in ("t", "y"))
    node = (
        helper.make_node("CastLike", ["x", "t"], ["y"])
        if op_type == "CastLike"
        else helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E5M2)
    )
    given = [x, t] if op_type == "CastLike" else [x]
    model = helper.make_model(
        helper.make_graph([node], "g", given, [y]), opset_imports=[helper.make_opsetid("", opset)], ir_version=9
    )
    data = {"x": np.float32([np.nan, 70000]), "t": np.zeros(2, ml_dtypes.float8_e5m2)}
    return Case("onnx", model.SerializeToString(), {info.name: data[info.name] for info in given}, Origin("test"))


def test_what_an_operator_is_by_definition_is_taken_from_its_schema() -> None:
    found = causal.definition(cast_like())
    assert found is not None and set(found.inputs) == {"x"}
    assert [node.op_type for node in load(found).graph.node] == ["Cast"]
    assert causal.definition(found) is None and causal.definition(clip()) is None
    assert causal.definition(argmax(DATA)) is None


def test_a_bug_of_cast_is_casts_whichever_operator_shows_it(judge: Judge) -> None:
    """TVM 0.27 converts to float8 wrongly."""
    failure = judge.examine(cast_like(), catalogue.target("tvm")).failure
    assert failure is not None
    found = causal.by_definition(judge, failure)
    assert found is not None and [node.op_type for node in load(found.case).graph.node] == ["Cast"]
    signer = Signer(judge.runner)
    direct = judge.examine(cast_like("Cast"), catalogue.target("tvm")).failure
    assert direct is not None and signer.sign(found).fingerprint == signer.sign(direct).fingerprint


def test_an_operator_whose_definition_works_keeps_its_bug(judge: Judge) -> None:
    failure = judge.examine(clip(), OPTIONS).failure
    assert failure is not None and causal.by_definition(judge, failure) is None


def test_a_bug_that_is_two_is_parted_once_it_is_located(judge: Judge, tmp_path: Path) -> None:
    cases = [argmax(DATA, select_last_index=1), argmax(DATA, axis=1), argmax(DATA * 2, axis=1)]
    with open_store(tmp_path / "hunt.db", create=True) as store:
        desk = Desk(store, judge.runner, judge.reference, tmp_path / "reports")
        campaign = store.begin_campaign({"test": 1})
        hunt.hunt(store, campaign, cases, [OPTIONS], desk.reference, desk.runner, Policy())
        [bug] = store.bugs()
        assert bug.count == 3
        pipeline.advance_all(desk, [bug])
        counts = {tuple(sorted({origin.test for origin in store.origins(bug.id)})): bug.count for bug in store.bugs()}
        assert counts == {("argmax select_last_index",): 1, ("argmax axis",): 2}
        parted = store.bugs()[-1]
        assert parted.id != bug.id and parted.state not in ("new", "confirmed")  # it went through the same steps
        # The next hunt finds the same cases again and keeps them apart.
        hunt.hunt(store, store.begin_campaign({"test": 2}), cases, [OPTIONS], desk.reference, desk.runner, Policy())
        assert sorted(bug.count for bug in store.bugs()) == [1, 2]


def test_an_ignored_option_is_no_part_of_a_bug_that_shows_without_it(judge: Judge, tmp_path: Path) -> None:
    """The first failure holds both bugs; what its report is about is what is left of it once it is reduced."""
    target = catalogue.target(str(Path(__file__).with_name("planted_ignoring.py")))
    rows = np.float32([[1, 2, 0], [1, 2, 0], [1, 2, 0]])
    cases = [
        argmax(rows, select_last_index=1, axis=1),  # wrong for its rows alone: no value occurs twice
        argmax(np.float32([[1, 1], [2, 0]]), axis=1, select_last_index=1),
        argmax(rows + 1, axis=1),
    ]
    with open_store(tmp_path / "hunt.db", create=True) as store:
        desk = Desk(store, judge.runner, judge.reference, tmp_path / "reports")
        hunt.hunt(store, store.begin_campaign({"test": 1}), cases, [target], desk.reference, desk.runner, Policy())
        [bug] = store.bugs()
        assert bug.count == 3
        pipeline.advance_all(desk, [bug])
        tests = {tuple(sorted({origin.test for origin in store.origins(one.id)})) for one in store.bugs()}
        assert ("argmax axis select_last_index",) in tests and len(tests) == 2


def test_what_later_parts_break_is_another_bug_than_what_fails_without_them() -> None:
    assert Needs(early=True).parts_from(Needs(early=False)) and not Needs(early=True).parts_from(Needs(early=None))
    told = causal.why(Needs(early=True), Needs(early=False))
    assert told == "it passes once the compiler's later parts are left out, and the other fails all the same"


def test_openvinos_interpreter_tells_two_bugs_of_one_converter_apart() -> None:
    """Of nothing ReduceMax gives the least float32 in either; ReduceMin is spoiled behind the frontend (2026.4)."""
    pytest.importorskip("openvino")
    found = {}
    with Runner(Limits(seconds=600), jobs=1) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        for name in ("ReduceMax", "ReduceMin"):
            text = (
                f'<ir_version: 9, opset_import: ["": 20]> g (float[2, 0] x) => (float[2, 1] y) <int64[1] a = {{1}}>'
                f" {{ y = {name} (x, a) }}"
            )
            case = Case(
                "onnx",
                parser.parse_model(text).SerializeToString(),
                {"x": np.zeros((2, 0), np.float32)},
                Origin("t"),
            )
            failure = judge.examine(case, catalogue.target("openvino")).failure
            assert failure is not None, "the compiler no longer has this bug: find another for the test"
            found[name] = causal.needs(Trial(judge, failure)).early
    assert found == {"ReduceMax": True, "ReduceMin": False}


def test_what_passes_without_the_later_parts_by_its_values_alone_is_no_bug_of_theirs() -> None:
    """Of 0-D tensors OpenVINO's nonzero gives a position too many; of a zero its interpreter happens to be right."""
    pytest.importorskip("openvino")
    found = {}
    with Runner(Limits(seconds=600), jobs=1) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        for number in (0.0, 1.0):
            scalar = {"dtype": "float32", "shape": [], "values": [number]}
            call = {"library": "torch", "api": "torch.nonzero", "args": [{"tensor": 0}], "tensors": [scalar]}
            case = Case("instance", json.dumps(call).encode(), {}, Origin("t"))
            failure = judge.examine(case, catalogue.target("openvino")).failure
            assert failure is not None, "the compiler no longer has this bug: find another for the test"
            found[number] = causal.needs(Trial(judge, failure))
    assert found[0.0].early is found[1.0].early is True and causal.partition(found[1.0], {0: found[0.0]}) == []


# ---------------------------------------------------------------- options that a compiler does not look at


def test_an_option_without_which_the_wrong_bits_stay_is_ignored() -> None:
    of = Needs(frozenset({"antialias"}), frozenset({"antialias"}), frozenset({"antialias"}))
    lacks, has = Needs(), Needs(frozenset({"antialias", "mode"}))
    assert lacks.parts_from(of) and of.parts_from(lacks) and not has.parts_from(of)
    assert causal.partition(of, {1: lacks, 2: has, 3: Needs(known=False)}) == [[1]]
    assert causal.why(of, lacks) == "it has no antialias, which is all that the other fails to look at"
    assert causal.why(lacks, of) == "the compiler does not look at antialias, which the other has not"


def test_what_a_compiler_ignores_is_seen_by_its_result(judge: Judge) -> None:
    pytest.importorskip("tvm")
    node = helper.make_node("IsInf", ["x"], ["y"], detect_positive=0)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.BOOL, [2])]
    graph = helper.make_graph([node], "g", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([np.inf, 1])}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    assert causal.needs(Trial(judge, failure)).ignored == {"detect_positive"}


def test_a_reduced_case_shows_no_second_bug_beside_the_one_that_needs_an_option(judge: Judge) -> None:
    """ArgMax is wrong with either option here, so a case with both says nothing of one of them."""
    one, both = argmax(DATA, axis=1), argmax(DATA, axis=1, select_last_index=1)
    assert causal.holds(judge, one, OPTIONS, frozenset({"axis"}))
    assert not causal.holds(judge, both, OPTIONS, frozenset({"axis"}))
    failure = judge.examine(one, OPTIONS).failure
    assert failure is not None
    last_word = reducing.as_steady(judge, failure, lambda case: Answer.SAME, frozenset({"axis"}))
    assert (last_word(one), last_word(both)) == (Answer.SAME, Answer.OTHER)
