"""`graphwarden bisect`: between which two builds of a compiler an outcome changed."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bot import builds, casefile, choices
from bot.commands.arguments import Database, Inputs, Json, Memory, Options, Seconds, Seed
from bot.commands.revisions import refusing
from bot.commands.suite_arguments import CompilerName, Config
from bot.commands.suite_arguments import chosen as configured
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz import registry
from fuzz.case import Case, Revision
from fuzz.lane import Limits
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage.bisect import progress
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection, BrokenEnd, NoAnswer
from triage.bisect.builds import Builds
from triage.bisect.found import Found, Kind, with_section
from triage.records import Bug
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.scrub import plain
from triage.store import Store, open_store

#: Where builds come ready made: all of so many are tested, which shows what flips there and back.
_READY_MADE = frozenset({"release", "wheel"})
_MOST_SWEPT = 40


@dataclass(frozen=True)
class Subject:
    """What is bisected: a case, with what else its failure needs; `bug` where it is one of a database."""

    case: Case
    options: dict[str, str]
    bug: Bug | None = None


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
    db: Database = Path("hunt.db"),
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
        found = _subject(subject, inputs, option, db, seed, runner, chosen)
        chosen = replace(chosen, options={**chosen.options, **found.options})
        span = _span(chosen, first, last)
        kept = progress.of(found.case.id, _told(chosen), [each.version for each in span], platform.node())
        if fresh:
            kept.finish()
        search = Bisection(
            span,
            Builds(found.case, Replay(runner, chosen, excuses=False), Environments(runner), _perturb(found)),
            kept,
            fix=fix,
            sweep=len(span) <= _MOST_SWEPT and chosen.provider in _READY_MADE if sweep is None else sweep,
            deadline=float("inf") if limit is None else time.monotonic() + limit,
            jobs=jobs,
            say=lambda text: status.update(f"bisecting: {plain(text)}"),
        )
        with _answerable():
            answer = search.run()
    code = _tell(answer, fix, as_json)
    if found.bug:
        _keep(db, found.bug, answer, fix)
    return code


# ---------------------------------------------------------------- what is bisected


def _subject(
    name: str, inputs: Path | None, pairs: Sequence[str], db: Path, seed: int, runner: Runner, compiler: Compiler
) -> Subject:
    """The case of that file, or the reduced case of that bug. Raises Refusal."""
    options = choices.options(pairs)
    backend = registry.backend(compiler.backend)
    try:
        backend.settle(options)
    except registry.UnknownBackend as error:
        raise Refusal(str(error)) from error
    if Path(name).suffix in (".onnx", ".json") or Path(name).exists():
        found = Subject(casefile.load(Path(name), inputs, seed, runner), options)
    else:
        found = _of_bug(name, db, compiler, options)
    if found.case.kind not in backend.kinds:
        raise Refusal(f"{name}: {backend.name} does not take {found.case.kind_name}")
    return found


def _of_bug(name: str, db: Path, compiler: Compiler, options: dict[str, str]) -> Subject:
    if not db.exists():
        raise Refusal(f"{name}: no such file, and no database {db} that it could be a bug of")
    with open_store(db, create=False) as store:
        bug = next((one for one in store.bugs() if name in (str(one.id), one.fingerprint)), None)
        if bug is None:
            raise Refusal(f"{name}: no such file, and no bug of {db} has this id or fingerprint")
        if registry.backend(bug.backend).source != compiler.backend:
            raise Refusal(f"bug {bug.id} is one of {bug.backend}, not of {compiler.name}")
        return Subject(_case(store, bug), {**dict(bug.target.options), **options}, bug)


def _case(store: Store, bug: Bug) -> Case:
    if bug.reduced_case_id is not None:
        return store.case(bug.reduced_case_id)
    if bug.best_failure_id is None:
        raise Refusal(f"bug {bug.id} has no failing case")
    return store.failure(bug.best_failure_id).failure.case


def _perturb(found: Subject) -> int | None:
    return found.bug.perturb if found.bug else None


def _span(compiler: Compiler, first: str, last: str) -> tuple[Revision, ...]:
    found = builds.span(compiler, first, last)
    if len(found) < 2:
        raise Refusal(f"--from and --to are both {found[0].version}: nothing lies between them")
    return found


def _told(compiler: Compiler) -> list[object]:
    """All of a configuration that decides what runs."""
    settings, options = sorted(compiler.settings.items()), sorted(compiler.options.items())
    return [compiler.name, compiler.backend, compiler.provider, settings, options, compiler.python, compiler.requires]


@contextmanager
def _answerable() -> Iterator[None]:
    try:
        yield
    except BrokenEnd as problem:
        raise Refusal(str(problem), ExitCode.ENVIRONMENT) from problem
    except NoAnswer as problem:
        raise Refusal(str(problem), ExitCode.FAILED) from problem


# ---------------------------------------------------------------- what is told


def _keep(db: Path, bug: Bug, answer: Answer, fix: bool) -> None:
    """Save with a bug where it came or went; its draft, and the report that was written of it, say so too."""
    if answer.first is None or answer.last_before is None or answer.confidence is None:
        return
    kind = Kind.GOOD if fix else Kind.BAD
    found = {**bug.bisected, kind: Found(answer.first, answer.last_before, answer.confidence)}
    with open_store(db, create=False) as store:
        draft = store.draft(bug.id)
        if draft is None:
            store.amend(bug.id, bug.state, bisected=found)
            return
        draft = replace(draft, body=with_section(draft.body, found))
        store.amend(bug.id, bug.state, bisected=found, draft=draft)
    report = Path(bug.report_path) if bug.report_path else None
    if report and report.is_file():
        report.write_text(with_section(report.read_text(encoding="utf-8"), found), encoding="utf-8")


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
