"""The workflow of graph-based fuzzing (section III-C, algorithm 1): one model after the other.

A chooser chooses blocks, a random graph and mutations say how they hang together, the calculator makes them a model.
A model that adds nothing to the operator-level coverage is discarded.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx

from fuzz.coverage.operator_level import MOST_SETTINGS, OperatorLevel
from fuzz.coverage.reading import nodes
from fuzz.graphs import digraphs, kept, mutations, placing
from fuzz.graphs.adapting import OLDEST
from fuzz.graphs.blocks import BlockError, Corpus
from fuzz.graphs.choosers import Chooser, Lesson, RandomChooser, TreeChooser
from fuzz.graphs.digraphs import Digraph
from fuzz.graphs.drafting import End
from fuzz.graphs.mutations import Mutations
from fuzz.graphs.placing import Unit
from fuzz.graphs.tree import Search
from fuzz.graphs.wiring import Wiring, variant
from fuzz.operators.dtypes import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from fuzz.operators.families import IR_VERSION, OPSET, operators
from fuzz.operators.growth import GraphInput, Limits
from fuzz.operators.shapes import Shape
from fuzz.operators.specification import Operator

#: Neighbours k of both graph models, and their probabilities (section IV-B).
_NEIGHBOURS, _REWIRED, _SHORTCUT = (2, 4, 6), 0.5, 0.9
#: The share of a model's blocks that a path of the tree gives, at most: what is left, the simulation adds.
_PATH = 1 / 3
#: So many models in a row may be discarded before one is taken that adds nothing: a campaign has no other end.
PATIENCE = 20
#: Inputs are floats in most models, and of two dtypes in the others.
_FLOAT_ONLY = 0.75
_OTHERS = (FLOAT, DOUBLE, FLOAT16, INT64, INT32, UINT8, INT8, BOOL)
#: In so many models every result is an output: a wrong one in the middle shows only where nothing behind it hides it.
#: In the others compilers may fuse what no output shows.
_OBSERVED = 0.5
_LIMITS = Limits()
#: The graph models by their names.
GRAPHS = ("rn", "ws")


@dataclass(frozen=True)
class Settings:
    """One strategy: how many blocks a model has, graph models, whether mutations act, the chooser, n_maxspc.

    `limits` bound the rank and length of new tensors. `all_outputs`: every result is an output.
    """

    low: int = 5
    high: int = 15
    graphs: tuple[str, ...] = GRAPHS
    mutated: bool = True
    chooser: str = "mcts"
    most_settings: int = MOST_SETTINGS
    opset: int = OPSET
    ir_version: int = IR_VERSION
    limits: Limits = _LIMITS
    all_outputs: bool = False


@dataclass(frozen=True)
class Made:
    """A model: its bytes, its graph inputs, its operators, and the discarded ones before it.

    `number` is what the chooser learns by, `gain` what the coverage grew by.
    """

    model: bytes
    inputs: tuple[GraphInput, ...]
    nodes: int
    rejected: int
    number: int
    gain: float


class Fuzzer:
    """Makes models until nobody wants more. Everything depends on the seed and on what it is told (`learn`)."""

    def __init__(self, corpus: Corpus, settings: Settings, seed: int) -> None:
        """Raises BlockError for an opset without the nodes that make tensors fit."""
        if settings.opset < OLDEST:
            raise BlockError(
                f"graph-based models need opset {OLDEST} or newer, not {settings.opset}: Clip, Pad and Slice"
            )
        self.corpus, self.settings, self._seed = corpus, settings, seed
        self.coverage = OperatorLevel(corpus.degrees, most_settings=settings.most_settings)
        search = Search(depth=max(1, min(Search.depth, round(settings.high * _PATH))))
        searching = settings.chooser == "mcts"
        self.chooser: Chooser = TreeChooser(corpus, self.coverage, search) if searching else RandomChooser()
        table = operators(settings.opset)
        self._inner = tuple(table[name] for name in sorted(corpus.degrees) if name in table)
        self._attempts = 0

    def next(self) -> Made:
        """The next model that adds to the coverage, or the last of `PATIENCE` that do not.

        Raises BlockError where no block can be grown within the limits.
        """
        for rejected in range(PATIENCE):
            made = self._attempt(rejected)
            if made.gain:
                return made
        if not made.nodes:
            raise BlockError("no block of the corpus has inputs within rank and length; allow more of them")
        return made

    def _attempt(self, rejected: int) -> Made:
        """One model, whatever it adds."""
        draw = random.Random(self._seed << 40 | self._attempts)
        self._attempts += 1
        growth, settings = self._grown(draw), self.settings
        observed = settings.all_outputs or draw.random() < _OBSERVED
        model = growth.model(settings.opset, settings.ir_version, all_outputs=observed)
        found = nodes(onnx.load_from_string(model))
        gain = self.coverage.add(found)
        number = self.chooser.finish([node.op_type for node in found], gain)
        return Made(model, tuple(growth.inputs()), growth.count, rejected, number, gain)

    def skip(self, models: int) -> None:
        """Make other models than those that the first `models` may have been."""
        self._attempts += models * PATIENCE

    def learn(self, number: int, lesson: Lesson) -> None:
        """What the model of that number did on a compiler."""
        self.chooser.learn(number, lesson)

    def state(self) -> dict[str, Any]:
        """Coverage and what the chooser learnt, as a JSON document."""
        return {"coverage": self.coverage.state(), "chooser": self.chooser.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`, perhaps of another corpus and other settings.

        Raises KeyError or ValueError for anything that is no state.
        """
        self.coverage.restore(kept.coverage(state["coverage"]))
        self.chooser.restore(state["chooser"])

    def _grown(self, draw: random.Random) -> Wiring:
        chosen = mutations.select(draw) if self.settings.mutated else mutations.NONE
        count = draw.randint(self.settings.low, self.settings.high)
        graph = mutations.remove_edges(_graph(count, self.settings.graphs, draw), chosen.ger, draw)
        graph = mutations.add_edges(graph, chosen.gea, draw)
        units = placing.place(graph, self.corpus, self.chooser, chosen, draw)
        return build(units, self._usual(chosen, draw), chosen, self.settings, draw, self._inner, self.chooser)

    def _usual(self, chosen: Mutations, draw: random.Random) -> Shape | None:
        """One of the usual shapes; with TSM, or where none is within the limits, any will do."""
        limits = self.settings.limits
        shapes = [
            each for each in self.corpus.shapes if len(each) <= limits.rank and max(each, default=0) <= limits.length
        ]
        return None if chosen.tsm or not shapes else draw.choice(shapes)


