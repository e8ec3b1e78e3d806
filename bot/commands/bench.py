"""`graphwarden bench prioritize`: how early strategies find the bugs of a recorded campaign, or of labelled files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Column, Table

from bot.commands import bench_mcts, bench_oracles, bench_sources
from bot.commands.arguments import Database, Json
from bot.commands.prioritize import choose, read, read_equipped
from bot.console import err, out, print_json
from bot.failures import Refusal
from triage import comparing, curves, labelled, pruning
from triage.comparing import Score
from triage.store import Store, open_store
from triage.subjects import Subject, subjects

bench = typer.Typer(no_args_is_help=True, help="Measure: orders, sources, strategies.", rich_markup_mode="rich")


@bench.callback()
def _bench(context: typer.Context, as_json: Json = False) -> None:
    """Measure on what was recorded."""
    context.obj = as_json


def prioritize(
    context: typer.Context,
    db: Database = "hunt.db",
    campaign: Annotated[
        int | None, typer.Option("--campaign", metavar="ID", help="Which campaign; the newest with bugs without.")
    ] = None,
    strategy: Annotated[
        list[str], typer.Option("--strategy", metavar="NAME", help="A strategy to compare. Repeatable; all without.")
    ] = [],  # noqa: B006
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each strategy.")] = 20,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw bugs over time, one panel a subject.")
    ] = None,
    instances: Annotated[
        Path | None,
        typer.Option("--instances", metavar="FILE.jsonl", help="Operator instances, in place of a database."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE.json", help="Which of the instances show which bug: {bug: [ids]}."),
    ] = None,
    equipped: Annotated[
        Path | None,
        typer.Option("--equipped", metavar="FILE.jsonl", help="Instances that the compiler's own tests have."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare strategies on a recorded campaign: APFD, APFDc, RAUC-k and the time to each bug.

    A subject is what one source gave one target. Nothing is run: outcomes are those recorded. The coverage strategies
    count parameter subspaces, not the compiler's code. Where earlier campaigns of the database ran the same cases on
    other versions of a compiler, graphwarden-history is the order that begins with what failed there.

    With --instances and --labels it compares on files, every test one second.
    """
    for name in strategy:
        if name not in (comparing.LEARNING, comparing.HISTORY):
            choose(name)
    if plot and plot.suffix != ".svg":
        raise Refusal(f"--plot {plot}: only SVG is drawn; name a file that ends in .svg")
    number, gone = None, 0
    if instances or labels or equipped:
        found: Sequence[Subject] = [_labelled(instances, labels, equipped, campaign)]
    else:
        with open_store(db, create=False) as store:
            number, found = _subjects(store, campaign)
            gone = pruning.gone(store, number)
    names = strategy or comparing.strategies(found)
    scores: dict[Subject, list[Score]] = {subject: [] for subject in found}
    for subject, name in track([(s, n) for s in found for n in names], "comparing", console=err, transient=True):
        scores[subject].append(comparing.score(subject, name, seeds))
    if plot:
        plot.write_text(curves.svg(scores), "utf-8")
    if as_json or context.obj:
        documents = [_document(subject, each) for subject, each in scores.items()]
        print_json({"campaign": number, "seeds": seeds, "pruned": gone, "subjects": documents})
        return
    out.print(table(scores, names))
    if gone:
        words = (
            f"graphwarden: campaign {number} was pruned: {gone} results are gone, and these numbers are of the others"
        )
        err.print(words, markup=False, soft_wrap=True)
    for subject in found:
        if subject.unknown:
            err.print(
                f"graphwarden: {subject.name}: {subject.unknown} tests could not be generated again", markup=False
            )


def _subjects(store: Store, campaign: int | None) -> tuple[int, Sequence[Subject]]:
    """The campaign's number and subjects. Raises Refusal where there is nothing to compare."""
    known = [info.id for info in store.campaigns()]
    if campaign is not None and campaign not in known:
        raise Refusal(f"{store.place}: no campaign {campaign} (there are {', '.join(map(str, known)) or 'none'})")
    for number in [campaign] if campaign is not None else reversed(known):
        if found := subjects(store, number):
            return number, found
    raise Refusal(f"{store.place}: no campaign has seen a bug, so no order is better than another")


def _labelled(instances: Path | None, labels: Path | None, equipped: Path | None, campaign: int | None) -> Subject:
    """The subject of the files. Raises Refusal where one is missing or cannot be used."""
    if not instances or not labels:
        raise Refusal("--instances FILE.jsonl and --labels FILE.json go together: give both, --equipped may be added")
    if campaign is not None:
        raise Refusal("--campaign is of a database: leave it out where --instances and --labels are given")
    items, tested = read(instances), read_equipped(equipped)
    try:
        return labelled.subject(instances, items, tested, labels)
    except labelled.UnusableLabels as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise Refusal(f"{labels}: {error.strerror}") from error


def table(scores: Mapping[Subject, Sequence[Score]], names: Sequence[str]) -> Table:
    """APFD, mean ± standard deviation, one column a subject (OPERA, table II on its side)."""
    shown = Table(Column("APFD"))
    for subject in scores:
        shown.add_column(f"{subject.name}\n{len(subject.items)} tests, {len(subject.bugs)} bugs", justify="right")
    for at, name in enumerate(names):
        shown.add_row(name, *(f"{each[at].apfd.mean:.3f} ± {each[at].apfd.stdev:.3f}" for each in scores.values()))
    return shown


def _document(subject: Subject, scores: Sequence[Score]) -> dict[str, Any]:
    return {
        "source": subject.source,
        "target": subject.target,
        "tests": len(subject.items),
        "bugs": {bug: [subject.items[at].id for at in tests] for bug, tests in subject.bugs.items()},
        "unknown": subject.unknown,
        "seconds": sum(subject.seconds),
        "strategies": {score.strategy: _numbers(score) for score in scores},
    }


def _numbers(score: Score) -> dict[str, Any]:
    document = asdict(score)
    del document["strategy"]
    document["rauc"] = {f"{share:g}": asdict(spread) for share, spread in score.rauc.items()}
    return document


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add the command group to the command line."""
    bench.command("prioritize")(telling(prioritize))
    bench.command("sources")(telling(bench_sources.sources))
    bench.command("mcts")(telling(bench_mcts.mcts))
    bench.command("oracles")(telling(bench_oracles.oracles))
    app.add_typer(bench, name="bench")
