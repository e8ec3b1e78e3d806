"""`graphwarden court`: evidence for and against a compiler on one case, and a verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from bot import casefile, choices
from bot.commands.arguments import Backend, CasePath, Inputs, Json, Memory, Options, Seconds, Seed
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz import catalogue, registry
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import FILED, Judgement
from triage.court.hearing import Court
from triage.jury import accused
from triage.scrub import plain


def court(
    case_path: CasePath,
    backend: Backend,
    inputs: Inputs = None,
    option: Options = [],  # noqa: B006  Typer copies it
    seed: Seed = 0,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    deadline: Annotated[str, typer.Option("--deadline", help="Time for all the evidence: 90s, 3m, none.")] = "2m",
    as_json: Json = False,
) -> int:
    """Judge whether a failing case is the compiler's fault, and show the evidence.

    With `--backend reference` the reference itself is tried, against the compilers that contradict it.

    The verdict is one of: compiler bug, reference bug, undefined behaviour, numeric noise, nondeterministic,
    unsupported, invalid test, environment. Exit code 1 if the case does not fail: the verdict is null then.
    """
    target = choices.one_target(backend, option)
    limit = seconds(deadline, "--deadline")
    with Runner(Limits(timeout, memory), jobs=1) as runner, err.status("gathering evidence"):
        case = casefile.load(case_path, inputs, seed, runner)
        if case.kind not in registry.backend(target.backend).kinds:
            raise Refusal(f"{case_path}: {target.backend} does not take this kind of case")
        judgement = Court(runner, catalogue.target("reference"), limit or float("inf")).hear(case, target)
    if as_json:
        print_json(judgement.document())
    else:
        _print(judgement, "the reference" if accused(target, catalogue.target("reference")) else "the compiler")
    if judgement.verdict is None:
        raise Refusal(f"{case_path} does not fail on {target.backend}: {judgement.reason}", ExitCode.FAILED)
    return ExitCode.DONE


def _print(judgement: Judgement, defendant: str) -> None:
    if judgement.verdict is None:
        return
    colour = "red" if judgement.verdict in FILED else "green"
    whose = f" of {judgement.project}" if judgement.project else ""
    out.print(f"[{colour}]{judgement.verdict}[/]{whose}: ", end="")
    out.print(plain(judgement.reason), markup=False)
    for each in judgement.evidence:
        side = str(each.side).replace("the compiler", defendant)
        out.print(f"  {each.kind} ({side}): {' '.join(plain(each.sentence).split())}", markup=False)
