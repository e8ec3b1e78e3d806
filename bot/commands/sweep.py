"""`graphwarden sweep`: the same cases on every release of a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot import builds, journals, outputs, suitefile
from bot.commands import suite_arguments as arguments
from bot.commands.arguments import Json
from bot.commands.spreading import spread
from bot.console import err, out, print_json
from fuzz.case import Revision
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.replay import Replay
from triage.revisions.environments import Environments
from triage.suite import memory, picture
from triage.suite.entries import LETTERS, Entry
from triage.suite.sweep import Swept, flips_back, history, steps
from triage.suite.sweep import sweep as run_sweep

_STYLES = {"P": "green", "W": "dark_orange", "E": "cyan", "C": "red", "T": "magenta", "F": "yellow"}


@dataclass(frozen=True)
class SweepOptions(arguments.SuiteOptions):
    """Each case runs on every release, so the slice is a smaller one."""

    slice_size: arguments.Slice = 100


@spread
def sweep(
    suite: SweepOptions,
    compiler: Annotated[str, typer.Argument(metavar="COMPILER", help="A configured compiler, or a .toml file.")] = "",
    first: Annotated[
        str, typer.Option("--from", metavar="REV", help="The oldest revision; the first one without.")
    ] = "",
    last: Annotated[str, typer.Option("--to", metavar="REV", help="The newest revision; the last one without.")] = "",
    revision: Annotated[
        list[str], typer.Option("--revision", metavar="REV", help="Only these revisions. Repeatable.")
    ] = [],  # noqa: B006
    output: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.svg", help="Draw cases x revisions as a picture.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Write the cases that change as entries of a suite, with outcomes."),
    ] = None,
    excuses: Annotated[
        bool,
        typer.Option("--excuses/--strict", help="Leave out values that the specification leaves open, as a hunt does."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run cases on every revision and show where outcomes change: a table, and a picture with --out.

    Letters: P pass, W wrong result, E exception or unsupported, C crash, T timeout, F flaky, - a build that cannot be
    tested, ? nothing to judge. The same command goes on where an interrupted one stopped.
    """
    chosen = arguments.chosen(compiler, suite.config)
    outputs.check_file("--out", output)
    outputs.check_folder("--keep", keep)
    named = [builds.revision(chosen, name) for name in revision] or list(builds.span(chosen, first, last))
    sweep_stale_homes()
    with Runner(suite.limits, suite.jobs or None) as runner:
        entries = suitefile.gather(suite.wanted, chosen.backend, runner)
        environments = Environments(runner)

        def make(one: Revision) -> Revision:
            return environments.ensure(chosen, one)

        which = [(one.version, "excuses" if excuses else "strict") for one in named]
        with journals.opened("sweep", chosen, which, entries, suite.limits, suite.fresh) as journal:
            swept = run_sweep(entries, named, Replay(runner, chosen, excuses=excuses), make, journal, _progress)
            if excuses:
                _remember(chosen.name, entries, swept)
            _tell(chosen.name, swept, as_json)
            if output is not None:
                outputs.write("--out", output, picture.svg(swept, f"{chosen.name}: outcomes by release"))
            if keep is not None:
                _keep(keep, chosen.name, entries, swept)
            journal.finish()


def document(compiler: str, swept: Swept) -> dict[str, Any]:
    """The document of `sweep --json`."""
    rows = swept.rows()
    return {
        "compiler": compiler,
        "revisions": list(swept.revisions),
        "cases": rows,
        "changed": [name for name, row in rows.items() if steps(row)],
        "flip_flops": [name for name, row in rows.items() if flips_back(row)],
        "untestable": swept.untestable,
        "letters": dict(LETTERS),
    }


def _keep(folder: Path, compiler: str, entries: Sequence[Entry], swept: Swept) -> None:
    """The cases that change, for the next suite."""
    for entry in entries:
        if steps(swept.row(entry.name)):
            suitefile.keep(folder, entry, history(swept, entry.name, compiler))


def _remember(compiler: str, entries: Sequence[Entry], swept: Swept) -> None:
    """What was seen decides on the order of later suites."""
    ids = {entry.name: entry.id for entry in entries}
    for version, letters in swept.letters.items():
        memory.remember(compiler, version, {ids[name]: letter for name, letter in letters.items() if name in ids})


def _progress(revision: Revision, swept: Swept) -> None:
    if err.is_terminal:
        done = sum(version in swept.letters or version in swept.untestable for version in swept.revisions)
        err.print(f"{revision.version} ({done} of {len(swept.revisions)})", markup=False)


def _tell(compiler: str, swept: Swept, as_json: bool) -> None:
    for version, reason in swept.untestable.items():
        err.print(f"graphwarden: {version} cannot be tested: {reason}", markup=False, soft_wrap=True)
    if as_json:
        print_json(document(compiler, swept))
    else:
        _show(compiler, swept)


def _show(compiler: str, swept: Swept) -> None:
    rows = swept.rows()
    heads = [Column(Text("\n".join(version)), justify="center") for version in swept.revisions]
    shown = Table(
        Column(compiler, overflow="ellipsis", no_wrap=True, ratio=1), *heads, Column("", no_wrap=True), padding=(0, 0)
    )
    changing = [name for name, row in rows.items() if steps(row)]
    for name in changing:
        letters = [Text(letter, style=_STYLES.get(letter, "dim")) for letter in rows[name]]
        shown.add_row(Text(name), *letters, Text("flip-flop", "red") if flips_back(rows[name]) else "")
    if changing:
        out.print(shown)
    kept = len(rows) - len(changing)
    out.print(
        f"{len(changing)} of {len(rows)} cases change over {len(swept.revisions)} revisions of {compiler}"
        + (f"; {kept} do not" if kept else ""),
        markup=False,
    )
