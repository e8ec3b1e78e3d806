"""`graphwarden bugs`: the bugs in a database, and what a person decides about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Column, Table
from rich.text import Text

from bot import describe
from bot.commands import person
from bot.commands.arguments import Database, Json
from bot.console import out, print_json
from bot.failures import Refusal
from triage.lifecycle import IllegalMove, State
from triage.records import Bug
from triage.store import Store, open_store

_DEFAULT = "hunt.db"
OwnDatabase = Annotated[str | None, typer.Option("--db", metavar="FILE|URL", help="The hunt's database.")]
_Decided = TypeVar("_Decided")
BugId = Annotated[int, typer.Argument(metavar="BUG", help="A bug's id.")]


def bugs(
    context: typer.Context,
    db: Database = _DEFAULT,
    slips: Annotated[
        bool, typer.Option("--slips", help="List instead what reductions met on the way and no test has shown.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the bugs of a database, with their state, symptom and report; or decide about them by hand.

    A decision holds against every later hunt on the same database.
    """
    if context.invoked_subcommand:
        return
    with open_store(db, create=False) as store:
        muted = store.decisions().muted
        found = [bug for bug in store.bugs() if bug.count and bug.fingerprint not in muted]
    found = [bug for bug in found if (bug.state is State.SLIP) == slips]
    if as_json:
        print_json([describe.bug(bug) for bug in found])
    else:
        print_table(found)


def merge(
    context: typer.Context,
    kept: Annotated[int, typer.Argument(metavar="A", help="The bug that is kept.")],
    given: Annotated[int, typer.Argument(metavar="B", help="The bug that is the same.")],
    db: OwnDatabase = None,
    as_json: Json = False,
) -> None:
    """Say that bug B is bug A: A takes all failures of B, those of later hunts too."""
    with _store(context, db) as store:
        done = _decide(lambda: store.merge(kept, given, person.name()))
        bug, muted = store.bug(kept), store.decisions().muted
    told = f"bug {given} is bug {kept} {'now' if done else 'already'}, with {bug.count} failing cases"
    aside = "; it is muted, so nobody hears of either" if bug.fingerprint in muted else ""
    _tell(context, as_json, told + aside, bug=kept, merged=given)


def split(
    context: typer.Context,
    bug: BugId,
    failures: Annotated[list[int], typer.Argument(metavar="FAILURE...", help="Ids from `bugs failures BUG`.")],
    db: OwnDatabase = None,
    as_json: Json = False,
) -> None:
    """Make a bug of its own of some failures of a bug; the next hunt confirms, reduces and drafts it."""
    with _store(context, db) as store:
        new = _decide(lambda: store.split(bug, failures, by=person.name()))
    told = f"failures {', '.join(map(str, failures))} are bug {new} now"
    _tell(context, as_json, told, bug=bug, new=new, failures=list(failures))


def mute(
    context: typer.Context,
    bug: BugId,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the bug.")] = "",
    db: OwnDatabase = None,
    as_json: Json = False,
) -> None:
    """Say that nobody wants to hear of a bug again: it is not worked on, drafted or listed any more."""
    with _store(context, db) as store:
        done = _decide(lambda: store.mute(bug, reason, person.name()))
    _tell(context, as_json, f"bug {bug} is muted" + ("" if done else " already"), bug=bug, muted=True)


def pursue(context: typer.Context, bug: BugId, db: OwnDatabase = None, as_json: Json = False) -> None:
    """Take up a slip (see `bugs --slips`): the next hunt on this database confirms, reduces and judges it."""
    with _store(context, db) as store:
        _decide(lambda: store.advance(bug, State.SLIP, State.NEW))
    _tell(context, as_json, f"bug {bug} is new: the next hunt works on it", bug=bug, state=State.NEW)


def failures(context: typer.Context, bug: BugId, db: OwnDatabase = None, as_json: Json = False) -> None:
    """List the failures of a bug, the one with the smallest model first."""
    with _store(context, db) as store:
        best = store.bug(bug).best_failure_id
        found = [store.failure(number) for number in store.failure_ids(bug)]
    rows = [
        {
            "id": one.id,
            "case": one.failure.case.id,
            "test": one.failure.case.origin.test,
            "variant": one.failure.case.origin.variant,
            "target": one.failure.target.id,
            "symptom": one.failure.symptom,
            "detail": one.failure.detail,
            "best": one.id == best,
        }
        for one in found
    ]
    if _json(context, as_json):
        print_json(rows)
        return
    shown = Table("id", "test", "compiler", "symptom", Column("what", no_wrap=True, overflow="ellipsis", ratio=1))
    for row in rows:
        what = " ".join(str(row["detail"]).split())
        name = f"{row['test']} ({row['variant']})"
        shown.add_row(*(Text(str(cell)) for cell in (row["id"], name, row["target"], row["symptom"], what)))
    out.print(shown)


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add `bugs` and what belongs to it to the command line; `telling` wraps each command."""
    mine = typer.Typer(invoke_without_command=True, rich_markup_mode="rich")
    mine.callback()(telling(bugs))
    for command in (merge, split, mute, pursue, failures):
        mine.command(command.__name__)(telling(command))
    app.add_typer(mine, name="bugs")


def _store(context: typer.Context, db: str | None) -> Store:
    """The database named behind the subcommand, else before it."""
    given = context.parent.params.get("db") if context.parent else None
    return open_store(db or given or _DEFAULT, create=False)


def _json(context: typer.Context, as_json: bool) -> bool:
    return as_json or bool(context.parent and context.parent.params.get("as_json"))


def _decide(decision: Callable[[], _Decided]) -> _Decided:
    try:
        return decision()
    except IllegalMove as error:
        raise Refusal(str(error)) from error


def _tell(context: typer.Context, as_json: bool, sentence: str, **document: object) -> None:
    if _json(context, as_json):
        print_json(document)
    else:
        out.print(sentence, markup=False)


def print_table(found: Sequence[Bug]) -> None:
    """One line a bug."""
    out.print(table(found))


def table(found: Sequence[Bug]) -> Table:
    """The table of bugs; long cells are cut rather than wrapped."""
    shown = Table(
        *(Column(name, no_wrap=True, overflow="ellipsis") for name in ("id", "compiler", "state", "symptom", "place")),
        Column("cases", justify="right", no_wrap=True),
        Column("nodes", justify="right", no_wrap=True),
        Column("what", no_wrap=True, overflow="ellipsis", ratio=1),
        expand=True,
    )
    for bug in found:
        place = bug.conversion_function or ", ".join(bug.operators[:3])
        symptom = bug.symptom.replace("exception:", "").rpartition(".")[2] or bug.symptom
        what = " ".join((bug.title or bug.note or bug.message).split())
        cells = (
            str(bug.id),
            bug.target.id,
            str(bug.state),
            symptom,
            place[:40],
            str(bug.count),
            str(bug.nodes or ""),
            what,
        )
        shown.add_row(*(Text(cell) for cell in cells))
    return shown
