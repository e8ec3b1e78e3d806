"""Arguments of the commands that run a suite, described once, and what they share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bot.builds import compiler
from bot.failures import Refusal
from bot.suitefile import FORMS, Wanted
from fuzz.case import Revision
from fuzz.lane import Limits
from triage.machine import version
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.suite.changed import BadLines, Lines, given
from triage.suite.entries import Entry
from triage.suite.journal import Busy, Journal

CompilerName = Annotated[
    str, typer.Option("--compiler", metavar="NAME", help="A configured compiler (`data/compilers`), or a .toml file.")
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The compiler's configuration, in place of the one.")
]
Cases = Annotated[
    Path | None, typer.Option("--cases", metavar="DIR", help="Only the cases below this folder: .onnx (+ .npz), .json.")
]
Tests = Annotated[
    list[str], typer.Option("--tests", metavar="NAME", help="Only these node tests of ONNX, by name. Repeatable.")
]
Form = Annotated[
    str, typer.Option("--form", help=f"The form of --tests: {' or '.join(FORMS)} (inputs that are no data: constants).")
]
BugsOf = Annotated[Path | None, typer.Option("--db", help="Also the confirmed bugs of this hunt, reduced.")]
Sources = Annotated[
    list[str], typer.Option("--source", help="Where the slice comes from; repeatable. onnx_node without.")
]
Slice = Annotated[int, typer.Option("--slice", min=0, help="So many cases of the sources, the most promising ones.")]
Budget = Annotated[str, typer.Option("--budget", help="Time for running: 90s, 10m, none. Building is not counted.")]
Jobs = Annotated[int, typer.Option("--jobs", min=0, help="Workers at once; 0: one per core.")]
Changed = Annotated[
    list[str],
    typer.Option(
        "--changed",
        metavar="FILE[:LINES]",
        help="A file that the commit touches: its operators come first. Repeatable; asked of the repository without, "
        "where revisions are commits.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what an interrupted run of the same has found.")]


def chosen(name: str, config: Path | None) -> Compiler:
    """The compiler that is named, or that --config means. Raises Refusal."""
    if not name and config is None:
        raise Refusal("which compiler? give --compiler NAME (sweep: COMPILER) or --config FILE")
    return compiler(str(config) if config is not None else name)


def wanted(
    cases: Path | None,
    tests: Sequence[str],
    form: str,
    db: Path | None,
    source: Sequence[str],
    size: int,
    seed: int,
) -> Wanted:
    """The suite that the arguments mean."""
    return Wanted(cases, tuple(tests), form, db, tuple(source) or ("onnx_node",), size, seed)


def lines(changed: Sequence[str]) -> list[Lines]:
    """The files and lines that --changed names. Raises Refusal."""
    try:
        return [given(text) for text in changed]
    except BadLines as error:
        raise Refusal(f"--changed: {error}") from error


def opened(
    command: str,
    compiler: Compiler,
    builds: Sequence[tuple[str, str]],
    entries: Sequence[Entry],
    limits: Limits,
    fresh: bool,
) -> Journal:
    """The journal of a run; `builds` are revisions with their identities. Raises Refusal.

    Whatever can change an outcome belongs to its question: other limits or other versions begin anew.
    """
    question = {
        "command": command,
        "compiler": compiler.name,
        "configuration": str(compiler.source),
        "options": dict(compiler.options),
        "builds": [list(build) for build in builds],
        "limits": dataclasses.asdict(limits),
        "versions": {package: version(package) for package in ("graphwarden", "onnx")},
        "cases": sorted((entry.name, entry.id) for entry in entries),
    }
    try:
        return Journal(question, fresh=fresh)
    except Busy as error:
        raise Refusal(str(error)) from error


def build(environments: Environments, compiler: Compiler, revision: Revision) -> tuple[Revision, tuple[str, str]]:
    """An ensured revision, and what the journal knows it by. Raises Untestable."""
    ready = environments.ensure(compiler, revision)
    return ready, (ready.version, environments.identity(compiler, ready))
