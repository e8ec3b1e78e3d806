"""How few runs of the predicate no reducer can do with: Kraft's inequality beside delta debugging's numbers.

Run: ``python -m benchmarks.reducer_bound [--held-out | --unseen tuned|held-out] [--sizes 60,150] [--seeds N]``.

A reducer asks the predicate yes or no, so it is a binary tree and its results are the leaves. Of bugs of which no two
have one right result, the sum of 2^-runs is at most 1, whatever the reducer asks and in whatever order (Kraft 1949).
Summed up for each model are the bugs that need one node, or two nodes near each other in the list, and of all that
can be simplified about these nodes a certain part as it is. A result is right for one such bug alone: it must keep
that part, and should keep nothing else. Delta debugging looks at nodes only, so it needs for all bugs of the same
nodes the same number of runs. Where the sum of 2^-(its runs) is K > 1, every reducer that simplifies as well needs at
least log2 K runs more than delta debugging on one of these bugs. More kinds of bugs only make the sum greater.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx

from benchmarks.planting import KINDS
from benchmarks.reducers import Planter, ddmin, models
from fuzz import catalogue
from fuzz.limits import Limits
from fuzz.operators.graph import attributes
from fuzz.operators.table import opsets, schema
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.interesting import Recorder, recorded
from triage.submodel import load

#: Sizes up to this are human already: the reducer leaves them alone (decision 006).
HUMAN = 3
#: Two nodes that a bug needs stand at most so far from each other in the list.
NEAR = 12

Needed = tuple[int, ...]


@dataclass(frozen=True)
class Sums:
    """Kraft's sums of one model: of the bugs about nodes alone, and of those about all that can be simplified."""

    nodes: float
    simplified: float


@functools.cache
def delta_debugging(count: int) -> Mapping[Needed, int]:
    """Runs of delta debugging on a list of so many nodes, by the one or two nodes that a bug needs."""
    ones = [(one,) for one in range(count)]
    pairs = [(one, other) for one in range(count) for other in range(one + 1, min(one + 1 + NEAR, count))]
    return {needed: _runs(count, needed) for needed in [*ones, *pairs]}


def _runs(count: int, needed: Needed) -> int:
    asked = set[frozenset[int]]()

    def test(kept: Sequence[int]) -> bool:
        asked.add(frozenset(kept))
        return all(node in kept for node in needed)

    ddmin(list(range(count)), test)
    return len(asked)


def kraft(runs: Mapping[Needed, int], freedoms: Sequence[int]) -> float:
    """The sum of 2^-runs over all bugs; those of the same nodes are 2^(the sum of their freedoms)."""
    return sum(2.0 ** (sum(freedoms[node] for node in needed) - spent) for needed, spent in runs.items())


def freedom(node: onnx.NodeProto, values: Mapping[str, Value], model: onnx.ModelProto) -> int:
    """How many things about a node can be simplified apart from each other, counted low.

    Axes of its first input that are longer than human ones, attributes that may be left out, and its numbers.
    """
    shape = getattr(values.get(node.input[0]) if node.input else None, "shape", ())
    found = schema(node, opsets(model))
    optional = [name for name in attributes(node) if found is not None and not found.attributes[name].required]
    return sum(size > HUMAN for size in shape) + len(optional) + 1


def sums(planter: Planter, kind: str, size: int, seed: int, reference: Recorder) -> Sums:
    """Kraft's sums for the nodes and tensors of one model."""
    case = planter(kind, size, seed, True).case
    model, values = load(case), {**case.inputs, **reference(case)}
    runs = delta_debugging(len(model.graph.node))
    freedoms = [freedom(node, values, model) for node in model.graph.node]
    return Sums(kraft(runs, [0] * len(freedoms)), kraft(runs, freedoms))


def main() -> int:
    """Parse the command line, print the sums of every kind's models and how many exceed 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--unseen", choices=["tuned", "held-out", "counting"])
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sizes", default="60,150")
    parser.add_argument("--seeds", type=int, default=2)
    chosen = parser.parse_args()
    kinds, planter = models(chosen)
    found: list[Sums] = []
    with Runner(Limits(seconds=60), jobs=1) as runner:
        reference = recorded(runner, catalogue.target("reference"))
        for kind in kinds:
            sizes = map(int, chosen.sizes.split(","))
            rows = [sums(planter, kind, size, seed, reference) for size in sizes for seed in range(chosen.seeds)]
            print(kind, [f"{each.nodes:.3f} {each.simplified:.2f}" for each in rows], flush=True)
            found += rows
    beyond = sum(each.simplified > 1 for each in found)
    middle = statistics.median(each.simplified for each in found)
    print(f"{len(found)} models; nodes alone at most {max(each.nodes for each in found):.3f}")
    print(
        f"with all that can be simplified {middle:.2f} in the middle (2^{math.log2(middle):.1f}), above 1 on {beyond}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
