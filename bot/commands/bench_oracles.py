"""`graphwarden bench oracles`: deviations of mutants under three oracles, as Table 1 of MT-DLComp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Column
from rich.table import Table as Shown

from bot import choices
from bot.commands.arguments import Json, Memory, Options, Seconds, Seed
from bot.console import err, out, print_json
from bot.failures import ExitCode, Refusal
from fuzz import catalogue
from fuzz.case import Target
from fuzz.limits import Limits
from fuzz.mutants import seeds
from fuzz.mutants.deviations import FAR, Row, Table
from fuzz.mutants.judging import DIED, WRONG
from fuzz.mutants.mutator import NoPlace
from fuzz.mutants.subject import PREFIX, UnusableSeed, seed_case, subject_of
from fuzz.oracles.metamorphic import DELTA
from fuzz.runner import Runner

#: The compilers of the comparison, and the seeds of the paper's table 3, where none is named.
BACKENDS, MODELS = ["onnxruntime", "openvino"], ["resnet18", "vgg11", "mobilenetv2"]


def oracles(
    context: typer.Context,
    model: Annotated[
        list[str], typer.Option("--model", metavar="NAME", help=f"A seed: {', '.join(seeds.names())}. Repeatable.")
    ] = [],  # noqa: B006
    mutants: Annotated[
        int, typer.Option("--mutants", min=1, help="Mutants of each seed, each one mutation more than the last.")
    ] = 100,
    backend: Annotated[
        list[str], typer.Option("--backend", help=f"A compiler. Repeatable; {' and '.join(BACKENDS)} without.")
    ] = [],  # noqa: B006
    option: Options = [],  # noqa: B006
    delta: Annotated[float, typer.Option("--delta", min=0, help="By how much scores may differ.")] = DELTA,
    seed: Seed = 0,
    timeout: Seconds = 300.0,
    memory: Memory = 8192,
    as_json: Json = False,
) -> None:
    """Compare three oracles on mutants: two compilers, a compiler and the reference, a mutant and its original.

    Deviations beside those of oracle 3, alarms (another label, or scores that differ by --delta), and how many of the
    alarms are no more than rounding.
    """
    names = [each.removeprefix(PREFIX) for each in dict.fromkeys(model or MODELS)]
    _check(names)
    with Runner(Limits(timeout, memory), jobs=1) as runner:
        targets = _targets(runner, backend or BACKENDS, option)
        table = Table(runner, targets, catalogue.target("reference"), delta)
        with Progress(console=err, transient=True) as bar:
            task = bar.add_task("comparing", total=mutants * len(names))
            for name in names:
                for _ in _series(table, runner, name, mutants, seed):
                    bar.advance(task)
    if as_json or context.obj:
        print_json(document(table, names, mutants, seed, delta))
    else:
        out.print(_table(table))
        _say_alarms(table)


def _check(names: Sequence[str]) -> None:
    """Raises Refusal for a seed that there is not."""
    for name in names:
        if name not in seeds.names():
            raise Refusal(f"--model {name!r}: name one of {', '.join(seeds.names())}")


def _targets(runner: Runner, names: Sequence[str], option: Sequence[str]) -> list[Target]:
    """One variant of each compiler. Raises Refusal."""
    wanted = {each.backend: each for each in reversed(choices.hunt_targets(names, option))}
    for probe in choices.require(runner, list(wanted)):
        if not probe.available:
            raise Refusal(f"--backend {probe.name}: {probe.reason}", ExitCode.ENVIRONMENT)
    return [wanted[name] for name in sorted(wanted)]


def _series(table: Table, runner: Runner, name: str, mutants: int, seed: int) -> Any:
    """Raises Refusal."""
    try:
        yield from table.series(subject_of(seed_case(name, seed), runner), mutants, seed)
    except (UnusableSeed, NoPlace) as error:
        raise Refusal(f"{name}: {error}") from error


def document(table: Table, names: Sequence[str], mutants: int, seed: int, delta: float) -> dict[str, Any]:
    """The counts, by compiler."""
    rows = {name: _row(row) for name, row in table.rows.items()}
    return {"seeds": list(names), "mutants": mutants, "seed": seed, "delta": delta, "far": FAR, "compilers": rows}


def _row(row: Row) -> dict[str, Any]:
    others = {
        name: {"oracle": 2 if name == "reference" else 1} | asdict(oracle) | {"false_alarms": share(oracle.alarms, row)}
        for name, oracle in sorted(row.others.items())
    }
    third = {
        "findings": dict(sorted(row.findings.items())),
        "alarms": row.alarms,
        "largest": row.largest,
        "false_alarms": share(reports(row), row),
    }
    return {
        "mutants": row.mutants,
        "excluded": dict(sorted(row.excluded.items())),
        "against": others,
        "itself": third,
        "failures": row.failures,
    }


def reports(row: Row) -> int:
    """What oracle 3 would have somebody read: it found more than rounding."""
    return row.findings[WRONG] + row.findings[DIED]


def share(count: int, row: Row) -> float:
    """Of all mutants. On a compiler without a bug that these mutants meet, every alarm is a false one."""
    return count / row.mutants if row.mutants else 0.0


def _table(table: Table) -> Shown:
    """Deviations beside oracle 3's, one line for each implementation that a compiler is held against."""
    shown = Shown(Column("compiler"), Column("held against"))
    for heading in ("greater", "equal", "smaller", f"{FAR:g} times", "alarms", "of them rounding"):
        shown.add_column(heading, justify="right")
    for name, row in table.rows.items():
        for other, oracle in sorted(row.others.items(), key=lambda pair: pair[0] == "reference"):
            told = f"{other} (oracle {2 if other == 'reference' else 1})"
            counts = (oracle.greater, oracle.equal, oracle.smaller, oracle.far, oracle.alarms, oracle.honest)
            shown.add_row(name, told, *map(str, counts))
        numeric = str(row.findings["numeric"])
        shown.add_row(name, "itself (oracle 3)", "", "", "", "", str(row.alarms), numeric, end_section=True)
    return shown


def _say_alarms(table: Table) -> None:
    for name, row in table.rows.items():
        left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(row.excluded.items()))
        told = f"{name}: oracle 3 reports {reports(row)} of {row.mutants} mutants ({share(reports(row), row):.1%})"
        told += f"; left out of the deviations: {left_out}" if left_out else ""
        for line in (told, *(f"  {failure}" for failure in row.failures)):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
