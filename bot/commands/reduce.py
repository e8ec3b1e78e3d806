"""`graphwarden reduce`: the smallest case that fails with the same signature."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from bot import casefile, choices
from bot.commands.arguments import Backend, CasePath, Inputs, Json, Memory, Options, Seconds, Seed
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz import catalogue, registry
from fuzz.judge import Judge
from fuzz.lane import Limits
from fuzz.runner import Runner
from triage import reduce as reducer
from triage.interesting import recorded, same_signature
from triage.signing import Signer


def reduce(
    case_path: CasePath,
    backend: Backend,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the smallest failing case is written.")],
    inputs: Inputs = None,
    option: Options = [],  # noqa: B006  Typer copies it
    seed: Seed = 0,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    deadline: Annotated[str, typer.Option("--deadline", help="Stop with the best so far: 90s, 3m, none.")] = "none",
    as_json: Json = False,
) -> int:
    """Reduce a failing case by delta debugging, keeping its signature. Exit code 1 if it does not fail."""
    target = choices.one_target(backend, option)
    limit = seconds(deadline, "--deadline")
    _check(output)
    with Runner(Limits(timeout, memory), jobs=1) as runner, err.status("reducing") as status:
        case = casefile.load(case_path, inputs, seed, runner)
        reference = catalogue.target("reference")
        judge, signer = Judge(runner, reference), Signer(runner)
        if case.kind not in registry.backend(target.backend).kinds:
            raise Refusal(f"{case_path}: {target.backend} does not take this kind of case")
        verdict = judge.examine(case, target)
        if verdict.failure is None:
            told = verdict.reason or "the result agrees with the reference"
            raise Refusal(f"{case_path} does not fail on {target.backend}: {verdict.status}, {told}", ExitCode.FAILED)
        signature = signer.sign(verdict.failure)
        error = verdict.failure.outcome.error
        try:
            found = reducer.reduce(
                case,
                same_signature(judge, verdict.failure, signer.sign),
                values=recorded(runner, reference),
                deadline=None if limit is None else time.monotonic() + limit,
                progress=lambda name, runs: status.update(f"reducing: {runs} runs, pass {name}"),
                suspects=[error.operator] if error and error.operator else (),
                most_runs=reducer.most_runs(verdict.failure.symptom),
            )
        except reducer.NotInteresting as problem:
            raise Refusal(f"{case_path}: {problem}", ExitCode.FAILED) from problem
    written = casefile.save(found.case, output)
    document = {
        "nodes_before": found.nodes_before,
        "nodes_after": found.nodes_after,
        "elements_before": found.elements_before,
        "elements_after": found.elements_after,
        "predicate_runs": found.runs,
        "seconds": round(found.seconds, 3),
        "signature": signature.why,
        "files": [str(path) for path in written],
    }
    if as_json:
        print_json(document)
    else:
        out.print(
            f"{found.nodes_before} -> {found.nodes_after} nodes, {found.elements_before} -> {found.elements_after} "
            f"elements, {found.runs} runs, {found.seconds:.1f} s; wrote {', '.join(map(str, written))}",
            markup=False,
        )
    return ExitCode.DONE


def _check(output: Path) -> None:
    """Raise Refusal if the result cannot be written: a reduction takes too long to find that out at its end."""
    if output.is_dir():
        raise Refusal(f"{output}: is a folder; name the file that the reduced case is written to")
    if not output.parent.is_dir():
        raise Refusal(f"{output}: there is no folder {output.parent}")
