"""Faults planted in passes of a real compiler: found beside the original, reduced, and put down to the pass."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from fuzz import catalogue, generators
from fuzz.campaign import Policy
from fuzz.case import Case, Status, Target
from fuzz.generators import MUTANT, hirgen, mtdlcomp
from fuzz.hirgen.coverage import USUAL, Coverage
from fuzz.hirgen.workflow import PLAIN, Settings
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.mutants.subject import seed_case
from fuzz.operators.families import operators
from fuzz.runner import Runner
from triage import hunt, pipeline, plain
from triage.lifecycle import State
from triage.localize import order
from triage.localize.location import Location, Part
from triage.localize.trial import Trial
from triage.steps import locating, reducing
from triage.steps.desk import Desk, reduced_case
from triage.store import open_store
from triage.submodel import load

FAULTS = Path(__file__).parents[1] / "mutants" / "faults.py"

#: By fault: the seed, the seed of the mutations, how many of these, the guilty pass and operators that it needs.
CASES = {
    "buffers": ("lstm", 2, 10, "ShareBuffers", {"Mul"}),
    "memory": ("transformer", 8, 5, "MemoryAllocate", {"Conv", "Sub"}),
    "dead": ("transformer", 1, 5, "DeadCodeElimination", {"Neg", "Relu"}),
    "layout": ("unet", 1, 10, "DKKC8", {"Conv"}),
    "epilogue": ("unet", 2, 20, "ConvAddFusion", {"Conv", "Add"}),
    "ranges": ("lstm", 1, 5, "RangeAnalysis", {"Abs", "Sub", "Relu"}),
    "contraction": ("lstm", 1, 10, "FusedMultiplyAdd", {"Relu", "Mul", "Add"}),
}


#: By fault that a seed shows before it is mutated: the seed, the guilty pass and operators that it needs.
SEEN_IN_SEEDS = {
    "height": ("unet", "ChangeLayout", {"Conv"}),
    "depthwise": ("unet", "PackDepthwise", {"Conv"}),
    "bound": ("unet", "ConvClipFusion", {"Conv", "Clip"}),
    "axes": ("transformer", "FuseBias", {"Add"}),
}

#: By fault that neither seeds nor mutants show, and graphs of HirGen do: a seed that shows it soon, the guilty pass and
#: operators that it needs.
SEEN_IN_GRAPHS = {
    "merged": (6, "CommonSubexpressions", set[str]()),  # any operator that has attributes
    "transposed": (1, "CancelTransposes", {"Transpose"}),
    "coarse": (7, "ConstantPrecision", {"Add"}),
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(600, 4096), jobs=1) as running:
        yield running


@pytest.fixture
def desk(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(reducing, "REDUCE_SECONDS", 3600.0)  # however slow the machine is
    monkeypatch.setattr(locating, "LOCATE_SECONDS", 3600.0)
    with open_store(tmp_path / "hunt.db", create=True) as store:
        yield Desk(store, runner, catalogue.target("reference"), tmp_path / "reports")


def planted(fault: str) -> Target:
    return catalogue.target(str(FAULTS), {"fault": fault})


def mutant(name: str, seed: int, count: int) -> Case:
    """The mutant of the source `mtdlcomp` after so many mutations."""
    seeded = seed_case(name, seed)
    origin = replace(seeded.origin, test=f"{name}/{count}", variant=MUTANT)
    subject, mutations = mtdlcomp.again(replace(seeded, origin=origin))
    return replace(subject.case_of(subject.replayed(mutations), count), origin=origin)


@pytest.mark.parametrize("fault", CASES)
def test_a_planted_fault_is_found_reduced_and_put_down_to_its_pass(desk: Desk, fault: str) -> None:
    name, seed, count, guilty, operators = CASES[fault]
    campaign = desk.store.begin_campaign({"test": fault})
    case = mutant(name, seed, count)
    original = generators.original(case)
    assert original is not None
    source = [original, case]
    assert hunt.hunt(desk.store, campaign, source, [planted(fault)], desk.reference, desk.runner, Policy())
    put_down(desk, guilty, operators)


@pytest.mark.parametrize("fault", SEEN_IN_SEEDS)
def test_seeds_show_passes_that_confuse_axes_channels_or_bounds(desk: Desk, fault: str) -> None:
    name, guilty, operators = SEEN_IN_SEEDS[fault]
    campaign = desk.store.begin_campaign({"test": fault})
    source = [seed_case(name, 1)]
    assert hunt.hunt(desk.store, campaign, source, [planted(fault)], desk.reference, desk.runner, Policy())
    put_down(desk, guilty, operators)


def graphs(seed: int, count: int) -> Iterator[Case]:
    """Guided graphs of HirGen without those that are made of functions."""
    settings = Settings(tuple(operators().values()), *hirgen.NODES)
    stream = hirgen.Stream("hirgen", settings, seed, Coverage(USUAL), count=count)
    return (each for each in stream if isinstance(each, Case) and each.origin.variant == PLAIN)


@pytest.mark.parametrize("fault", SEEN_IN_GRAPHS)
def test_graphs_show_passes_that_merge_cancel_or_round_what_they_may_not(desk: Desk, fault: str) -> None:
    seed, guilty, needed = SEEN_IN_GRAPHS[fault]
    judge, rewritten = Judge(desk.runner, desk.reference), importlib.import_module(f"tests.mutants.planted.{fault}").run
    met = (case for case in graphs(seed, count=400) if changed(case, rewritten))
    shows = next(case for case in met if fails(judge, case, fault) and not fails(judge, case, "none"))
    campaign = desk.store.begin_campaign({"test": fault})
    assert hunt.hunt(desk.store, campaign, [shows], [planted(fault)], desk.reference, desk.runner, Policy())
    put_down(desk, guilty, needed)


def fails(judge: Judge, case: Case, fault: str) -> bool:
    return judge.examine(case, planted(fault)).failure is not None


def changed(case: Case, rewrite: Callable[[onnx.GraphProto], None]) -> bool:
    """Whether a pass does anything to a graph: the others need no run."""
    before, after = (onnx.load_model_from_string(case.model) for _ in range(2))
    rewrite(after.graph)
    return before != after


def put_down(desk: Desk, guilty: str, needed: set[str]) -> None:
    """The only bug is reduced, and put down to its pass."""
    [bug] = desk.store.bugs()
    for state in (State.NEW, State.CONFIRMED, State.REDUCED):
        assert bug.state is state, bug.note
        pipeline.STEPS[state](desk, bug)
        bug = desk.store.bug(bug.id)
    assert bug.state is State.LOCATED, bug.note
    assert bug.location.pass_ == guilty, bug.location
    nodes = load(reduced_case(desk, bug)).graph.node
    assert len(nodes) <= 5 and needed <= {node.op_type for node in nodes}


def test_the_guilty_pass_of_a_sequence_is_told_from_the_innocent_ones(runner: Runner) -> None:
    case = mutant("lstm", 1, 5)
    alone = replace(case, origin=replace(case.origin, variant="plain"))
    target = catalogue.target(str(FAULTS), {"sequence": "First,DKKC8,RangeAnalysis,Last"})
    judge = Judge(runner, catalogue.target("reference"))
    failure = judge.examine(alone, target).failure
    assert failure is not None
    found = order.locate(Trial(judge, failure), Location())
    assert (found.pass_, found.stage) == ("RangeAnalysis", Part.OPTIMISATION)
    assert found.evidence == (
        "after RangeAnalysis it fails, without any pass of the sequence it passes (each seen twice)",
    )


def test_what_fails_without_the_sequence_as_well_is_no_failure_of_it(runner: Runner) -> None:
    case = mutant("lstm", 1, 5)
    alone = replace(case, origin=replace(case.origin, variant="plain"))
    judge = Judge(runner, catalogue.target("reference"))
    verdict = judge.examine(alone, catalogue.target(str(FAULTS), {"fault": "ranges", "sequence": "DKKC8"}))
    assert (verdict.status, verdict.failure) == (Status.SKIPPED, None) and "comes without" in verdict.reason


def moved(case: Case, by: float) -> Case:
    """The original with something added to the bias of its last node, as if a compiler had done so to the mutant."""
    original = generators.original(case)
    assert original is not None
    model = onnx.load_model_from_string(original.model)
    name = model.graph.node[-1].input[2]
    bias = next(each for each in model.graph.initializer if each.name == name)
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + np.float32(by), name))
    return replace(case, model=model.SerializeToString())


def judged(runner: Runner, case: Case, target: Target | None = None) -> tuple[Judge, Target, Case]:
    return Judge(runner, catalogue.target("reference")), target or catalogue.target("onnxruntime"), case


def test_a_mutant_is_judged_beside_its_original_and_not_by_the_reference(runner: Runner) -> None:
    judge, target, case = judged(runner, mutant("transformer", 1, 2))
    assert judge.examine(case, target).status is Status.OK
    failure = judge.examine(moved(case, 3e-4), target).failure  # the reference's tolerance is wider
    assert failure is not None and (failure.oracle, failure.symptom) == ("metamorphic", "wrong:values")
    assert "instead of" in failure.detail or "labels differ" in failure.detail
    assert (
        judge.examine(replace(moved(case, 3e-4), origin=replace(case.origin, variant="plain")), target).failure is None
    )


def test_what_fails_only_beside_its_original_has_no_model_of_its_own(runner: Runner) -> None:
    judge, target, case = judged(runner, moved(mutant("transformer", 1, 2), 3e-4))
    failure = judge.examine(case, target).failure
    assert failure is not None and plain.by_itself(judge, failure) is None


def test_a_case_without_an_original_stays_as_it_is(runner: Runner) -> None:
    judge, target, case = judged(runner, mutant("lstm", 1, 5), planted("ranges"))
    alone = replace(case, origin=replace(case.origin, variant="plain"))
    assert generators.original(alone) is None
    failure = judge.examine(alone, target).failure
    assert failure is not None and plain.by_itself(judge, failure) is failure
