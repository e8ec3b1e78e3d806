"""Algorithm 1: models one after the other, valid, each adding to the coverage; the tree search beside chance."""

import itertools
import json
import random
from dataclasses import replace

import numpy as np
import onnx
import pytest

from fuzz.backends._evaluator import Evaluator
from fuzz.coverage.operator_level import OperatorLevel
from fuzz.coverage.reading import nodes
from fuzz.generators.mcts import case
from fuzz.graphs import blocks
from fuzz.graphs.blocks import BlockError
from fuzz.graphs.choosers import Ended, Lesson, Site, TreeChooser
from fuzz.graphs.tree import Search
from fuzz.graphs.workflow import PATIENCE, Fuzzer, Settings
from fuzz.operators import dtypes
from fuzz.operators.growth import Limits
from fuzz.oracles import undefined

PAPER = blocks.load(blocks.PAPER)


def made(count, corpus=PAPER, seed=0, **settings):
    fuzzer = Fuzzer(corpus, Settings(**settings), seed)
    return fuzzer, [fuzzer.next() for _ in range(count)]


@pytest.mark.parametrize(("corpus", "opset", "count"), [("onnx", 26, 120), ("onnx", 17, 40), ("paper", 26, 60)])
def test_every_model_is_valid_and_computes_what_it_declares(corpus, opset, count):
    fuzzer = Fuzzer(blocks.load(corpus, opset), Settings(1, 12, opset=opset, ir_version=8, all_outputs=True), 5)
    finite = 0
    for index in range(count):
        found = fuzzer.next()
        model = onnx.load_from_string(found.model)
        onnx.checker.check_model(model, full_check=True)
        given = dict(case(found, 5, index).inputs)
        with np.errstate(all="ignore"):
            results = list(map(np.asarray, Evaluator(model).run(None, given)))
        for info, value in zip(model.graph.output, results, strict=True):
            kind = info.type.tensor_type
            sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
            assert len(sizes) == value.ndim
            assert all(size in (None, real) for size, real in zip(sizes, value.shape, strict=True))
            assert value.dtype == dtypes.numpy_dtype(kind.elem_type)
        named = given | {info.name: value for info, value in zip(model.graph.output, results, strict=True)}
        assert not undefined.violation("onnx", found.model, named)
        finite += all(np.isfinite(each.astype(np.float64)).all() for each in results if each.dtype.kind in "fV")
    assert finite >= 0.98 * count


def test_a_model_depends_on_the_seed_and_on_those_before_it():
    first, again, other = ([each.model for each in made(30, seed=seed)[1]] for seed in (3, 3, 4))
    assert first == again and first != other


def test_what_is_learnt_changes_what_comes():
    runs = []
    for failing in (False, True):
        fuzzer = Fuzzer(PAPER, Settings(6, 6), 1)
        models = []
        for index in range(80):
            found = fuzzer.next()
            models.append(found.model)
            if failing and index % 3 == 0:
                fuzzer.learn(found.number, Lesson(Ended.NEW, str(index)))
        runs.append(models)
    assert runs[0][0] == runs[1][0] and runs[0] != runs[1]


@pytest.mark.parametrize(("name", "attribute"), [("If", "else_branch"), ("Loop", "body"), ("Scan", "body")])
def test_bodies_are_made_of_operators_of_the_corpus_and_compute_what_they_declare(name, attribute):
    corpus = blocks.load().only({name, "Relu", "Add", "Tanh"})
    fuzzer = Fuzzer(corpus, Settings(2, 5, all_outputs=True), 3)
    inside = set()
    for index in range(25):
        found = fuzzer.next()
        model = onnx.load_from_string(found.model)
        onnx.checker.check_model(model, full_check=True)
        with np.errstate(all="ignore"):
            results = Evaluator(model).run(None, dict(case(found, 3, index).inputs))
        assert len(results) == len(model.graph.output)
        grown = [each for node in model.graph.node for each in node.attribute if each.name == attribute]
        inside |= {node.op_type for each in grown for node in each.g.node}
    assert {"Relu", "Add", "Tanh"} <= inside
    assert inside <= {name, "Relu", "Add", "Tanh", "Identity", "Where", "Less"}  # those that close a body


def test_every_model_adds_to_the_coverage_until_nothing_is_left():
    fuzzer, found = made(60, low=5, high=5)
    assert all(each.gain > 0 for each in found)
    counted = OperatorLevel(PAPER.degrees)
    for each in found:
        assert counted.add(nodes(onnx.load_from_string(each.model))) == pytest.approx(each.gain)
    assert counted.metrics() == fuzzer.coverage.metrics()


def test_a_campaign_goes_on_when_nothing_can_be_added():
    corpus = replace(PAPER.only({"Relu", "Tanh"}), shapes=((2,),))
    fuzzer = Fuzzer(corpus, Settings(1, 1, mutated=False, most_settings=1, limits=Limits(rank=1, length=2)), 0)
    found = [fuzzer.next() for _ in range(30)]
    assert found[-1].gain == 0 and found[-1].rejected == PATIENCE - 1


@pytest.mark.parametrize("count", [5, 10, 15])
def test_the_tree_search_covers_more_than_chance(count):
    """Of the same number of models; the paper's Table III has it ahead at each of these sizes."""
    searched, by_chance = (
        made(120, low=count, high=count, chooser=chooser)[0].coverage.metrics()["OLC"] for chooser in ("mcts", "random")
    )
    assert searched > by_chance + 0.005


def test_mutations_reach_what_graphs_alone_do_not():
    mutated, plain = (made(100, low=10, high=10, mutated=each)[0].coverage.metrics() for each in (True, False))
    assert mutated["SPC"] > plain["SPC"]


