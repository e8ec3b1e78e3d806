"""Arguments of the commands that run a suite, described once, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from bot.builds import compiler
from bot.commands.arguments import Memory, Seconds, Seed
from bot.durations import seconds
from bot.failures import Refusal
from bot.suitefile import FORMS, Wanted
from fuzz.limits import Limits
from triage.revisions.config import Compiler
from triage.suite.changed import BadLines, Lines, given

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
BugsOf = Annotated[
    str | None, typer.Option("--db", metavar="FILE|URL", help="Also the confirmed bugs of this hunt, reduced.")
]
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


@dataclass(frozen=True)
class SuiteOptions:
    """What every command that runs a suite takes (`bot.commands.spreading`)."""

    config: Config = None
    cases: Cases = None
    tests: Tests = field(default_factory=list)
    form: Form = "plain"
    db: BugsOf = None
    source: Sources = field(default_factory=list)
    slice_size: Slice = 500
    seed: Seed = 0
    jobs: Jobs = 0
    timeout: Seconds = 30.0
    memory_mb: Memory = 4096
    fresh: Fresh = False

    @property
    def wanted(self) -> Wanted:
        """The suite that is meant."""
        sources = tuple(self.source) or ("onnx_node",)
        return Wanted(self.cases, tuple(self.tests), self.form, self.db, sources, self.slice_size, self.seed)

    @property
    def limits(self) -> Limits:
        """The limits of each run."""
        return Limits(self.timeout, self.memory_mb)


@dataclass(frozen=True)
class BudgetOptions(SuiteOptions):
    """What the commands take beside it that begin with what matters most."""

    budget: Budget = "10m"
    changed: Changed = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """The time for running, None without end. Raises Refusal."""
        return seconds(self.budget)

    @property
    def lines(self) -> list[Lines]:
        """The files and lines that --changed names. Raises Refusal."""
        try:
            return [given(text) for text in self.changed]
        except BadLines as error:
            raise Refusal(f"--changed: {error}") from error
