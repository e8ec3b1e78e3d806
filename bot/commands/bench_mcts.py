"""`graphwarden bench mcts`: strategies of graph-based fuzzing beside each other, as Table III of its paper."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Column, Table

from bot import choices
from bot.commands.arguments import Json, Options, Seed
from bot.console import err, out, print_json
from bot.failures import ExitCode, Refusal
from fuzz import catalogue
from fuzz.case import Target
from fuzz.graphs import blocks
from fuzz.graphs.blocks import BlockError
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage import strategies
from triage.strategies import TABLE_III, Bench, Strategy, Trial

#: The compilers of the comparison, where none is named.
BACKENDS = ["onnxruntime", "openvino"]


def mcts(
    context: typer.Context,
    sizes: Annotated[str, typer.Option("--blocks-per-model", metavar="N,N", help="Blocks of a model.")] = "5,10,15",
    models: Annotated[int, typer.Option("--models", min=1, help="Models of each strategy.")] = 400,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each strategy; medians are shown.")] = 3,
    seed: Seed = 0,
    corpus: Annotated[
        str, typer.Option("--blocks", metavar="NAME|FILE.toml", help="The block corpus: paper, onnx, or your own file.")
    ] = blocks.PAPER,
    rows: Annotated[
        str, typer.Option("--rows", metavar="N,N", help="Only these rows of the table, from 1 to 5.")
    ] = "1,2,3,4,5",
    backend: Annotated[
        list[str], typer.Option("--backend", help=f"A compiler. Repeatable; {' and '.join(BACKENDS)} without.")
    ] = [],  # noqa: B006
    option: Options = [],  # noqa: B006
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Workers at once; 0: one per core.")] = 0,
    as_json: Json = False,
) -> None:
    """Compare strategies of graph-based fuzzing on real compilers: coverage, failures (deduplicated/all), duration.

    Failures that are taken for the same are not rewarded twice. Durations depend on the machine and its load.
    """
    counts, chosen = _numbers("--blocks-per-model", sizes, 1, 100), _numbers("--rows", rows, 1, len(TABLE_III))
    try:
        loaded = blocks.load(corpus)
    except BlockError as error:
        raise Refusal(f"--blocks {error}") from error
    sweep_stale_homes()
    with Runner(Limits(30.0, 4096), jobs or None) as runner:
        targets = _targets(runner, backend or BACKENDS, option)
        bench = Bench(runner, targets, catalogue.target("reference"), loaded, models)
        todo = [(TABLE_III[row - 1], count) for row in chosen for count in counts]
        found: dict[tuple[Strategy, int], list[Trial]] = {}
        for strategy, count in track(todo, "comparing", console=err, transient=True):
            found[strategy, count] = [bench.run(strategy, count, each) for each in range(seed, seed + seeds)]
    if as_json or context.obj:
        print_json(_document(found, models, range(seed, seed + seeds), [target.id for target in targets]))
    else:
        out.print(_table(found, counts))


def _targets(runner: Runner, names: Sequence[str], option: Sequence[str]) -> list[Target]:
    """One variant of each compiler, since a failure of two would count twice. Raises Refusal."""
    wanted = {each.backend: each for each in reversed(choices.hunt_targets(names, option))}
    for probe in choices.require(runner, list(wanted)):
        if not probe.available:
            raise Refusal(f"--backend {probe.name}: {probe.reason}", ExitCode.ENVIRONMENT)
    return [wanted[name] for name in sorted(wanted)]


def _numbers(name: str, text: str, low: int, high: int) -> list[int]:
    """A list of whole numbers. Raises Refusal."""
    parts = text.split(",")
    if not all(part.isdecimal() and low <= int(part) <= high for part in parts):
        raise Refusal(f"{name} {text!r} is no list of numbers from {low} to {high}, e.g. {low},{min(low + 1, high)}")
    return [int(part) for part in dict.fromkeys(parts)]


def _medians(trials: Sequence[Trial]) -> dict[str, float]:
    found = {name: statistics.median(trial.metrics[name] for trial in trials) for name in trials[0].metrics}
    return found | {
        "deduplicated": statistics.median(len(trial.keys) for trial in trials),
        "failures": statistics.median(trial.failures for trial in trials),
        "seconds": round(statistics.median(trial.seconds for trial in trials), 1),
    }


def _document(
    found: Mapping[tuple[Strategy, int], Sequence[Trial]], models: int, seeds: Sequence[int], targets: Sequence[str]
) -> dict[str, Any]:
    rows = [
        {
            "graphs": list(strategy.graphs),
            "mutations": strategy.mutated,
            "chooser": strategy.chooser,
            "blocks": count,
            "median": _medians(trials),
            "runs": [
                trial.metrics
                | {"failures": trial.failures, "deduplicated": sorted(trial.keys), "statuses": trial.statuses}
                | {"seconds": round(trial.seconds, 1)}
                for trial in trials
            ],
            "invalid": strategies.invalid(trials),
        }
        for (strategy, count), trials in found.items()
    ]
    return {"models": models, "seeds": list(seeds), "targets": list(targets), "rows": rows}


def _table(found: Mapping[tuple[Strategy, int], Sequence[Trial]], counts: Sequence[int]) -> Table:
    """OLC, failures (deduplicated/all) and duration for every number of blocks."""
    shown = Table(Column("strategy"))
    for count in counts:
        for heading in (f"N = {count}\nOLC", "d/t", "s"):
            shown.add_column(heading, justify="right")
    for strategy in dict.fromkeys(strategy for strategy, _ in found):
        cells = []
        for count in counts:
            median = _medians(found[strategy, count])
            told = f"{median['deduplicated']:g}/{median['failures']:g}"
            cells += [f"{median['OLC']:.1%}", told, f"{median['seconds']:.0f}"]
        shown.add_row(strategy.name, *cells)
    return shown
