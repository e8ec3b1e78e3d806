"""Reducers side by side: the same models, the same predicate, starts of the predicate and nodes left.

Run: ``python -m benchmarks.reducers [--kinds A,B] [--sizes 60,200] [--seeds N] [--polygraphy COMMAND]``. Compared
are this project's reducer (its count includes the simplification of shapes, values, attributes and names, and
the run for the passing neighbour; as ``nodes`` it does no more than leave out nodes), a plain delta debugging of the
node list, picire if it can be imported, the minifier of PyTorch FX, and `polygraphy debug reduce` (bisect, then
linear) if a command is given. Only the first one simplifies anything but nodes. The models are those of
`benchmarks.planting`. With `--shuffled N` delta debugging goes through the nodes of each model on which it needs fewer
runs in N other orders as well: what is left of its lead then is no luck of one order.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx.reference import ReferenceEvaluator
from rich.console import Console
from rich.table import Table

from benchmarks import bug_kinds, held_out, unseen
from benchmarks.planting import KINDS, Planted, plant
from benchmarks.random_models import OPSET
from fuzz import catalogue
from fuzz.case import Case
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.interesting import Recorded, recorded
from triage.operators import node_count
from triage.parts import parts
from triage.reduce import reduce
from triage.submodel import load, value_info

ROOT = Path(__file__).parent.parent
#: Nodes in bodies and functions are out of reach of the others.
_INNER = ("body", "function", *held_out.INNER)
#: FX graphs as they are built here have neither types nor constants.
_NOT_IN_FX = ("rank", "long axis", "constant weights")

#: The sets of kinds in models of blocks.
_UNSEEN = {"tuned": unseen.TUNED, "held-out": unseen.HELD_OUT, "counting": unseen.COUNTING}


@dataclass(frozen=True)
class Found:
    """Starts of the predicate, and nodes left."""

    runs: int
    nodes: int


@dataclass(frozen=True)
class Lead:
    """A model on which delta debugging needs fewer runs than ours: both, and its runs in other orders of the nodes."""

    kind: str
    ours: int
    dd: int
    others: list[int]


#: A reducer with what the reference evaluator says of cases.
Reducer = Callable[[Planted, Recorded], Found]
#: A model of a kind of bug, of about so many nodes, by a seed, with rare operators or not.
Planter = Callable[[str, int, int, bool], Planted]


def fails(spec: bug_kinds.Spec, model: onnx.ModelProto) -> bool:
    """Whether the model holds what a bug needs."""
    if "unseen" in spec:
        return unseen.fails(spec, model)
    return (held_out if spec["kind"] in held_out.KINDS else bug_kinds).fails(spec, model)


# ---------------------------------------------------------------- the reducers


def ours(planted: Planted, reference: Recorded) -> Found:
    """This project's reducer, as `graphwarden reduce --check` calls it."""
    return _ours(planted, reference, neighbours=2, simplifying=4)


def nodes_only(planted: Planted, reference: Recorded) -> Found:
    """The same, without what delta debugging does not look for: simpler nodes and values, and a passing neighbour."""
    return _ours(planted, reference, neighbours=0, simplifying=0)


def _ours(planted: Planted, reference: Recorded, *, neighbours: int, simplifying: int) -> Found:
    done = reduce(
        planted.case,
        lambda case: fails(planted.spec, load(case)),
        values=reference,
        confirmed=False,
        neighbours=neighbours,
        simplifying=simplifying,
        fed=False,
    )
    return Found(done.runs, done.nodes_after)


class _Subsets:
    """The predicate on lists of nodes, for reducers that know nothing else; what dangles becomes an input."""

    def __init__(self, planted: Planted, reference: Recorded) -> None:
        self._planted, self._values, self._valid = planted, reference(planted.case), reference.valid
        self._known: dict[frozenset[int], bool] = {}
        self.runs = 0

    def __call__(self, kept: Sequence[int]) -> bool:
        key = frozenset(kept)
        if key not in self._known:
            cuts = [case for case in parts(self._planted.case, key, self._values)[-1:] if self._valid(case)]
            self.runs += len(cuts)
            self._known[key] = bool(cuts) and fails(self._planted.spec, load(cuts[0]))
        return self._known[key]

    def nodes(self, kept: Sequence[int]) -> int:
        return node_count(parts(self._planted.case, frozenset(kept), self._values)[-1])