def test_both_graph_models_alone_give_models():
    for graph in ("ws", "rn"):
        assert all(each.nodes >= 8 for each in made(10, low=8, high=8, graphs=(graph,))[1])


def test_memory_does_not_grow_with_the_number_of_models():
    """What grows is what is covered, and the tree, which is bounded."""
    fuzzer, _ = made(150, corpus=PAPER.only({"Relu", "Add", "Concat", "Exp"}), low=3, high=6)
    chooser = fuzzer.chooser
    assert isinstance(chooser, TreeChooser)
    assert len(chooser._pending) <= 4096
    assert len(chooser._tree.root.children) <= 4 and chooser._tree.size <= Search.nodes
    assert all(len(seen.settings) <= 200 for seen in fuzzer.coverage._seen.values())


def test_expansion_takes_the_operator_of_lowest_coverage_that_is_not_on_the_path():
    coverage = OperatorLevel(PAPER.degrees)
    chooser = TreeChooser(PAPER, coverage, Search(depth=2))
    draw = random.Random(0)
    paths = []
    for _ in range(30):
        blocks_ = chooser.begin(10, draw)
        paths.append([block.name for block in blocks_])
        chooser.finish([], 0.01)
    assert all(len(set(path)) == len(path) <= 2 for path in paths)
    relu = onnx.helper.make_node("Relu", ["x"], ["y"])
    info = onnx.helper.make_tensor_value_info("x", 1, [2])
    graph = onnx.helper.make_graph([relu], "g", [info], [onnx.helper.make_empty_tensor_value_info("y")])
    coverage.add(nodes(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])))
    fresh = TreeChooser(PAPER, coverage, Search(depth=1, widening=1))
    chosen = set(
        itertools.chain.from_iterable(
            [b.name for b in fresh.begin(5, draw)] for _ in range(52) if not fresh.finish([], 0.01) < 0
        )
    )
    assert len(chosen) == len(PAPER.blocks) - 1 and "Relu" not in chosen


def test_what_lacks_an_edge_or_a_degree_is_picked_first():
    coverage = OperatorLevel(PAPER.degrees)
    chooser = TreeChooser(PAPER, coverage)
    draw = random.Random(0)
    chooser.begin(5, draw)
    by_name = {block.name: block for block in PAPER.blocks}
    relu, tanh = by_name["Relu"], by_name["Tanh"]
    model = [("Relu", "x", "a"), ("Relu", "a", "b"), ("Tanh", "x", "c"), ("Relu", "c", "d")]
    made_nodes = [onnx.helper.make_node(name, [source], [target]) for name, source, target in model]
    info = onnx.helper.make_tensor_value_info("x", 1, [2])
    ends = [onnx.helper.make_empty_tensor_value_info(name) for name in "bd"]
    graph = onnx.helper.make_graph(made_nodes, "g", [info], ends)
    coverage.add(nodes(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])))
    chooser.begin(5, draw)
    # Relu to Relu is there, Relu to Tanh is not; half of the blocks are chosen for failures, of which there are none.
    picked = [chooser.pick([relu, tanh], Site(("Relu",), 1), draw) for _ in range(40)]
    assert picked.count(tanh) > 25
    assert chooser.keep(tanh, ["Tanh", "Relu", "Tanh"], 1, draw) in ([0], [1], [2])


def test_operators_that_fail_in_new_ways_are_taken_more_often():
    def taken(ended):
        fuzzer = Fuzzer(PAPER, Settings(8, 8), 2)
        failures = 0
        for _ in range(60):
            found = fuzzer.next()
            names = {node.op_type for node in onnx.load_from_string(found.model).graph.node}
            failures += "Tile" in names
            kind = str(failures) if "Tile" in names else ""
            fuzzer.learn(found.number, Lesson(ended if kind else Ended.PASSED, kind, frozenset({"Tile"})))
        later = [onnx.load_from_string(fuzzer.next().model) for _ in range(40)]
        return sum(node.op_type == "Tile" for model in later for node in model.graph.node)

    assert taken(Ended.NEW) > 3 * taken(Ended.KNOWN)


def test_results_are_outputs_in_half_of_the_models():
    """Elsewhere what no output shows may be fused, and here a wrong result is not hidden by what reads it."""
    models = [onnx.load_from_string(each.model).graph for each in made(40, low=8, high=8)[1]]
    whole = [len(graph.output) >= len(graph.node) for graph in models]
    assert 10 <= sum(whole) <= 30
    assert all(len(graph.output) < len(graph.node) for graph, all_ in zip(models, whole, strict=True) if not all_)


def test_a_search_goes_on_where_another_one_stopped():
    first, _ = made(40, low=6, high=6, seed=3)
    for number in range(1, 20):
        first.learn(number, Lesson(Ended.NEW, f"kind {number % 5}", frozenset({"Conv"})))
    state = json.loads(json.dumps(first.state()))
    other = Fuzzer(PAPER, Settings(6, 6), 4)
    other.restore(state)
    assert json.loads(json.dumps(other.state())) == state
    assert other.coverage.metrics() == first.coverage.metrics()
    fewer = PAPER.only({"Conv", "Relu"})
    less = Fuzzer(fewer, Settings(6, 6), 4)
    less.restore(state)
    assert less.next().nodes and less.coverage.operator("Conv")["OTC"] == 1


def test_an_opset_without_what_makes_tensors_fit_is_told():
    with pytest.raises(BlockError, match="graph-based models need opset 12 or newer, not 11"):
        Fuzzer(blocks.load(opset=11), Settings(opset=11), 0)
