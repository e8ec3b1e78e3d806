"""`graphwarden reduce`: the smallest case that still fails, and the largest one beside it that passes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import casefile, choices
from bot.check import Check
from bot.commands.arguments import CasePath, Inputs, Json, Memory, Options, Seconds, Seed
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz import catalogue, registry
from fuzz.case import Case, Failure, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import asking
from triage import reduce as reducer
from triage.interesting import recorded, same_signature
from triage.options import Needs, needs
from triage.signing import Signer
from triage.trials import Answer, Interesting, Journal

#: Runs that may go into the search for a passing neighbour: a command's are dear, a compiler's are not.
_NEIGHBOURS_OF_CHECK, _NEIGHBOURS = 2, 12
#: Runs of a command that may go into shapes, values and attributes once the nodes are found.
_SIMPLIFYING_OF_CHECK = 4
#: How often a check that refuses the case itself is asked again, to tell a flaky one from a wrong one.
_ASKED_AGAIN = 2

OptionalBackend = Annotated[
    str, typer.Option("--backend", help="A name from `graphwarden backends`, or a path to a backend file.")
]


@dataclass(frozen=True)
class Subject:
    """What is to be kept: the predicate, what it is called, and what else is known of the failure."""

    interesting: Interesting
    signature: str
    identity: str
    confirm: Interesting | None = None
    suspects: tuple[str, ...] = ()
    most_runs: int = reducer.MOST_RUNS
    neighbours: int = _NEIGHBOURS
    simplifying: int | None = None
    fed: bool = True  # whether the predicate sees the values of the inputs
    refused: Callable[[Case], str] = lambda case: ""  # why the case itself is not interesting
    needs: Callable[[Case], Needs | None] = lambda case: None  # what of the target the reduced case needs
    slips: list[Failure] | None = None
    starts: list[Target] = field(default_factory=list)  # runs outside the search: the first look, and of options


def reduce(
    case_path: CasePath,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the smallest failing case is written.")],
    backend: OptionalBackend = "",
    check: Annotated[
        str,
        typer.Option(
            "--check",
            metavar="COMMAND",
            help="Instead of a backend: a shell command with {model} (and {inputs}, an .npz) in it; "
            "exit code 0 = still interesting.",
        ),
    ] = "",
    inputs: Inputs = None,
    option: Options = [],  # noqa: B006  Typer copies it
    seed: Seed = 0,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Candidates that are tried at a time.")] = 1,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="A candidate counts if it fails so many times in a row.")
    ] = 1,
    deadline: Annotated[str, typer.Option("--deadline", help="Stop with the best so far: 90s, 3m, none.")] = "none",
    as_json: Json = False,
) -> int:
    """Reduce a failing case, keeping its signature (or the answer of a command). Exit code 1 if it does not fail.

    With a backend it also tells which options, levels and passes the reduced case needs to fail. A reduction that
    was killed goes on where it was when the same command is given again. The keys of the JSON are described in
    docs/decisions/006-reduction.md.
    """
    if bool(backend) == bool(check):
        raise Refusal("say what must be kept: --backend NAME, or --check 'COMMAND {model}' (one of the two)")
    limit = seconds(deadline, "--deadline")
    _check(output)
    if output.resolve() == case_path.resolve():
        raise Refusal(f"{output}: is the case itself; name another file for the reduced one")
    target = choices.one_target(backend, option) if backend else None
    with Runner(Limits(timeout, memory), jobs=jobs) as runner, err.status("reducing") as status:
        case = casefile.load(case_path, inputs, seed, runner)
        with _subject(case_path, case, target, Check(check, timeout, casefile.save) if check else None, runner) as kept:
            journal = Journal(_beside(output, ".journal"), _subject_id(case, kept, repeats))
            found = _reduced(
                case,
                kept,
                values=recorded(runner, catalogue.target("reference")),
                deadline=None if limit is None else time.monotonic() + limit,
                progress=lambda name, runs: status.update(f"reducing: {runs} runs, {name}"),
                jobs=jobs,
                repeats=repeats,
                journal=journal,
                where=case_path,
            )
            needed = kept.needs(found.case) if found.finished else None
        journal.finish()
    _tell(_document(found, kept, needed, output), as_json)
    return ExitCode.DONE


# ---------------------------------------------------------------- what is kept


@contextmanager
def _subject(path: Path, case: Case, target: Target | None, check: Check | None, runner: Runner) -> Iterator[Subject]:
    if check is not None:
        with check:
            yield _of_check(check)
    elif target is not None:
        yield _of_backend(path, case, target, runner)


def _of_check(check: Check) -> Subject:
    def refused(case: Case) -> str:
        told = check.said
        held = [check(case) for _ in range(_ASKED_AGAIN)].count(Answer.SAME)
        if held:
            return f"the check holds in {held} of {_ASKED_AGAIN + 1} runs: let it repeat what is unsteady by itself"
        return f"the check does not hold for the case itself: {told}"

    return Subject(
        interesting=check,
        signature=f"same because `{check.command}` exits with 0",
        identity=check.command,
        neighbours=_NEIGHBOURS_OF_CHECK,
        simplifying=_SIMPLIFYING_OF_CHECK,
        fed="{inputs}" in check.command,
        refused=refused,
    )


def _of_backend(path: Path, case: Case, target: Target, runner: Runner) -> Subject:
    judge, signer = Judge(runner, catalogue.target("reference")), Signer(runner)
    if case.kind not in registry.backend(target.backend).kinds:
        raise Refusal(f"{path}: {target.backend} does not take this kind of case")
    verdict = judge.examine(case, target)
    failure = verdict.failure
    if failure is None:
        told = verdict.reason or "the result agrees with the reference"
        raise Refusal(f"{path} does not fail on {target.backend}: {verdict.status}, {told}", ExitCode.FAILED)
    slips: list[Failure] = []
    starts = [target]
    error = failure.outcome.error

    def still_fails(case: Case, other: Target) -> bool:
        starts.append(other)
        return bool(same_signature(judge, replace(failure, target=other), signer.sign, fresh=True)(case))

    def needed(case: Case) -> Needs:
        def passes(other: Target) -> list[str]:
            starts.append(other)
            return asking.passes(runner, case, other)

        return needs(target, passes, lambda other: still_fails(case, other))

    signature = signer.sign(failure)
    return Subject(
        interesting=same_signature(judge, failure, signer.sign, slipped=slips.append),
        confirm=same_signature(judge, failure, signer.sign, fresh=True),
        signature=signature.why,
        identity=f"{target.id} {signature.fingerprint}",
        suspects=(error.operator,) if error and error.operator else (),
        most_runs=reducer.most_runs(failure.symptom),
        needs=needed,
        slips=slips,
        starts=starts,
    )


def _subject_id(case: Case, kept: Subject, repeats: int) -> str:
    return hashlib.sha256(f"{case.id} {kept.identity} {repeats}".encode()).hexdigest()[:16]


def _reduced(case: Case, kept: Subject, *, where: Path, repeats: int, **settings: Any) -> reducer.Reduction:
    try:
        return reducer.reduce(
            case,
            kept.interesting,
            suspects=kept.suspects,
            confirm=kept.confirm,
            confirmed=kept.confirm is not None or repeats > 1,
            most_runs=kept.most_runs,
            neighbours=kept.neighbours,
            simplifying=kept.simplifying,
            fed=kept.fed,
            repeats=repeats,
            **settings,
        )
    except reducer.NotInteresting as problem:
        settings["journal"].finish()
        raise Refusal(f"{where}: {kept.refused(case) or problem}", ExitCode.FAILED) from problem


# ---------------------------------------------------------------- what is told


def _document(found: reducer.Reduction, kept: Subject, needed: Needs | None, output: Path) -> dict[str, object]:
    """Write the files and describe them."""
    written = casefile.save(found.case, output)
    min_good = None
    if found.min_good:
        good = _beside(output, ".min_good" + output.suffix, instead=True)
        casefile.save(found.min_good.case, good)
        min_good = {"model": str(good), "difference": found.min_good.difference}
    document: dict[str, object] = {
        "nodes_before": found.nodes_before,
        "nodes_after": found.nodes_after,
        "elements_before": found.elements_before,
        "elements_after": found.elements_after,
        "predicate_runs": found.runs + len(kept.starts),
        "seconds": round(found.seconds, 3),
        "signature": kept.signature,
        "min_good": min_good,
        "finished": found.finished,
        "files": [str(path) for path in written],
    }
    if needed is not None:
        document |= {
            "options": dict(needed.options),
            "levels": {name: list(steps) for name, steps in needed.levels.items()},
            "passes": None if needed.passes is None else list(needed.passes),
        }
    if kept.slips is not None:
        document["slips"] = [str(path) for path in _save_slips(kept.slips, output)]
    return document


def _save_slips(slips: list[Failure], output: Path) -> list[Path]:
    """Other failures that candidates ran into, the smallest of each symptom: they may be bugs of their own."""
    smallest: dict[str, Failure] = {}
    for failure in slips:
        known = smallest.get(failure.symptom)
        if known is None or len(failure.case.model) < len(known.case.model):
            smallest[failure.symptom] = failure
    written = []
    for at, failure in enumerate(smallest.values(), start=1):
        written.append(_beside(output, f".slip{at}{output.suffix}", instead=True))
        casefile.save(failure.case, written[-1])
    return written


def _tell(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    lines = [
        f"{document['nodes_before']} -> {document['nodes_after']} nodes, {document['elements_before']} -> "
        f"{document['elements_after']} elements, {document['predicate_runs']} runs, {document['seconds']:.1f} s; "
        f"wrote {', '.join(document['files'])}"
    ]
    if document["min_good"]:
        lines.append(f"passes with {document['min_good']['difference']}: {document['min_good']['model']}")
    lines += [f"fails at {name} = {', '.join(steps)}" for name, steps in document.get("levels", {}).items()]
    if document.get("passes") is not None:
        lines.append(
            f"fails with no passes on but {', '.join(document['passes']) or 'those that it cannot do without'}"
        )
    if document.get("slips"):
        lines.append(f"other failures met on the way: {', '.join(document['slips'])}")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def _beside(output: Path, ending: str, instead: bool = False) -> Path:
    """`output` with another ending, instead of its own or after it."""
    return output.with_name((output.stem if instead else output.name) + ending)


def _check(output: Path) -> None:
    """Raise Refusal if the result cannot be written: a reduction takes too long to find that out at its end."""
    if output.is_dir():
        raise Refusal(f"{output}: is a folder; name the file that the reduced case is written to")
    if not output.parent.is_dir():
        raise Refusal(f"{output}: there is no folder {output.parent}")
