"""`graphwarden gate`: what a change of a compiler breaks and what it fixes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from bot import gating, outputs
from bot.commands import suite_arguments as arguments
from bot.commands.arguments import Json
from bot.commands.spreading import spread
from bot.console import out, print_json
from bot.failures import ExitCode
from bot.gating import Answer
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.suite import telling
from triage.suite.compare import Change
from triage.suite.gate import Conclusion


@spread
def gate(
    base: Annotated[
        str, typer.Option("--base", metavar="REV", help="The build before the change, or the branch that it is for.")
    ],
    head: Annotated[str, typer.Option("--head", metavar="REV", help="The build with the change.")],
    suite: arguments.BudgetOptions,
    compiler: arguments.CompilerName = "",
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write the new failures as SARIF 2.1.0.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", metavar="FILE", help="Append what is told as Markdown.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Run the suite on two builds in turns, and say what the newer one breaks, fixes and leaves broken.

    A head that is a commit is compared with its merge base with --base. A difference counts only when it repeats in
    fresh processes on both builds. Exit code 1 for new failures, 0 for none, and 0 as well when nothing can be
    concluded: no base, a build that cannot be tested, no time.
    """
    question = gating.Question(
        compiler=arguments.chosen(compiler, suite.config),
        base=base,
        head=head,
        wanted=suite.wanted,
        limits=suite.limits,
        lines=suite.lines,
        budget=suite.seconds,
        fresh=suite.fresh,
    )
    outputs.check_file("--sarif", sarif)
    outputs.check_file("--summary", summary)

    def give(answer: Answer) -> None:
        _tell(answer.document, as_json)
        if sarif is not None:
            outputs.write("--sarif", sarif, json.dumps(answer.sarif, indent=2) + "\n")
        if summary is not None:
            outputs.write("--summary", summary, telling.summary(answer.document), append=True)

    sweep_stale_homes()
    with Runner(question.limits, suite.jobs or None) as runner:
        answer = gating.judge(runner, question, give)
    return ExitCode.FAILED if answer.conclusion is Conclusion.FAILURE else ExitCode.DONE


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
