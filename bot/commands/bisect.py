"""`graphwarden bisect`: between which two builds of a compiler an outcome changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bot import casefile, choices
from bot.bisecting import Question, Subject, case_of, keep, search
from bot.commands.arguments import Database, Inputs, Json, Memory, Options, Seconds, Seed
from bot.commands.revisions import refusing
from bot.commands.suite_arguments import CompilerName, Config
from bot.commands.suite_arguments import chosen as configured
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz import registry
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.bisect.answer import Answer
from triage.bisect.bisection import BrokenEnd, NoAnswer
from triage.records import Bug
from triage.revisions.config import Compiler
from triage.scrub import plain
from triage.store import open_store
from triage.store_place import is_server


def bisect(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="CASE|BUG", help="An ONNX model, an operator instance, or a bug of --db: its id or fingerprint."
        ),
    ],
    first: Annotated[str, typer.Option("--from", metavar="REV", help="The older end.")],
    last: Annotated[str, typer.Option("--to", metavar="REV", help="The newer end.")],
    compiler: CompilerName = "",
    config: Config = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Find the first revision that passes, not the first that fails.")
    ] = False,
    sweep: Annotated[
        bool | None,
        typer.Option(
            "--sweep/--no-sweep", help="Test every revision. Without: all of up to 40 releases, but not all commits."
        ),
    ] = None,
    inputs: Inputs = None,
    option: Options = [],  # noqa: B006  Typer copies it
    db: Database = "hunt.db",
    budget: Annotated[str, typer.Option("--budget", help="Stop with what is known by then: 90s, 10m, none.")] = "none",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Revisions that are tested at a time.")] = 2,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what an interrupted run of the same has seen.")
    ] = False,
    seed: Seed = 0,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    as_json: Json = False,
) -> int:
    """Find the first revision of a compiler on which a case fails, or with --fix the first on which it passes again.

    Both ends are run first. A failure that comes and goes is run as often as its rate makes necessary. An outcome that
    flips more than once is told with all its flips, and no revision is blamed. What is found out about a bug is kept
    with it and stands in its report. A search that was killed goes on when the same command is given again.

    Exit code 1 if the ends do not differ or the answer would be to the other question, 3 if one cannot be tested.
    """
    limit = seconds(budget)
    chosen = configured(compiler, config)
    sweep_stale_homes()
    with Runner(Limits(timeout, memory), jobs=jobs) as runner, err.status("bisecting") as status, refusing():
        asked, bug = _subject(subject, inputs, option, db, seed, runner, chosen)
        question = Question(chosen, asked, first, last, fix, sweep, limit, fresh)
        with _answerable():
            answer = search(runner, question, lambda text: status.update(f"bisecting: {plain(text)}"))
    code = _tell(answer, fix, as_json)
    if bug:
        with open_store(db, create=False) as store:
            keep(store, bug, answer, fix)
    return code


# ---------------------------------------------------------------- what is bisected


def _subject(
    name: str, inputs: Path | None, pairs: Sequence[str], db: str, seed: int, runner: Runner, compiler: Compiler
) -> tuple[Subject, Bug | None]:
    """The case of that file, or the reduced case of that bug, and the bug. Raises Refusal."""
    options = choices.options(pairs)
    backend = registry.backend(compiler.backend)
    try:
        backend.settle(options)
    except registry.UnknownBackend as error:
        raise Refusal(str(error)) from error
    bug = None
    if Path(name).suffix in (".onnx", ".json") or Path(name).exists():
        found = Subject(casefile.load(Path(name), inputs, seed, runner), options)
    else:
        found, bug = _of_bug(name, db, compiler, options)
    if found.case.kind not in backend.kinds:
        raise Refusal(f"{name}: {backend.name} does not take {found.case.kind_name}")
    return found, bug


def _of_bug(name: str, db: str, compiler: Compiler, options: dict[str, str]) -> tuple[Subject, Bug]:
    if not is_server(db) and not Path(db).exists():
        raise Refusal(f"{name}: no such file, and no database {db} that it could be a bug of")
    with open_store(db, create=False) as store:
        bug = next((one for one in store.bugs() if name in (str(one.id), one.fingerprint)), None)
        if bug is None:
            raise Refusal(f"{name}: no such file, and no bug of {store.place} has this id or fingerprint")
        if registry.backend(bug.backend).source != compiler.backend:
            raise Refusal(f"bug {bug.id} is one of {bug.backend}, not of {compiler.name}")
        return Subject(case_of(store, bug), {**dict(bug.target.options), **options}, bug.perturb), bug


@contextmanager
def _answerable() -> Iterator[None]:
    try:
        yield
    except BrokenEnd as problem:
        raise Refusal(str(problem), ExitCode.ENVIRONMENT) from problem
    except NoAnswer as problem:
        raise Refusal(str(problem), ExitCode.FAILED) from problem


# ---------------------------------------------------------------- what is told


def _tell(answer: Answer, fix: bool, as_json: bool) -> int:
    if as_json:
        print_json(answer.document())
    else:
        _print(answer, fix)
    if not answer.flips:
        if as_json:
            err.print(plain(f"graphwarden: {next(answer.sentences(fix))}"), markup=False, soft_wrap=True)
        return ExitCode.FAILED
    return ExitCode.DONE


def _print(answer: Answer, fix: bool) -> None:
    for sentence in answer.sentences(fix):
        out.print(" ".join(plain(sentence).split()), markup=False, soft_wrap=True)
    shown = Table("revision", "status", "runs", "failed")
    for each in answer.tested:
        note = f" (same build as {each.same_build})" if each.same_build else ""
        shown.add_row(*(Text(cell) for cell in (each.revision, each.status + note, str(each.runs), str(each.failed))))
    out.print(shown)
