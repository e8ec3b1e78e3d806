"""Values and pairs of values: what counts as new, what is avoided, and that a search shows more of them than chance."""

import copy
import itertools
import json
import random

import onnx
import pytest

from fuzz.coverage.operator_level import OperatorLevel
from fuzz.graphs import blocks, pairwise
from fuzz.graphs.choosers import Ended, Lesson, RandomChooser, TreeChooser
from fuzz.graphs.drafting import Drafting
from fuzz.graphs.pairwise import MOST, Pairwise
from fuzz.graphs.wiring import Wiring, variant
from fuzz.graphs.workflow import Fuzzer, Settings, _settle
from fuzz.operators import encoding
from fuzz.operators.dtypes import FLOAT, INT64
from fuzz.operators.families import OPSET, operators
from fuzz.operators.growth import Infeasible

PAPER = blocks.load(blocks.PAPER)
A, B, C, D = (1, 2, 3, 4)


def test_new_are_values_and_pairs_that_the_operator_itself_has_not_shown():
    shown = Pairwise()
    assert shown.worth("Pad", (A, B, C)) == 3 + 3
    shown.show("Pad", (A, B, C))
    assert shown.worth("Pad", (C, A, B, A)) == 0
    assert shown.worth("Pad", (A, D)) == 2  # D, and A with D
    assert shown.worth("Tile", (A, B, C)) == 6
    assert shown.count() == 6


def test_two_values_that_were_shown_apart_are_a_new_pair():
    shown = Pairwise()
    shown.show("Pad", (A, B))
    shown.show("Pad", (C, D))
    assert shown.worth("Pad", (A, C)) == 1


def test_what_no_model_has_survived_is_worth_less_than_what_is_not_new():
    shown = Pairwise()
    shown.show("Pad", (A, B))
    shown.show("Pad", (A, C))
    for _ in range(3):
        shown.ended("Pad", (A, B), taken=False)
    shown.ended("Pad", (A, C), taken=True)
    assert shown.worth("Pad", (A, C)) == 0  # A was taken once
    assert shown.worth("Pad", (A, B)) < 0
    assert shown.worth("Pad", (B, D)) < 0  # the new D does not make up for B


def test_two_failures_condemn_nothing_and_one_pass_pardons():
    shown = Pairwise()
    shown.show("Pad", (A,))
    for _ in range(2):
        shown.ended("Pad", (A,), taken=False)
    assert shown.worth("Pad", (A,)) == 0
    shown.ended("Pad", (A,), taken=False)
    assert shown.worth("Pad", (A,)) < 0
    shown.ended("Pad", (A,), taken=True)
    assert shown.worth("Pad", (A,)) == 0


def test_a_value_that_passes_seldom_is_avoided_all_the_same():
    """Else one lucky model pardons a value for good that hides what the others of its models would show."""
    shown = Pairwise()
    shown.show("Pad", (A, B))
    shown.ended("Pad", (A,), taken=True)
    for failures in range(1, 9):
        shown.ended("Pad", (A,), taken=False)
        assert (shown.worth("Pad", (A,)) < 0) == (failures >= 7)
    shown.ended("Pad", (A,), taken=True)
    assert shown.worth("Pad", (A,)) == 0


def test_what_a_compiler_took_for_long_may_come_to_be_avoided():
    shown = Pairwise()
    shown.show("Pad", (A,))
    for _ in range(10_000):
        shown.ended("Pad", (A,), taken=True)
    for _ in range(500):
        shown.ended("Pad", (A,), taken=False)
    assert shown.worth("Pad", (A,)) < 0


@pytest.mark.parametrize(("suspects", "avoided"), [({"Pad"}, ["Pad"]), (set(), ["Pad", "Relu"])])
def test_a_failure_counts_against_the_values_of_its_suspects_alone(suspects, avoided):
    """An innocent value that is rare is not avoided for having been near; where none is suspected, all are."""
    chooser, draw = TreeChooser(PAPER, OperatorLevel(PAPER.degrees)), random.Random(0)
    for at in range(4):
        chooser.begin(2, draw)
        chooser.settle("Pad", (A,))
        chooser.settle("Relu", (B,))
        number = chooser.finish(["Pad", "Relu"], 0.1)
        chooser.learn(number, Lesson(Ended.KNOWN if at else Ended.NEW, "kind", frozenset(suspects)))
    worth = {"Pad": chooser.pairwise.worth("Pad", (A,)), "Relu": chooser.pairwise.worth("Relu", (B,))}
    assert [name for name, each in worth.items() if each < 0] == avoided