def plain_dd(planted: Planted, reference: Recorded, order: int | None = None) -> Found:
    """`ddmin` on the list of nodes, with a cache; in the order of a seed where one is given."""
    test = _Subsets(planted, reference)
    kept = list(range(len(load(planted.case).graph.node)))
    if order is not None:
        random.Random(order).shuffle(kept)
    kept = ddmin(kept, test)
    return Found(test.runs, test.nodes(kept))


def ddmin(kept: list[int], test: Callable[[Sequence[int]], bool]) -> list[int]:
    """ddmin of Zeller and Hildebrandt (TSE 2002): the part of a list that still fails, which is asked about first."""
    test(kept)
    count = 2
    while len(kept) >= 2:
        chunks = [kept[len(kept) * at // count : len(kept) * (at + 1) // count] for at in range(count)]
        rests = [[node for node in kept if node not in set(chunk)] for chunk in chunks]
        subset = next((chunk for chunk in chunks if test(chunk)), None)
        rest = next((rest for rest in rests if rest and test(rest)), None) if subset is None else None
        if subset is not None:
            kept, count = subset, 2
        elif rest is not None:
            kept, count = rest, max(count - 1, 2)
        elif count >= len(kept):
            break
        else:
            count = min(2 * count, len(kept))
    return kept


def picire_dd(planted: Planted, reference: Recorded) -> Found:
    """picire's delta debugging on the list of nodes, as it is by default."""
    import picire

    test = _Subsets(planted, reference)
    everything = list(range(len(load(planted.case).graph.node)))

    def interesting(kept: Sequence[int], config_id: object) -> Any:
        return picire.Outcome.FAIL if kept and test(kept) else picire.Outcome.PASS

    kept = picire.DD(interesting)(everything)
    return Found(test.runs, test.nodes(kept))


def fx_minifier(planted: Planted, reference: Recorded) -> Found:
    """The minifier of PyTorch FX on the same graph, every node a call of the reference's operator."""
    import contextlib
    import io

    import torch
    from functorch.compile import minifier

    graph, inputs, shown = _fx_graph(planted.case, reference)
    runs, smallest = 0, len(load(planted.case).graph.node)

    def failing(module: Any, given: Any) -> bool:
        nonlocal runs, smallest
        runs += 1
        model = _model_of(module.graph, shown)
        found = fails(planted.spec, model)
        if found:
            smallest = min(smallest, len(model.graph.node))
        return found

    module = torch.fx.GraphModule({}, graph)
    quiet = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        minifier(module, inputs, failing, dump_state=lambda *state: None)
    return Found(runs, smallest)


def _fx_graph(case: Case, reference: Recorded) -> tuple[Any, list[Any], dict[Any, onnx.NodeProto]]:
    """The main graph as an FX graph of the recorded tensors; the functions called, with their nodes."""
    import torch

    model, graph, known, shown = load(case), torch.fx.Graph(), dict[str, Any](), dict[Any, onnx.NodeProto]()
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values = {**reference(case), **constants}
    inputs = []
    for name, value in {**case.inputs, **constants}.items():
        known[name] = graph.placeholder(f"p{len(known)}")
        inputs.append(torch.from_numpy(value.copy()))  # type: ignore[union-attr]
    for node in model.graph.node:
        call = _called(node, values)
        shown[call] = node
        known[node.output[0]] = graph.call_function(call, tuple(known[name] for name in node.input))
    graph.output(tuple(known[info.name] for info in model.graph.output))
    return graph, inputs, shown


def _called(node: onnx.NodeProto, values: Mapping[str, Value]) -> Callable[..., Any]:
    """The node as a function of tensors."""
    import torch

    infos = [value_info(name, values[name]) for name in dict.fromkeys([*node.input, *node.output])]
    ends = [[info for info in infos if info and info.name in names] for names in (node.input, node.output)]
    graph = onnx.helper.make_graph([node], "one", *ends)
    evaluator = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)]))

    def call(*given: Any) -> Any:
        feeds = {name: value.detach().numpy() for name, value in zip(node.input, given, strict=True)}
        [result] = evaluator.run(None, feeds)
        return torch.as_tensor(result)

    call.__name__ = call.__qualname__ = f"{node.op_type}_{node.output[0]}".replace("/", "_")
    call.__module__ = "builtins"
    return call


