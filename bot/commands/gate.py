"""`graphwarden gate`: what a change of a compiler breaks and what it fixes."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from bot import baseline, outputs, suitefile, touching
from bot.baseline import Baseline
from bot.builds import revision as find_revision
from bot.commands import suite_arguments as arguments
from bot.commands.arguments import Json, Memory, Seconds, Seed
from bot.console import out, print_json
from bot.durations import seconds
from bot.failures import ExitCode
from fuzz.case import Revision
from fuzz.lane import Limits
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.signing import Signer
from triage.suite import memory, sarif, telling
from triage.suite.changed import Lines
from triage.suite.compare import Change
from triage.suite.entries import Entry
from triage.suite.gate import Conclusion, Result, Sides
from triage.suite.gate import gate as run_gate
from triage.suite.order import Order
from triage.suite.telling import Teller, Told

_LISTS = (Change.NEW_FAILURE, Change.FIXED, Change.STILL_FAILING, Change.FLAKY)


def gate(
    base: Annotated[
        str, typer.Option("--base", metavar="REV", help="The build before the change, or the branch that it is for.")
    ],
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

    A head that is a commit is compared with its merge base with --base. A difference counts only when it repeats in
    fresh processes on both builds. Exit code 1 for new failures, 0 for none, and 0 as well when nothing can be
    concluded: no base, a build that cannot be tested, no time.
    """
    chosen = arguments.chosen(compiler, config)
    total = seconds(budget)
    outputs.check_file("--sarif", sarif_file)
    outputs.check_file("--summary", summary)
    lines = arguments.lines(changed)
    wanted = arguments.wanted(cases, tests, form, db, source, slice_size, seed)
    limits = Limits(timeout, memory_mb)
    sweep_stale_homes()
    with Runner(limits, jobs or None) as runner:
        after = find_revision(chosen, head)
        against = baseline.find(chosen, base, after)
        entries = suitefile.gather(wanted, chosen.backend, runner)
        asked = _Asked(chosen, against, after, entries, lines, seed, total, limits, fresh)

        def give(result: Result, told: Tales) -> None:
            found = document(chosen, against, after.version, result, told)
            _tell(found, as_json)
            if sarif_file is not None:
                outputs.write("--sarif", sarif_file, json.dumps(_sarif(told, after.version), indent=2) + "\n")
            if summary is not None:
                outputs.write("--summary", summary, telling.summary(found), append=True)

        result = _run(runner, asked, give)
    return ExitCode.FAILED if result.conclusion is Conclusion.FAILURE else ExitCode.DONE


Tales = Mapping[Change, "list[Told] | tuple[()]"]


@dataclass(frozen=True)
class _Asked:
    """What a gate is asked: `lines` are those of --changed, `budget` is in seconds."""

    compiler: Compiler
    against: Baseline
    head: Revision
    entries: list[Entry]
    lines: list[Lines]
    seed: int
    budget: float | None
    limits: Limits
    fresh: bool


def _run(runner: Runner, asked: _Asked, give: Callable[[Result, Tales], None]) -> Result:
    """The gate's result, which `give` was given; neutral where there is nothing to compare. Raises Refusal."""
    if asked.against.revision is None:
        return _neutral(asked, asked.against.why, give)
    try:
        return _compared(runner, asked, asked.against.revision, give)
    except Untestable as problem:
        return _neutral(asked, str(problem), give)


def _neutral(asked: _Asked, reason: str, give: Callable[[Result, Tales], None]) -> Result:
    result = Result((), len(asked.entries), 0.0, Conclusion.NEUTRAL, reason)
    give(result, dict.fromkeys(_LISTS, ()))
    return result


def _compared(runner: Runner, asked: _Asked, base: Revision, give: Callable[[Result, Tales], None]) -> Result:
    """The gate on two builds. Its journal is kept until the result is given. Raises Untestable, Refusal."""
    compiler, entries = asked.compiler, asked.entries
    places = touching.operators(compiler, base.commit, asked.head, asked.lines)
    environments = Environments(runner)
    built = [arguments.build(environments, compiler, revision) for revision in (base, asked.head)]
    (before, _), (after, _) = built
    order = Order(entries, asked.seed, memory.past(entries, compiler.name, before.version), places)
    sides = Sides(Replay(runner, compiler), before, after)
    builds = [build for _, build in built]
    with arguments.opened("gate", compiler, builds, entries, asked.limits, asked.fresh) as journal:
        result = run_gate(entries, order, sides, journal, budget=asked.budget, jobs=runner.jobs)
        for revision, letters in (
            (before, {pair.id: pair.base.remembered for pair in result.pairs}),
            (after, {pair.id: pair.head.remembered for pair in result.pairs}),
        ):
            memory.remember(compiler.name, revision.version, letters)
        teller = Teller(entries, order, sides, Signer(runner), places)
        give(result, {change: [] if _suspect(result) else teller.tell(result, change) for change in _LISTS})
        journal.finish()
    return result


def _suspect(result: Result) -> bool:
    """Whether the differences say nothing of the code: they are not told one by one then."""
    return result.conclusion is Conclusion.NEUTRAL


def document(compiler: Compiler, base: Baseline, head: str, result: Result, told: Tales) -> dict[str, Any]:
    """The document of `gate --json`. `compared_with` is the merge base of commits, else the base; "" where none is."""
    return {
        "compiler": compiler.name,
        "base": base.named,
        "compared_with": base.version,
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


def _tell(found: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: Mapping[str, Any]) -> None:
    colour = {"success": "green", "failure": "red"}.get(found["conclusion"], "yellow")
    out.print(f"[{colour}]{found['conclusion']}[/]" + (f": {found['reason']}" if found["reason"] else ""))
    if found["compared_with"] not in ("", found["base"]):
        line = f"compared with {found['compared_with']}, where {found['head']} left {found['base']}"
        out.print(line, markup=False, soft_wrap=True)
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
