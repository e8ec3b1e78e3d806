"""`graphwarden suite run`: the suite on one build of a compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from bot import journals, suitefile, touching
from bot.builds import revision as find_revision
from bot.commands import suite_arguments as arguments
from bot.commands.arguments import Json
from bot.commands.spreading import spread
from bot.console import err, out, print_json
from bot.failures import ExitCode, Refusal
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.suite import memory, running
from triage.suite.entries import LETTERS, PASS, UNKNOWN, Entry
from triage.suite.order import Order


def suite(context: typer.Context) -> None:
    """Run what a compiler has failed on before, and a slice of the tests, on its builds (`docs/gate.md`)."""


@spread
def run(
    revision: Annotated[str, typer.Option("--revision", metavar="REV", help="The build: a release, a commit, a tag.")],
    suite: arguments.BudgetOptions,
    compiler: arguments.CompilerName = "",
    as_json: Json = False,
) -> None:
    """Run the suite on one build, the most telling cases first, until it or the budget ends.

    The same command goes on where an interrupted one stopped. Exit code 3 when the build cannot be tested.
    """
    chosen = arguments.chosen(compiler, suite.config)
    budget, lines = suite.seconds, suite.lines
    sweep_stale_homes()
    with Runner(suite.limits, suite.jobs or None) as runner:
        named = find_revision(chosen, revision)
        entries = suitefile.gather(suite.wanted, chosen.backend, runner)
        try:
            build = journals.build(Environments(runner), chosen, named)
            past = memory.past(entries, chosen.name, named.parent or build.revision.version)
            order = Order(entries, suite.seed, past, touching.operators(chosen, named.parent, named, lines))
            with journals.opened("suite", chosen, [build.key], entries, suite.limits, suite.fresh) as journal:
                done = running.run(
                    entries, order, Replay(runner, chosen), build.revision, journal, budget=budget, jobs=runner.jobs
                )
                version = build.revision.version
                running.remember(chosen.name, version, done.results)
                if as_json:
                    print_json(document(chosen, version, entries, done))
                else:
                    _show(chosen, version, entries, done)
                journal.finish()
        except Untestable as problem:
            raise Refusal(str(problem), ExitCode.ENVIRONMENT) from problem


def document(compiler: Compiler, revision: str, entries: Sequence[Entry], done: running.Run) -> dict[str, Any]:
    """The document of `suite run --json`. `expected` is there where the suite knows the letter of this release."""
    known = {entry.id: entry.expected.at(compiler.name, revision) for entry in entries}
    return {
        "compiler": compiler.name,
        "revision": revision,
        "ran": len(done.results),
        "of": done.of,
        "seconds": round(done.seconds, 3),
        "outcomes": [
            {
                "case": one.name,
                "id": one.id,
                "status": one.status.value,
                "letter": one.letter,
                "symptom": one.symptom,
                "seconds": round(one.seconds, 4),
                **({"expected": known[one.id]} if known.get(one.id) else {}),
            }
            for one in done.results
        ],
    }


def _show(compiler: Compiler, revision: str, entries: Sequence[Entry], done: running.Run) -> None:
    counts = {letter: [one for one in done.results if one.letter == letter] for letter in LETTERS}
    shown = Table(title=f"{compiler.name} {revision}", title_justify="left")
    for column in ("outcome", "cases", "such as"):
        shown.add_column(column)
    for letter, found in counts.items():
        if found:
            examples = "" if letter == PASS else ", ".join(one.name for one in found[:3])
            shown.add_row(LETTERS[letter], str(len(found)), Text(examples, overflow="ellipsis", no_wrap=True))
    out.print(shown)
    out.print(f"{len(done.results)} of {done.of} cases in {done.seconds:.1f} s", markup=False)
    for line in unexpected(compiler, revision, entries, done):
        err.print(f"graphwarden: {line}", markup=False, soft_wrap=True)


def unexpected(compiler: Compiler, revision: str, entries: Sequence[Entry], done: running.Run) -> list[str]:
    """Lines that tell which committed entries did something else than they are known to do on this release."""
    known = {entry.id: entry.expected.at(compiler.name, revision) for entry in entries}
    return [
        f"{one.name}: {one.letter} where {known[one.id]} is expected of {compiler.name} {revision}"
        for one in done.results
        if known.get(one.id) and one.letter not in (known[one.id], UNKNOWN)
    ]


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add `suite` and its commands to the command line; `telling` wraps what prints."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.callback()(suite)
    group.command("run")(telling(run))
    app.add_typer(group, name="suite")