def _model_of(graph: Any, shown: Mapping[Any, onnx.NodeProto]) -> onnx.ModelProto:
    """Back from FX: only operators, attributes and edges, which is all that the predicates look at."""
    nodes, results = [], []
    for each in graph.nodes:
        if each.op == "call_function" and each.target in shown:
            node = onnx.NodeProto()
            node.CopyFrom(shown[each.target])
            node.input[:] = [str(argument) for argument in each.args]
            node.output[:] = [each.name]
            nodes.append(node)
        elif each.op == "output":
            results = [str(argument) for argument in each.args[0]]
    infos = [onnx.ValueInfoProto(name=name) for name in results]
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "fx", [], infos))


def polygraphy(command: str) -> Reducer:
    """`polygraphy debug reduce`: bisection first, then the linear mode on what that left."""

    def run(planted: Planted, reference: Recorded) -> Found:
        with tempfile.TemporaryDirectory() as folder:
            counter, model = Path(folder) / "runs", Path(folder) / "model.onnx"
            model.write_bytes(planted.case.model)
            for mode in ("bisect", "linear"):
                reduced = Path(folder) / f"{mode}.onnx"
                check = [
                    sys.executable,
                    "-m",
                    "benchmarks.bug_kinds",
                    json.dumps(planted.spec),
                    "polygraphy_debug.onnx",
                ]
                counted = ["/bin/sh", "-c", f'echo >> {counter}; exec "$@"', "sh", *check]
                options = ["--mode", mode, "--fail-code", "1", "--check", *counted]
                subprocess.run(
                    [command, "debug", "reduce", str(model), "-o", str(reduced), *options],
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    capture_output=True,
                    check=False,
                )
                model = reduced if reduced.exists() else model
            runs = len(counter.read_text().splitlines()) if counter.exists() else 0
            return Found(runs, len(onnx.load(model).graph.node))

    return run


# ---------------------------------------------------------------- the table


def main() -> int:
    """Parse the command line, run every reducer on every model, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--held-out", action="store_true", help="the kinds of benchmarks.held_out instead")
    parser.add_argument("--unseen", choices=list(_UNSEEN), help="kinds of benchmarks.unseen instead (no fx)")
    parser.add_argument("--sizes", default="60,200", help="nodes of the random models")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--polygraphy", default="", help="the command, in an environment of its own")
    parser.add_argument("--shuffled", type=int, default=0, metavar="N", help="delta debugging in N other orders")
    parser.add_argument("--without", default="", help="reducers to leave out, e.g. fx,picire")
    chosen = parser.parse_args()
    reducers: dict[str, Reducer] = {"ours": ours, "nodes": nodes_only, "dd": plain_dd}
    if importlib.util.find_spec("picire"):
        reducers["picire"] = picire_dd
    reducers["fx"] = fx_minifier
    if chosen.polygraphy:
        reducers["polygraphy"] = polygraphy(chosen.polygraphy)
    for name in [*chosen.without.split(","), *(["fx", "polygraphy"] if chosen.unseen else [])]:
        reducers.pop(name, None)
    kinds, planter = models(chosen)
    with Runner(Limits(seconds=60), jobs=1) as runner:
        reference = recorded(runner, catalogue.target("reference"))
        found, leads = {}, list[Lead]()
        for kind in kinds:
            found[kind] = rows = _measured(kind, planter, reducers, reference, chosen, leads)
            print(kind, {name: [(f.runs, f.nodes) for f, _ in each] for name, each in rows.items()}, flush=True)
    Console(width=150).print(_table(found, list(reducers)))
    if "dd" in reducers:
        for name in ("ours", "nodes"):
            print(_beside_dd(found, name))
    for lead in leads:
        print(lead)
    if leads:
        print(_without_luck(leads))
    return 0


def models(chosen: argparse.Namespace) -> tuple[Sequence[str], Planter]:
    """The kinds of bugs and what plants them."""
    if chosen.unseen:
        return list(_UNSEEN[chosen.unseen]), unseen.plant
    if chosen.held_out:
        return list(held_out.KINDS), held_out.plant
    return chosen.kinds.split(","), plant


def _measured(
    kind: str,
    planter: Planter,
    reducers: Mapping[str, Reducer],
    reference: Recorded,
    chosen: argparse.Namespace,
    leads: list[Lead],
) -> dict[str, list[tuple[Found, int]]]:
    """What each reducer finds in the models of one kind, beside the ideal; delta debugging's leads join `leads`."""
    found: dict[str, list[tuple[Found, int]]] = defaultdict(list)
    for size in map(int, chosen.sizes.split(",")):
        for seed in range(chosen.seeds):
            for rare in (True, False):
                planted = planter(kind, size, seed, rare)
                for name, reducer in reducers.items():
                    if name in ("ours", "nodes") or (kind not in _INNER and (name != "fx" or kind not in _NOT_IN_FX)):
                        found[name].append((reducer(planted, reference), planted.ideal))
                if chosen.shuffled and found["dd"] and kind not in _INNER:
                    mine, theirs = found["ours"][-1][0].runs, found["dd"][-1][0].runs
                    orders = range(chosen.shuffled if mine > theirs else 0)
                    others = [plain_dd(planted, reference, order).runs for order in orders]
                    leads += [Lead(kind, mine, theirs, others)] if others else []
    return dict(found)


