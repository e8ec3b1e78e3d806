"""Commands that want something done: reduce, bisect, retest, file, approve."""

from __future__ import annotations

from bot import keys
from bot.kinds import recheck
from bot.life import aside
from bot.remarks.grammar import Command
from bot.remarks.place import Declined, Place, Reply
from fuzz.case import Revision
from triage.ledger.records import Check, NewWork, OutKind, OutState
from triage.lifecycle import WITH_DRAFT, State
from triage.records import Bug
from triage.revisions import approvals, places
from triage.revisions.recipe import CannotBuild
from triage.scrub import code, prose

#: Asked for by a person, work comes before what the bot does of its own accord.
_PRIORITY = 30
_ASIDE = frozenset({State.DUPLICATE, State.INVALID, State.STALE, State.FLAKY})
_REDUCED = WITH_DRAFT | {State.REDUCED, State.LOCATED, State.JUDGED}
_GONE_BY = frozenset({State.FIXED, State.CLOSED})


def reduce(command: Command, place: Place) -> Reply:
    """Work the bug down to its smallest model, if that is still to be done."""
    bug = place.bug(command)
    if bug.state in _REDUCED:
        return Reply(f"Bug {bug.id} is reduced already, to {_nodes(bug)}.")
    _refuse_aside(bug)
    return _triage(bug, place)


def bisect(command: Command, place: Place) -> Reply:
    """Look for the revision that broke it; for a bug that is gone, for the one that fixed it."""
    bug = place.bug(command)
    payload = {"bug": bug.id, "fix": bug.state in _GONE_BY, "answer": place.answer}
    return Reply(works=(_work("bisect", bug, place, payload),))


def retest(command: Command, place: Place) -> Reply:
    """Run the bug again; in a pull request that is no bug's, its check."""
    if place.is_pull and command.bug is None and place.linked is None:
        return _check_again(command, place)
    bug = place.bug(command)
    payload = {"bug": bug.id, "revision": command.argument, "answer": place.answer}
    return Reply(works=(_work("retest", bug, place, payload),))


def file(command: Command, place: Place) -> Reply:
    """Open an issue for the bug; what waits for a moderator is let go, since a maintainer wants to see it."""
    bug = place.bug(command)
    issue = place.desk.ledger.issues.of_bug(bug.id)
    if issue is not None:
        raise Declined(f"Bug {bug.id} is {_reference(place, issue.repository, issue.number)} already.")
    if bug.state not in WITH_DRAFT:
        _refuse_aside(bug)
        return _triage(bug, place)
    outbox = place.desk.ledger.outbox
    held = [one for one in outbox.listed([OutState.HELD], bug.id) if one.kind in (OutKind.ISSUE, OutKind.FILE)]
    if not held:
        return Reply(works=(_work("file", bug, place, {"bug": bug.id, "answer": place.answer}),))
    for one in held:
        outbox.approve(one.id, place.author)
    return Reply(f"The report on bug {bug.id} was waiting for a moderator; it goes out now.")


def approve(command: Command, place: Place) -> Reply:
    """Give the word for the commit of a fork: its code may be built and run, confined."""
    if not place.is_pull:
        raise Declined("Only the head of a pull request needs a word: say it there.")
    wanted = command.argument.lower()
    checks = [
        check
        for check in place.desk.ledger.checks.of_pull(place.repository, place.number)
        if check.head_sha.startswith(wanted)
    ]
    heads = {check.head_sha for check in checks}
    if len(heads) != 1:
        what = "more than one commit" if heads else "no commit"
        raise Declined(f"{code(wanted)} names {what} that I was asked to check here. Give all 40 digits.")
    newest = {found.head_sha for check in checks if (found := recheck.newer(place.desk, check)) is not None}
    if newest:
        raise Declined(f"The pull request is at {newest.pop()} now; {heads.pop()} is not checked any more.")
    for check in checks:
        _give_word(place, check)
    works = tuple(recheck.gate(place.desk.settings.projects[check.project], check) for check in checks)
    return Reply(f"{heads.pop()} may be built, says {prose(place.author)}; its check begins.", works)


def _give_word(place: Place, check: Check) -> None:
    project = place.desk.settings.projects.get(check.project)
    if project is None:
        raise Declined(f"The project {code(check.project)} is not watched any more.")
    revision = Revision(check.head_sha, commit=check.head_sha)
    try:
        approvals.give(places.root(), place.desk.compiler(project), revision)
    except CannotBuild as problem:
        raise Declined(f"{prose(str(problem))}.") from problem


def _check_again(command: Command, place: Place) -> Reply:
    if command.argument:
        raise Declined("A pull request is checked on its head: leave the revision out, or name a bug.")
    projects, checks = place.desk.settings.projects, place.desk.ledger.checks
    newest = [checks.newest(place.repository, name, place.number) for name in projects]
    known = [check for check in newest if check is not None]
    if not known:
        raise Declined("I have checked nothing here yet.")
    works = tuple(recheck.gate(projects[check.project], check) for check in known)
    heads = ", ".join(sorted({check.head_sha for check in known}))
    return Reply(f"The check of {heads} runs again.", works)


def _triage(bug: Bug, place: Place) -> Reply:
    if bug.state is State.SLIP:
        aside.move(place.desk.store, bug.id, State.NEW, f"asked for by {place.author}")
    return Reply(works=(_work("triage", bug, place, {"bug": bug.id, "answer": place.answer}),))


def _work(kind: str, bug: Bug, place: Place, payload: dict[str, object]) -> NewWork:
    return NewWork(kind, keys.bug(bug.id), place.owner(bug).name, payload, _PRIORITY)


def _refuse_aside(bug: Bug) -> None:
    if bug.state in _ASIDE:
        why = f": {prose(bug.note)}" if bug.note else ""
        raise Declined(f"Bug {bug.id} is put aside as {bug.state}{why}.")


def _reference(place: Place, repository: str, number: int) -> str:
    return f"#{number}" if repository.lower() == place.repository.lower() else f"{repository}#{number}"


def _nodes(bug: Bug) -> str:
    return "its smallest model" if bug.nodes is None else "one node" if bug.nodes == 1 else f"{bug.nodes} nodes"
