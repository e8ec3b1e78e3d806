"""`graphwarden run`: one case on one backend, in an isolated worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from bot import casefile, choices, describe
from bot.commands.arguments import Backend, CasePath, Inputs, Json, Memory, Options, Seconds, Seed
from bot.console import out, print_json
from bot.failures import ExitCode
from fuzz import catalogue, registry
from fuzz.case import Case, Error, Outcome, Stage, Status, Target
from fuzz.classes import classify
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.scrub import plain

_PASSED = (Status.OK, Status.UNSUPPORTED)


def run(
    case_path: CasePath,
    backend: Backend,
    inputs: Inputs = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare with the reference; a difference is `wrong`.")
    ] = False,
    option: Options = [],  # noqa: B006  Typer copies it
    seed: Seed = 0,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    as_json: Json = False,
) -> int:
    """Run a case on a backend and say what happened.

    Exit code 0 for ok and unsupported, 1 for wrong, exception, signal, timeout and oom, 2 for an invalid case.
    """
    target = choices.one_target(backend, option)
    with Runner(Limits(timeout, memory), jobs=1) as runner:
        case = casefile.load(case_path, inputs, seed, runner)
        found, status, reason = _outcome(runner, case, target, compare)
    if as_json:
        print_json(describe.outcome(found, status))
    else:
        _print(found, status, reason)
    if status is Status.INVALID:
        return ExitCode.UNUSABLE
    return ExitCode.DONE if status in _PASSED else ExitCode.FAILED


def _outcome(runner: Runner, case: Case, target: Target, compare: bool) -> tuple[Outcome, Status, str]:
    """The outcome, its status as scripts know it, and one line that says why."""
    if case.kind not in registry.backend(target.backend).kinds:
        return Outcome(Status.UNSUPPORTED, Stage.START), Status.UNSUPPORTED, f"takes no {case.kind_name}"
    if not compare:
        found = runner.run_fresh(case, target)
        return found, _shown(found.status), found.error.message if found.error else ""
    verdict = Judge(runner, catalogue.target("reference")).examine(case, target)
    found = verdict.outcome or Outcome(Status.INVALID, Stage.START)
    if verdict.failure:
        return found, verdict.failure.outcome.status, verdict.reason
    if verdict.status is Status.INVALID:
        # What a compiler said of a case that was no case is beside the point.
        return replace(found, error=Error(message=verdict.reason)), Status.INVALID, verdict.reason
    # A value that cannot be compared (undefined, random, no reference) is not wrong: it ran.
    status = found.status if verdict.status is Status.SKIPPED else verdict.status
    return found, _shown(status), verdict.reason


def _shown(status: Status) -> Status:
    """Scripts know no `skipped`: what cannot be handed to a backend is unsupported by it."""
    return Status.UNSUPPORTED if status is Status.SKIPPED else status


def _print(found: Outcome, status: Status, reason: str) -> None:
    colour = "green" if status in _PASSED else "red"
    found_class = classify(status, found.stage)
    named = f" ({found_class})" if found_class and status is not Status.OK else ""
    out.print(
        f"[{colour}]{status}[/]{named} in stage {found.stage} after {found.seconds:.3f} s, peak {found.peak_mb:.0f} MiB"
    )
    if reason:
        out.print(plain(reason), markup=False)
    for entry in describe.outcome(found, status)["outputs"]:
        told = f"  {entry['name']}: {entry['dtype']}{entry['shape']} sha256 {entry['sha256'][:16]}"
        out.print(" ".join(plain(told).splitlines()), markup=False)
    if found.error:
        for frame in found.error.frames[-5:]:
            out.print(f"  {frame.file}:{frame.line} in {frame.function}", markup=False)
        if found.error.signal:
            out.print(f"  signal {found.error.signal}", markup=False)
        if found.error.stderr.strip():
            out.print("\n".join(plain(found.error.stderr).strip().splitlines()[-15:]), markup=False)