def _table(found: Mapping[str, Mapping[str, list[tuple[Found, int]]]], reducers: Sequence[str]) -> Table:
    """Runs as median (worst), and how many results have the ideal number of nodes, or fewer."""
    table = Table("kind", "models", *reducers)
    rows = {**found}
    together: dict[str, list[tuple[Found, int]]] = defaultdict(list)
    for kind in found:
        if kind not in _INNER:
            for name, some in found[kind].items():
                together[name] += some
    for kind, results in {**rows, "all but bodies and functions": together}.items():
        cells = [_cell(results[name]) if results.get(name) else "" for name in reducers]
        table.add_row(kind, str(len(results["ours"])), *cells)
    return table


def _beside_dd(found: Mapping[str, Mapping[str, list[tuple[Found, int]]]], name: str) -> str:
    """Runs in all, and the models on which a reducer of ours needs more of them than plain delta debugging."""
    pairs = [pair for rows in found.values() for pair in zip(rows.get(name, []), rows.get("dd", []), strict=False)]
    sums = [sum(pair[at][0].runs for pair in pairs) for at in (0, 1)]
    more = sorted(mine.runs - theirs.runs for (mine, _), (theirs, _) in pairs if mine.runs > theirs.runs)
    ideal = sum(mine.nodes <= best for (mine, best), _ in pairs)
    told = f"{name}: {len(pairs)} models, {ideal} ideal: {sums[0]} runs, dd {sums[1]}"
    return f"{told}; more than dd on {len(more)}, by {more}"


def _without_luck(leads: Sequence[Lead]) -> str:
    """What is left of delta debugging's leads in other orders of the same nodes."""
    kept = [lead for lead in leads if statistics.mean(lead.others) < lead.ours]
    sums = [sum(lead.ours for lead in leads), sum(lead.dd for lead in leads)]
    mean = sum(statistics.mean(lead.others) for lead in leads)
    return (
        f"{len(leads)} models where dd is ahead: {sums[0]} runs, dd {sums[1]}, {mean:.0f} in the mean of other orders;"
        f" still ahead on {len(kept)}"
    )


def _cell(results: Sequence[tuple[Found, int]]) -> str:
    runs = [each.runs for each, _ in results]
    nodes = [each.nodes for each, _ in results]
    ideal = sum(each.nodes <= best for each, best in results)
    return f"{statistics.median(runs):g} ({max(runs)}) -> {statistics.median(nodes):g} ({max(nodes)}), ideal {ideal}"


if __name__ == "__main__":
    sys.exit(main())
