"""`graphwarden revisions`: the builds of a compiler, and the environments that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.table import Table
from typer.core import TyperGroup

from bot.commands.arguments import Json
from bot.console import err, out, print_json
from bot.failures import ExitCode, Refusal
from fuzz.case import Revision
from fuzz.runner import Runner
from triage.revisions import approvals, config, listing
from triage.revisions.config import BadConfiguration, Compiler
from triage.revisions.environments import Environment, Environments, Untestable
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable
from triage.revisions.listing import UnknownRevision
from triage.revisions.recipe import CannotBuild
from triage.scrub import plain

CompilerName = Annotated[
    str, typer.Argument(metavar="COMPILER", help="openvino, onnxruntime, tvm, or a configuration (docs/revisions.md).")
]


@contextmanager
def refusing() -> Iterator[None]:
    """What is wrong with a configuration, a revision or the index is told in one line."""
    try:
        yield
    except (BadConfiguration, UnknownRevision, GitError, CannotBuild) as error:
        raise Refusal(str(error)) from error
    except IndexUnreachable as error:
        raise Refusal(str(error), ExitCode.ENVIRONMENT) from error


class _ListsByDefault(TyperGroup):
    """`revisions COMPILER` lists; `install`, `approve` and `prune` are its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Any: the type of `ctx` is private to typer
        named = next((word for word in args if not word.startswith("-")), "")
        if named and named not in self.commands:
            args = ["list", *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer, telling: Callable[..., Any]) -> None:
    """Add the group of commands to `app`."""
    group = typer.Typer(
        cls=_ListsByDefault, no_args_is_help=True, help="List, install, approve and prune the builds of a compiler."
    )
    for name, command in (
        ("list", listed),
        ("install", install),
        ("approve", approve),
        ("prune", prune),
    ):
        group.command(name)(telling(command))
    app.add_typer(group, name="revisions")


def listed(compiler: CompilerName, as_json: Json = False) -> None:
    """List a compiler's revisions, oldest first, and which of them are installed."""
    with refusing(), Runner(jobs=1) as runner:
        chosen = config.load(compiler)
        found = listing.revisions(chosen)
        installed = Environments(runner).installed(chosen)
    if as_json:
        print_json([_described(revision, installed.get(revision.version)) for revision in found])
        return
    table = Table("revision", "date", "installed", "MiB")
    for revision in found:
        table.add_row(revision.version, revision.date[:10], *_state(installed.get(revision.version)))
    out.print(table)


def install(
    compiler: CompilerName,
    revision: Annotated[list[str], typer.Argument(metavar="REVISION…")],
    fresh: Annotated[bool, typer.Option("--fresh", help="Build them anew, whatever is there.")] = False,
    as_json: Json = False,
) -> int:
    """Build the environments of one or more revisions, and check each with tiny models.

    Exit code 1 when one of them cannot be tested.
    """
    told = []
    with refusing(), Runner(jobs=1) as runner:
        chosen = config.load(compiler)
        environments = Environments(runner)
        for name in revision:
            told.append(_installed(environments, chosen, listing.find(chosen, name), fresh, quiet=as_json))
    if as_json:
        print_json(told)
    return ExitCode.FAILED if any(entry["problem"] for entry in told) else ExitCode.DONE


def approve(compiler: CompilerName, revision: Annotated[str, typer.Argument(metavar="COMMIT")]) -> None:
    """Give a maintainer's word for one commit that is on no branch of the project, as the head of a pull request.

    Or for one wheel that may be of a pull request. Its code is then built and run, confined; what is pushed later
    needs another word.
    """
    with refusing(), Runner(jobs=1) as runner:
        chosen = config.load(compiler)
        found = listing.find(chosen, revision)
        approvals.give(Environments(runner).root, chosen, found)
    out.print(f"{chosen.name} {found.version} may be built", markup=False, highlight=False, soft_wrap=True)


def prune(
    gibibytes: Annotated[float, typer.Option("--keep", min=0, help="GiB that all environments together may hold.")],
) -> None:
    """Remove the environments that were not used for longest, until the rest fits.

    What was used within the last hour stays.
    """
    with Runner(jobs=1) as runner:
        for environment in Environments(runner).collect(gibibytes):
            out.print(f"removed {environment.ready.compiler} {environment.ready.revision}", highlight=False)


def _installed(
    environments: Environments, compiler: Compiler, revision: Revision, fresh: bool, quiet: bool
) -> dict[str, str]:
    """What `install` tells of one revision; it is printed as well, unless `quiet`."""
    try:
        with err.status(f"installing {compiler.name} {revision.version}"):
            ready = environments.ensure(compiler, revision, fresh=fresh)
    except Untestable as refusal:
        err.print(plain(str(refusal)), markup=False, soft_wrap=True)
        return {"revision": revision.version, "python": "", "problem": refusal.reason}
    if not quiet:
        out.print(f"{compiler.name} {ready.version}: {ready.python}", markup=False, highlight=False, soft_wrap=True)
    return {"revision": ready.version, "python": ready.python, "problem": ""}


def _described(revision: Revision, environment: Environment | None) -> dict[str, object]:
    return {
        "revision": revision.version,
        "date": revision.date,
        "commit": revision.commit,
        "parent": revision.parent,
        "installed": environment is not None and not environment.ready.problem,
        "problem": environment.ready.problem if environment else "",
        "identity": environment.ready.identity if environment else "",
    }


def _state(environment: Environment | None) -> tuple[str, str]:
    if environment is None:
        return "", ""
    size = f"{environment.ready.mebibytes:.0f}"
    return (f"no: {plain(environment.ready.problem)[:80]}", size) if environment.ready.problem else ("yes", size)