def _graph(count: int, models: Sequence[str], draw: random.Random) -> Digraph:
    """A graph of one of the graph models."""
    neighbours = draw.choice(_NEIGHBOURS)
    if draw.choice(models) == "ws":
        return digraphs.watts_strogatz(count, neighbours, _REWIRED, draw)
    return digraphs.residual(count, neighbours, _SHORTCUT, draw)


def build(
    units: Sequence[Unit],
    usual: Shape | None,
    chosen: Mutations,
    settings: Settings,
    draw: random.Random,
    inner: Sequence[Operator] = (),
    chooser: Chooser | None = None,
) -> Wiring:
    """The model of these operators: the calculator gives them shapes and parameters; `inner` are those of bodies.

    A chooser chooses among drafts of each node; without one, there is one draft.
    """
    settler = chooser or RandomChooser()
    palette = (FLOAT,) if draw.random() < _FLOAT_ONLY else (FLOAT, draw.choice(_OTHERS))
    growth = Wiring(draw, palette, settings.opset, usual, settings.limits, inner)
    table = operators(settings.opset)
    results: list[list[int]] = []
    for unit in units:
        operator = variant(table[unit.op_type], unit.flows, chosen.pm)
        wires = [draw.choice(results[at]) for at in unit.wires if results[at]]
        _settle(growth, operator, wires, unit.flows, settler)
        results.append(growth.results)
    return growth


def _settle(growth: Wiring, operator: Operator, wires: Sequence[int], flows: int, chooser: Chooser) -> None:
    """Add a node of the operator: of several drafts the one that is worth most, or the first that is worth enough."""
    if chooser.drafts == 1:
        growth.add(operator, wires, flows)
        return
    mark, most = growth.mark(), -math.inf
    kept: tuple[End, tuple[int, ...]] | None = None
    for _ in range(chooser.drafts):
        if not growth.add(operator, wires, flows):
            growth.cut(mark)
            continue
        values = growth.values()
        worth, end = chooser.worth(operator.op_type, values), growth.cut(mark)
        if worth > most:
            most, kept = worth, (end, values)
        if chooser.enough(operator.op_type, worth):
            break
    if kept:
        growth.append(kept[0])
        chooser.settle(operator.op_type, kept[1])
