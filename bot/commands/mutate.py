"""`graphwarden mutate`: mutants that must compute what their seed computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from google.protobuf.message import EncodeError

from bot import casefile, choices, inputfile
from bot.commands.arguments import Json, Memory, Options, Seconds, Seed
from bot.console import out, print_json
from bot.failures import ExitCode, Refusal
from bot.levelcheck import LevelCheck
from bot.mutantcheck import Check
from bot.outputs import models_folder
from fuzz.case import Case
from fuzz.limits import Limits
from fuzz.mutants import mutation, seeds
from fuzz.mutants.model import MissingMutation, MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.mutator import CHOICES, KINDS, Mutator, NoPlace
from fuzz.mutants.subject import PREFIX, Subject, UnusableSeed, seed_case, subject_of
from fuzz.oracles.metamorphic import DELTA
from fuzz.runner import Runner

#: Takes the mutant after these mutations, and how many they are.
Examine = Callable[[int, MutantModel, Sequence[Mutation]], None]
LIST, INPUTS, FAILURES = "mutations.jsonl", "inputs.npz", "failures"
_BUILT_IN = ", ".join(f"{PREFIX}{name}" for name in seeds.names())


def mutate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=f"An ONNX file, or one of {_BUILT_IN}.")],
    output: Annotated[Path, typer.Option("--out", help="Folder of the mutants; made if missing.")],
    mutations: Annotated[int, typer.Option("--mutations", min=1, help="How many, each upon the last.")] = 10,
    every: Annotated[int, typer.Option("--every", min=1, help="Write every K-th mutant, and the last.")] = 1,
    kind: Annotated[
        str, typer.Option("--kind", metavar="A,B", help="uoc: zero for every input; pioc: for the profiled one.")
    ] = ",".join(KINDS),
    choose: Annotated[
        str, typer.Option("--choose", metavar="HOW", help=f"Where: {CHOICES[0]}, or guided by {CHOICES[1]}.")
    ] = CHOICES[0],
    inputs: Annotated[
        Path | None, typer.Option("--inputs", metavar="FILE.npz", help="The profiled input; drawn from --seed without.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help=f"Apply the mutations of a {LIST} instead.")
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", help="Compare every written mutant with the seed on this compiler (oracle 3).")
    ] = "",
    option: Options = [],  # noqa: B006  Typer copies it
    delta: Annotated[float, typer.Option("--delta", min=0, help="By how much scores may differ.")] = DELTA,
    drawn: Annotated[
        int, typer.Option("--sequences", min=0, help="Optimise seed and mutants by so many drawn sequences (oracle 2).")
    ] = 0,
    devices: Annotated[
        bool, typer.Option("--devices", help="Compare them on the backend's other targets and numbers of threads.")
    ] = False,
    seed: Seed = 0,
    timeout: Seconds = 300.0,
    memory: Memory = 8192,
    as_json: Json = False,
) -> int:
    """Mutate a model: [bold]000001.onnx[/] and so on compute what [bold]000000.onnx[/], the seed, does.

    The profiled input lies beside them in [bold]inputs.npz[/], what was inserted in [bold]mutations.jsonl[/].
    The same arguments give the same bytes. With --backend the exit code is 1 if a mutant deviates by more than rounding
    can, or dies; the smallest that does so is written to [bold]failures[/]. With --sequences or --devices it is 1, too,
    if seed or mutant do when they are optimised otherwise. docs/mutants.md describes the files.
    """
    kinds = _checked(kind, choose)
    listed = _listed(replay) if replay else None
    count = mutations if listed is None else len(listed)
    wanted = {*range(every, count + 1, every), count}
    target = choices.one_target(backend, option) if backend else None
    if target is None and (drawn or devices):
        raise Refusal("--sequences and --devices compare on a compiler: name it with --backend")
    models_folder("--out", output, wanted | {0})
    with Runner(Limits(timeout, memory), jobs=1) as runner:
        choices.require_devices(runner, [target] if target else [])
        subject = _subject(model, inputs, seed, runner)
        check = Check(runner, subject, target, delta, output / FAILURES) if target else None
        levels = (
            LevelCheck(runner, subject, target, delta, drawn, devices, seed) if target and (drawn or devices) else None
        )
        mutant = subject.mutant()
        mutator = Mutator(mutant, subject.profile, seed, kinds, choose)
        steps = _drawn(mutator, count, model) if listed is None else _replayed(mutant, subject, listed, str(replay))
        made = _write_all(output, subject, mutant, steps, wanted, _examine(check, levels))
    document: dict[str, Any] = {
        "mutations": count,
        "models": len(wanted),
        "nodes": len(mutant.nodes),
        "guards": dict(sorted(Counter(each.guard for each in made).items())),
        "rejected": sum(mutator.rejected.values()),
    }
    if check is not None:
        document |= {"findings": dict(sorted(check.counts.items())), "failures": check.failures}
    if levels is not None:
        document |= {"levels": {"findings": dict(sorted(levels.counts.items())), "failures": levels.failures}}
    _tell(document, output, as_json)
    failed = bool(check and check.failures) or bool(levels and levels.failures)
    return ExitCode.FAILED if failed else ExitCode.DONE


def _examine(check: Check | None, levels: LevelCheck | None) -> Examine:
    """What is to be done with every mutant that is written."""

    def examine(number: int, mutant: MutantModel, mutations: Sequence[Mutation]) -> None:
        if check is not None:
            check.examine(number, mutant, mutations)
        if levels is not None:
            levels.examine(number, mutant)

    return examine


def _write_all(
    output: Path,
    subject: Subject,
    mutant: MutantModel,
    steps: Iterator[Mutation],
    wanted: set[int],
    examine: Examine,
) -> list[Mutation]:
    """Write seed, inputs, list and the mutants that are wanted, and have these judged. Returns the mutations."""
    made: list[Mutation] = []
    _write(output / f"{0:06d}.onnx", mutant)
    inputfile.write(output / INPUTS, subject.case.inputs)
    with (output / LIST).open("w", encoding="utf-8", newline="\n") as lines:
        for number, step in enumerate(steps, start=1):
            made.append(step)
            lines.write(step.line() + "\n")
            if number in wanted:
                _write(output / f"{number:06d}.onnx", mutant)
                examine(number, mutant, made)
    return made


def _tell(document: dict[str, Any], output: Path, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    told = f"{document['mutations']} mutations, {document['models']} mutants, the last with {document['nodes']} nodes"
    out.print(f"{told}: {output}", markup=False, soft_wrap=True)
    if "findings" in document:
        counted = ", ".join(f"{number} {kind}" for kind, number in document["findings"].items())
        out.print(f"oracle 3: {counted}", markup=False, soft_wrap=True)
    if "levels" in document:
        counted = ", ".join(f"{number} {kind}" for kind, number in document["levels"]["findings"].items())
        out.print(f"oracle 2: {counted}", markup=False, soft_wrap=True)
        for failure in document["levels"]["failures"]:
            line = f"mutant {failure['mutant']}: {failure['signature']}: {failure['detail']}"
            out.print(line, markup=False, soft_wrap=True)
    for failure in document.get("failures", ()):
        files = "; smallest: " + ", ".join(failure["files"]) if "files" in failure else ""
        line = f"mutant {failure['mutant']}: {failure['symptom']}: {failure['detail']}{files}"
        out.print(line, markup=False, soft_wrap=True)


def _checked(kind: str, choose: str) -> tuple[str, ...]:
    """The kinds. Raises Refusal."""
    kinds = tuple(dict.fromkeys(each for each in kind.split(",") if each))
    unknown = [each for each in kinds if each not in KINDS]
    if unknown or not kinds:
        raise Refusal(f"--kind {kind!r}: name one or more of {', '.join(KINDS)}, with a comma between them")
    if choose not in CHOICES:
        raise Refusal(f"--choose {choose!r}: name one of {', '.join(CHOICES)}")
    return kinds


def _listed(path: Path) -> list[Mutation]:
    """The mutations of a list. Raises Refusal."""
    try:
        found = mutation.read(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"--replay {path}: {error.strerror if isinstance(error, OSError) else error}") from error
    except mutation.UnreadableMutations as error:
        raise Refusal(f"--replay {error}") from error
    if not found:
        raise Refusal(f"--replay {path}: holds no mutation")
    return found


def _subject(model: str, inputs: Path | None, seed: int, runner: Runner) -> Subject:
    """The seed and its profile. Raises Refusal."""
    try:
        case = _built_in(model, inputs, seed) if model.startswith(PREFIX) else _file(model, inputs, seed, runner)
        return subject_of(case, runner)
    except (UnusableSeed, seeds.UnknownSeed) as error:
        raise Refusal(f"{model}: {error}") from error


def _built_in(model: str, inputs: Path | None, seed: int) -> Case:
    case = seed_case(model.removeprefix(PREFIX), seed)
    if inputs is None:
        return case
    return Case(case.kind, case.model, inputfile.read(inputs, seeds.build(model.removeprefix(PREFIX))), case.origin)


def _file(model: str, inputs: Path | None, seed: int, runner: Runner) -> Case:
    case = casefile.load(Path(model), inputs, seed, runner)
    if case.kind != "onnx":
        raise Refusal(f"{model}: only ONNX models can be mutated, not {case.kind_name}")
    return case


def _drawn(mutator: Mutator, count: int, model: str) -> Iterator[Mutation]:
    """Mutations as they are made. Raises Refusal."""
    for _ in range(count):
        try:
            yield mutator.mutate()
        except NoPlace as error:
            raise Refusal(f"{model}: {error}") from error


def _replayed(mutant: MutantModel, subject: Subject, listed: list[Mutation], path: str) -> Iterator[Mutation]:
    """Mutations as they are applied. Raises Refusal."""
    for step in listed:
        try:
            mutant.apply(step, subject.profile.values)
        except MissingMutation as error:
            raise Refusal(f"--replay {path}: {error}; is it the list of this model?") from error
        yield step


def _write(path: Path, mutant: MutantModel) -> None:
    """Raises Refusal."""
    try:
        path.write_bytes(mutant.proto().SerializeToString(deterministic=True))
    except (EncodeError, ValueError) as error:
        raise Refusal(f"{path}: the mutant is larger than 2 GiB, more than one message holds") from error
