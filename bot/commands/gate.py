"""`graphwarden gate`: what a change of a compiler breaks and what it fixes."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from bot import suitefile, touching
from bot.builds import revision as find_revision
from bot.commands import suite_arguments as arguments
from bot.commands.arguments import Json, Memory, Seconds, Seed
from bot.console import out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz.case import Revision
from fuzz.lane import Limits
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.signing import Signer
from triage.suite import memory, sarif, telling
from triage.suite.compare import Change
from triage.suite.entries import Entry
from triage.suite.gate import Conclusion, Result, Sides
from triage.suite.gate import gate as run_gate
from triage.suite.order import Order
from triage.suite.telling import Teller, Told

_LISTS = (Change.NEW_FAILURE, Change.FIXED, Change.STILL_FAILING, Change.FLAKY)


def gate(
    base: Annotated[str, typer.Option("--base", metavar="REV", help="The build before the change.")],
    head: Annotated[str, typer.Option("--head", metavar="REV", help="The build with the change.")],
    compiler: arguments.CompilerName = "",
    config: arguments.Config = None,
    budget: arguments.Budget = "10m",
    sarif_file: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write the new failures as SARIF 2.1.0.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", metavar="FILE", help="Append what is told as Markdown.")
    ] = None,
    cases: arguments.Cases = None,
    tests: arguments.Tests = [],  # noqa: B006
    form: arguments.Form = "plain",
    db: arguments.BugsOf = None,
    source: arguments.Sources = [],  # noqa: B006
    slice_size: arguments.Slice = 500,
    changed: arguments.Changed = [],  # noqa: B006
    seed: Seed = 0,
    jobs: arguments.Jobs = 0,
    timeout: Seconds = 30.0,
    memory_mb: Memory = 4096,
    fresh: arguments.Fresh = False,
    as_json: Json = False,
) -> int:
    """Run the suite on two builds in turns, and say what the newer one breaks, fixes and leaves broken.

    A difference counts only when it repeats in fresh processes on both builds. Exit code 1 for new failures, 0 for
    none, and 0 as well when nothing can be concluded: no base, a build that cannot be tested, no time.
    """
    chosen = arguments.chosen(compiler, config)
    total = seconds(budget)
    wanted = arguments.wanted(cases, tests, form, db, source, slice_size, seed)
    sweep_stale_homes()
    with Runner(Limits(timeout, memory_mb), jobs or None) as runner:
        entries = suitefile.gather(wanted, chosen.backend, runner)
        named = [find_revision(chosen, name) for name in (base, head)]
        places = touching.operators(chosen, named[0].commit, named[1], changed)
        try:
            result, told = _run(runner, chosen, named, entries, places, seed, total, fresh)
        except Untestable as problem:
            result = Result((), len(entries), 0.0, Conclusion.NEUTRAL, str(problem))
            told = dict.fromkeys(_LISTS, ())
    found = document(chosen, named[0].version, named[1].version, result, told)
    if sarif_file is not None:
        _write(sarif_file, json.dumps(_sarif(told, named[1].version), indent=2) + "\n")
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(telling.summary(found))
    if as_json:
        print_json(found)
    else:
        _show(found)
    return ExitCode.FAILED if result.conclusion is Conclusion.FAILURE else ExitCode.DONE


Tales = Mapping[Change, "list[Told] | tuple[()]"]


def _run(
    runner: Runner,
    chosen: Compiler,
    named: list[Revision],
    entries: list[Entry],
    places: Mapping[str, Any],
    seed: int,
    budget: float | None,
    fresh: bool,
) -> tuple[Result, Tales]:
    """The gate on two builds, and its differences told. Raises Untestable, Refusal."""
    environments = Environments(runner)
    built = [arguments.build(environments, chosen, revision) for revision in named]
    (before, _), (after, _) = built
    order = Order(entries, seed, memory.past(entries, chosen.name, before.version), places)
    sides = Sides(Replay(runner, chosen), before, after)
    with arguments.opened("gate", chosen, [build for _, build in built], entries, fresh) as journal:
        result = run_gate(entries, order, sides, journal, budget=budget, jobs=runner.jobs)
        for revision, letters in (
            (before, {pair.id: pair.base.remembered for pair in result.pairs}),
            (after, {pair.id: pair.head.remembered for pair in result.pairs}),
        ):
            memory.remember(chosen.name, revision.version, letters)
        teller = Teller(entries, order, sides, Signer(runner), places)
        told = {change: [] if _suspect(result) else teller.tell(result, change) for change in _LISTS}
        journal.finish()
    return result, told


def _suspect(result: Result) -> bool:
    """Whether the differences say nothing of the code: they are not told one by one then."""
    return result.conclusion is Conclusion.NEUTRAL


def document(compiler: Compiler, base: str, head: str, result: Result, told: Tales) -> dict[str, Any]:
    """The document of `gate --json`."""
    return {
        "compiler": compiler.name,
        "base": base,
        "head": head,
        **{change.value: [one.document for one in told[change]] for change in _LISTS},
        "ran": len(result.pairs),
        "of": result.of,
        "seconds": round(result.seconds, 3),
        "conclusion": result.conclusion.value,
        "reason": result.reason,
    }


def _sarif(told: Tales, revision: str) -> dict[str, Any]:
    findings = [
        sarif.Finding(one.id, one.title, one.symptom, one.conversion_function, one.place)
        for one in told[Change.NEW_FAILURE]
    ]
    return sarif.document(findings, importlib.metadata.version("graphwarden"), revision)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; name a file that can be written") from error


def _show(found: Mapping[str, Any]) -> None:
    colour = {"success": "green", "failure": "red"}.get(found["conclusion"], "yellow")
    out.print(f"[{colour}]{found['conclusion']}[/]" + (f": {found['reason']}" if found["reason"] else ""))
    for change in (Change.NEW_FAILURE, Change.FIXED, Change.FLAKY):
        if not found[change.value]:
            continue
        shown = Table("id", "what", "base", "head", title=change.value.replace("_", " "), title_justify="left")
        for one in found[change.value]:
            shown.add_row(one["id"], Text(one["title"]), one["status_base"], one["status_head"])
        out.print(shown)
    out.print(
        f"{found['ran']} of {found['of']} cases on both builds in {found['seconds']:.0f} s: "
        f"{len(found['new_failures'])} new failures, {len(found['fixed'])} fixed, "
        f"{len(found['still_failing'])} still failing, {len(found['flaky'])} flaky",
        markup=False,
    )