def test_enough_is_what_the_last_nodes_were_worth():
    shown = Pairwise()
    assert not shown.enough("Pad", 6)  # before the first node nothing is
    shown.show("Pad", (A, B, C))
    assert shown.enough("Pad", 6) and not shown.enough("Pad", 5)
    for _ in range(40):
        shown.show("Pad", (A, B, C))
    assert shown.enough("Pad", 0) and not shown.enough("Pad", -1)


def test_an_operator_lacks_less_the_less_that_is_new_its_last_nodes_showed():
    shown = Pairwise()
    assert shown.lacking("Relu") == shown.lacking("Conv") == 1
    for at in range(20):
        shown.show("Relu", (A, B))
        shown.show("Conv", (at, at + 100, at + 200))
    assert shown.lacking("Relu") < 0.2 and shown.lacking("Conv") > 0.9


def test_memory_is_bounded_and_what_does_not_fit_is_not_new():
    shown = Pairwise()
    for first in range(0, 400, 10):
        shown.show("Pad", tuple(range(first, first + 10)))
    assert shown.count() <= MOST
    assert shown.worth("Pad", (10_000, 10_001)) == (0 if shown.count() == MOST else 3)
    shown.show("Pad", tuple(range(20_000, 20_100)))
    assert shown.count() == MOST and shown.worth("Pad", (10_000, 10_001)) == 0


def test_what_was_shown_is_kept_as_json():
    shown, again = Pairwise(), Pairwise()
    shown.show("Pad", (A, B))
    for _ in range(3):
        shown.ended("Pad", (A, B), taken=False)
    state = json.loads(json.dumps(shown.state()))
    again.restore({name: {int(key): results for key, results in each.items()} for name, each in state.items()})
    assert again.worth("Pad", (A, B)) == shown.worth("Pad", (A, B)) < 0
    assert again.worth("Pad", (C,)) == 1
    assert json.loads(json.dumps(again.state())) == state


def attributes(**given):
    return pairwise.of_attributes(b"".join(encoding.attribute(name, value) for name, value in given.items()))


def test_attributes_are_told_apart_by_value_and_lists_by_length_and_signs():
    assert attributes(mode="wrap") != attributes(mode="edge")
    assert attributes(axis=-1) != attributes(axis=1)
    assert attributes(axis=100) == attributes(axis=200)
    assert attributes(pads=(0, 1, 0, 2)) == attributes(pads=(0, 3, 0, 1))
    assert attributes(pads=(0, 1, 0, 2)) != attributes(pads=(0, 1, 0, -2))
    assert attributes(pads=(2, 2)) != attributes(pads=(2, 3))
    assert attributes() == ()


def test_constants_that_steer_a_node_are_values_and_the_elements_of_weights_are_not():
    def axes(*values):
        return pairwise.of_constant(1, encoding.integer_tensor(values, (len(values),)))

    assert axes(0) != axes(1) != axes(-1)
    assert axes(0, 1) != axes(0, 1, 2)
    assert pairwise.of_weight(1, FLOAT) != pairwise.of_weight(1, INT64)


def test_empty_and_scalar_constants_have_values_too():
    assert pairwise.of_constant(1, encoding.integer_tensor((), (0,)))
    assert pairwise.of_constant(1, encoding.integer_tensor((3,), ()))


# ---- drafts


def grown(seed, names, drafts):
    """A model of these operators in a row; of each so many drafts are made and taken back, and the first is kept."""
    draw = random.Random(seed)
    growth = Wiring(draw, (FLOAT,), OPSET, (1, 4, 5, 5))
    for name in names:
        wires, mark = growth.results[:1], growth.mark()
        assert growth.add(variant(operators()[name], 1, True), wires, 1)
        first, state = growth.cut(mark), draw.getstate()
        for _ in range(drafts):
            growth.add(variant(operators()[name], 1, True), wires, 1)
            growth.cut(mark)
        draw.setstate(state)
        growth.append(first)
    return growth


NAMES = ("Conv", "TopK", "Split", "Pad", "Resize", "Cast", "Shape", "NonZero", "If", "Loop", "Gather")


