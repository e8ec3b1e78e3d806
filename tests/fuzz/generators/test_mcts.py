"""Graph-based models as cases of a hunt that is told what they did."""

import itertools
import json

import onnx
import pytest

from fuzz import generators
from fuzz.case import Case, Status
from fuzz.generators import mcts


def taken(stream, count):
    return list(itertools.islice(stream, count))


def test_without_results_a_seed_gives_the_same_cases():
    first, again, other = ([case.id for case in taken(mcts.cases(seed), 25)] for seed in (3, 3, 4))
    assert first == again
    assert len(set(first)) == 25 and len(set(first) & set(other)) < 3


def test_cases_have_values_for_every_input_of_the_declared_shape():
    for case in taken(mcts.cases(1), 25):
        assert isinstance(case, Case)
        model = onnx.load_from_string(case.model)
        assert list(case.inputs) == [each.name for each in model.graph.input]
        for each in model.graph.input:
            assert list(case.inputs[each.name].shape) == [dim.dim_value for dim in each.type.tensor_type.shape.dim]


def test_a_new_failure_is_rewarded_once_and_a_known_one_never():
    stream = mcts.stream(0, known={"old"})
    root = stream._fuzzer.chooser._tree.root
    cases = taken(iter(stream), 6)
    before = root.value
    stream.observe(cases[0].id, Status.OK)
    stream.observe(cases[0].id, Status.UNSUPPORTED)
    stream.observe(cases[1].id, Status.WRONG, "old")
    stream.observe("0123456789abcdef", Status.WRONG, "foreign")
    assert root.value == before
    stream.observe(cases[2].id, Status.WRONG, "new")
    assert root.value == before + 1
    stream.observe(cases[3].id, Status.EXCEPTION, "new")
    assert root.value == before + 1


def test_operators_whose_models_are_refused_promise_less():
    stream = mcts.stream(0)
    chooser = stream._fuzzer.chooser
    blocks = list(chooser._blocks.values())
    assert {chooser._succeeds(block) for block in blocks} == {1.0}
    for case in taken(iter(stream), 20):
        names = {node.op_type for node in onnx.load_from_string(case.model).graph.node}
        stream.observe(case.id, Status.UNSUPPORTED if "Conv" in names else Status.OK)
    success = {block.name: chooser._succeeds(block) for block in blocks}
    assert success["Conv"] < 0.7 and success["Conv"] == min(success.values())
    assert max(success.values()) > success["Conv"]


def test_one_failure_on_two_targets_is_not_one_that_is_seen_again():
    stream = mcts.stream(0)
    experience = stream._fuzzer.chooser._experience
    cases = taken(iter(stream), 3)
    for _ in range(2):
        stream.observe(cases[0].id, Status.WRONG, "k", ("Conv",))
    assert list(experience.state()["once"]) == ["k"]
    stream.observe(cases[1].id, Status.WRONG, "k", ("Conv",))
    assert not experience.state()["once"]


def test_a_campaign_begins_with_what_the_one_before_it_kept(tmp_path):
    kept = tmp_path / "h.db.mcts.json"
    first = mcts.stream(0)
    first.keep(kept)
    for at, case in enumerate(taken(iter(first), 64)):
        first.observe(case.id, Status.WRONG if at == 9 else Status.OK, "k" if at == 9 else "", ("Conv",))
    first.write()
    known = json.loads(json.dumps(first._fuzzer.state()))
    second = mcts.stream(1)
    second.keep(kept)
    assert json.loads(json.dumps(second._fuzzer.state())) == known
    assert second._fuzzer.chooser._tree.root.visits == 64
    fresh = [case.id for case in taken(iter(mcts.stream(1)), 20)]
    assert [case.id for case in taken(iter(second), 20)] != fresh


def test_what_is_no_search_of_ours_is_told_and_another_form_is_left_alone(tmp_path):
    kept = tmp_path / "h.db.mcts.json"
    for text in ("{", "[1]", '{"form": 1}', '{"form": 1, "coverage": {"Conv": 3}, "chooser": {}}'):
        kept.write_text(text)
        with pytest.raises(ValueError, match=r"h\.db\.mcts\.json: is not what the source mcts keeps.*remove it"):
            mcts.stream(0).keep(kept)
    kept.write_text('{"form": 0}')
    stream = mcts.stream(0)
    stream.keep(kept)
    assert len(taken(iter(stream), 3)) == 3


def test_an_interrupted_campaign_goes_on_with_other_models_to_the_same_end():
    whole, rest = mcts.stream(5), mcts.stream(5, begun=mcts.COUNT - 10)
    found = list(rest)
    assert len(found) == 10 and found[-1].origin.test == str(mcts.COUNT - 1)
    assert not {case.id for case in found} & {case.id for case in taken(iter(whole), 20)}


def test_a_source_says_whether_it_learns():
    assert generators.learns("mcts") and not generators.learns("isra")
    assert generators.stream("isra", 0, set(), 0) is None
    found = generators.stream("mcts", 0, set(), 0)
    assert found is not None and found.has_cases