@pytest.mark.parametrize("seed", range(5))
def test_drafts_that_are_taken_back_leave_nothing_behind(seed):
    plain, drafted = (grown(seed, NAMES, count) for count in (0, 3))
    assert drafted.model(OPSET, 8) == plain.model(OPSET, 8)
    assert drafted.inputs() == plain.inputs() and drafted.values() == plain.values()
    for slot in ("pool", "steering", "shape", "_unknown", "_given", "_used", "_contents", "results"):
        assert getattr(drafted, slot) == getattr(plain, slot), slot


def test_a_model_without_drafts_is_as_before():
    assert issubclass(Wiring, Drafting)
    one = Wiring(random.Random(3), (FLOAT,), OPSET)
    mark = one.mark()
    assert not any(one.cut(mark).lists) and one.count == 0


@pytest.mark.parametrize("failing", [(1, 2), (2, 3), (1, 2, 3)])
def test_drafts_that_cannot_be_grown_are_left_out(failing):
    """One node after another of which some drafts come to nothing; the model is valid, and lacks at most a node."""
    operator = copy.copy(variant(operators()["Conv"], 1, True))
    grow, calls = operator.grow, itertools.count(1)

    def sometimes(g, op):
        g.placeholder(FLOAT, (2, 2), 0, 1)
        if (next(calls) - 1) % 3 + 1 in failing:
            raise Infeasible("for the test")
        grow(g, op)

    operator.grow = sometimes
    growth = Wiring(random.Random(0), (FLOAT,), OPSET, (1, 4, 5, 5))
    chooser = TreeChooser(PAPER, OperatorLevel(PAPER.degrees))
    chooser.pairwise.enough = lambda operator, worth: False
    for _ in range(4):
        _settle(growth, operator, growth.results[:1], 1, chooser)
    assert growth.count >= (0 if len(failing) == 3 else 4)
    assert bool(growth.results) == (len(failing) < 3)
    if growth.count:
        onnx.checker.check_model(onnx.load_from_string(growth.model(OPSET, 8)), full_check=True)


# ---- campaigns


class Counting(RandomChooser):
    """Chance, its values and pairs counted: of two drafts that are worth the same the first is taken."""

    drafts = 2

    def __init__(self):
        self.pairwise = Pairwise()

    def enough(self, operator, worth):
        return False

    def settle(self, operator, values):
        self.pairwise.show(operator, values)


@pytest.mark.parametrize("count", [5, 10])
def test_the_search_shows_more_values_and_pairs_than_chance_in_as_many_models(count):
    by_chance, searched = (Fuzzer(PAPER, Settings(count, count, chooser=name), 1) for name in ("random", "mcts"))
    by_chance.chooser = Counting()
    for _ in range(120):
        by_chance.next()
        searched.next()
    assert searched.chooser.pairwise.count() > 1.05 * by_chance.chooser.pairwise.count()


def test_blocks_that_may_still_show_something_are_picked_before_those_that_have_shown_all():
    """Half of the blocks are chosen for failures, and these so."""
    chooser = TreeChooser(PAPER, OperatorLevel(PAPER.degrees))
    draw = random.Random(0)
    chooser.begin(5, draw)
    relu, resize = (next(block for block in PAPER.blocks if block.name == name) for name in ("Relu", "Resize"))
    for at in range(40):
        chooser.pairwise.show("Relu", (A, B))
        chooser.pairwise.show("Resize", (at, at + 100))
    rates = [[chooser._risk(block, draw) for _ in range(200)] for block in (relu, resize)]
    assert sum(rates[1]) > 5 * sum(rates[0]) > 0


def test_a_value_that_is_always_refused_comes_less_often():
    """Pad's mode wrap, which OpenVINO refuses: a refused model shows nothing of its other operators."""

    def wrapped(told):
        fuzzer = Fuzzer(PAPER.only({"Pad", "Relu", "Add"}), Settings(4, 4), 5)
        found = []
        for _ in range(250):
            made = fuzzer.next()
            modes = [each.s for node in onnx.load_from_string(made.model).graph.node for each in node.attribute]
            found.append(b"wrap" in modes)
            fuzzer.learn(made.number, Lesson(Ended.REFUSED if told and found[-1] else Ended.PASSED))
        return sum(found[100:])

    assert 3 * wrapped(True) < wrapped(False)
