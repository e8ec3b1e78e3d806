"""Commands by which a person decides: duplicate of, not a bug, mute, link."""

from __future__ import annotations

from dataclasses import replace

from bot import keys
from bot.github.errors import Refused
from bot.life import aside, human
from bot.life.apart import undo, undone
from bot.life.decide import may_speak
from bot.life.human import Said
from bot.life.saying import in_issue, withdraw
from bot.remarks.grammar import Command
from bot.remarks.place import Declined, Place, Reply, today
from triage.ledger.issues import Taken
from triage.ledger.records import Issue, NewOutgoing, OutKind
from triage.ledger.renaming import move
from triage.lifecycle import IllegalMove, State
from triage.records import Bug
from triage.scrub import prose
from triage.store import StoreError


def duplicate(command: Command, place: Place) -> Reply:
    """The bug of this issue is that of another issue; known to the bot or not."""
    bug = place.bug(command)
    repository, number = _reference(command.argument, place)
    name = f"#{number}" if repository == place.repository else f"{repository}#{number}"
    if (repository, number) == (place.repository, place.number):
        raise Declined("This issue is no duplicate of itself.")
    if repository == place.repository:
        _must_be_issue(place, number)
    other = place.desk.ledger.issues.by_number(repository, number)
    if other is None:
        note = f"duplicate of {repository}#{number}, says {place.author}"
        problem = aside.move(place.desk.store, bug.id, State.DUPLICATE, note)
    else:
        problem = _merge(place, other.bug_id, bug.id)
    if problem:
        raise Declined(f"That cannot be: {prose(problem)}.")
    aside.drop(place.desk.ledger, bug.id, f"duplicate of {name}, says {place.author}")
    said = f"Noted, bug {bug.id} is a duplicate of {name}."
    return Reply(said, outgoing=_put_aside(place, bug, human.DUPLICATE, f"duplicate of {name}", name))


def apart(command: Command, place: Place) -> Reply:
    """The bug is no duplicate after all: it is judged anew, and its issue opened again where the bot may do that."""
    bug = place.bug(command)
    issue = place.desk.ledger.issues.of_bug(bug.id)
    said = human.read(issue.human) if issue else Said()
    other = command.argument or said.duplicate_of
    name = "{}#{}".format(*_reference(other, place)) if other else ""
    note = f"no duplicate{f' of {name}' if name else ''}, says {place.author}"
    if bug.state is not State.DUPLICATE and not undone(bug, note):
        raise Declined(f"Bug {bug.id} is not put aside as a duplicate: it is {bug.state}.")
    project = place.owner(bug)
    try:
        works, told = undo(place.desk.ledger, bug, project.name, note, name, place.author)
    except (IllegalMove, StoreError) as problem:
        raise Declined(f"That cannot be: {prose(str(problem))}.") from problem
    withdraw(place.desk.ledger, bug.id, note, starts=("aside:",))
    return Reply(told, works, () if issue is None else _opened(place, issue, said))


def _opened(place: Place, issue: Issue, said: Said) -> tuple[NewOutgoing, ...]:
    """Remember that a person wants the issue open, and open it where it is closed; a moderator is asked as ever."""
    act = human.Done(human.Act.REOPENED, place.author, today(), "not a duplicate")
    _remember(place, issue, human.after(said, act))
    filing = place.project.filing
    if issue.open or not filing.reopen or not may_speak(issue):
        return ()
    key, payload = f"apart:{place.comment}", {"open": True, "reason": "reopened"}
    return (in_issue(OutKind.STATE, key, issue, payload, filing.moderation),)


def invalid(command: Command, place: Place) -> Reply:
    """It is no bug, for the given reason."""
    bug = place.bug(command)
    note = f"not a bug, says {place.author}" + (f": {command.argument}" if command.argument else "")
    if problem := aside.move(place.desk.store, bug.id, State.INVALID, note):
        raise Declined(f"That cannot be: {prose(problem)}.")
    aside.drop(place.desk.ledger, bug.id, note)
    said = f"Noted, bug {bug.id} is none. I will not bring it up again."
    return Reply(said, outgoing=_put_aside(place, bug, human.NOT_PLANNED, command.argument))


def mute(command: Command, place: Place) -> Reply:
    """Nobody wants to hear of the bug any more, whatever it does."""
    bug = place.bug(command)
    place.owner(bug)
    issue = place.desk.ledger.issues.of_bug(bug.id)
    if issue is not None:
        _remember(place, issue, human.hushed(human.read(issue.human), place.author, today()))
    try:
        place.desk.store.mute(bug.id, f"by {place.author}")
    except IllegalMove as problem:
        if issue is None:
            raise Declined(f"That cannot be: {prose(str(problem))}.") from problem
        # Its issue is closed, which is no verdict on it: it stays closed, and nobody hears of it any more.
    aside.drop(place.desk.ledger, bug.id, f"muted by {place.author}")
    return Reply(f"Bug {bug.id} is muted.")


def link(command: Command, place: Place) -> Reply:
    """An issue that somebody else opened is about a bug: from now on the bot may write, close and reopen there.

    A bug whose issue is gone goes on in this one.
    """
    bug = place.bug(command)
    place.owner(bug)
    repository, number = _reference(command.argument, place) if command.argument else (place.repository, place.number)
    if repository != place.repository:
        raise Declined("Only an issue of this repository can be linked here.")
    is_open = _must_be_issue(place, number)
    issue = Issue(bug.id, repository, number, ours=False, linked_by=place.author, open=is_open)
    try:
        _link(place, issue)
    except Taken as taken:
        raise Declined(f"That cannot be: {prose(str(taken))}.") from taken
    known = place.desk.ledger.issues.of_bug(bug.id)
    if known is not None and not may_speak(known):
        # The bot had found it by itself, which gives no right to write there.
        place.desk.ledger.issues.update(bug.id, linked_by=place.author)
    withdraw(place.desk.ledger, bug.id, f"linked to {repository}#{number}", [OutKind.ISSUE, OutKind.FILE])
    if bug.state is State.DRAFTED:
        aside.move(place.desk.store, bug.id, State.REPORTED, f"linked to {repository}#{number} by {place.author}")
    return Reply(f"Bug {bug.id} is #{number} now.")


def _link(place: Place, issue: Issue) -> None:
    """Note it; in the place of an issue that is gone. Raises Taken."""
    issues = place.desk.ledger.issues
    known = issues.of_bug(issue.bug_id)
    said = human.read(known.human) if known else Said()
    if known is None or not said.gone:
        issues.link(issue)
        return
    move(place.desk.store, known, issue.repository, issue.number)
    there = replace(said, gone="").document()
    issues.update(issue.bug_id, open=issue.open, human=there, linked_by=issue.linked_by)


def _merge(place: Place, kept: int, given: int) -> str:
    if kept == given:
        return ""
    try:
        place.desk.store.merge(kept, given)
    except (IllegalMove, StoreError) as problem:
        return str(problem)
    return ""


def _put_aside(place: Place, bug: Bug, closed: str, reason: str, duplicate_of: str = "") -> tuple[NewOutgoing, ...]:
    """Remember it, and close the issue where that is the bot's to do; a moderator is asked as for any closing."""
    issue = place.desk.ledger.issues.of_bug(bug.id)
    if issue is None:
        return ()
    said = human.decided(
        human.read(issue.human), place.author, today(), closed=closed, reason=reason, duplicate_of=duplicate_of
    )
    _remember(place, issue, said)
    filing = place.owner(bug).filing
    if not (issue.open and filing.close and may_speak(issue)):
        return ()
    payload: dict[str, object] = {"open": False, "reason": closed}
    if duplicate_of.startswith("#"):
        payload["duplicate_of"] = int(duplicate_of[1:])
    key, stream = f"aside:{place.comment}", keys.bug(bug.id)
    return (
        NewOutgoing(
            OutKind.STATE, key, issue.repository, payload, stream, issue.number, bug.id, held=filing.moderation
        ),
    )


def _remember(place: Place, issue: Issue, said: Said) -> None:
    place.desk.ledger.issues.update(issue.bug_id, human=said.document())


def _reference(argument: str, place: Place) -> tuple[str, int]:
    """Repository and number of an issue as the grammar gives it."""
    repository, _, number = argument.rpartition("#")
    same = not repository or repository.lower() == place.repository.lower()
    return place.repository if same else repository, int(number)


def _must_be_issue(place: Place, number: int) -> bool:
    """Whether an issue of this repository is open. Raises Declined where it is none, Later."""
    if number == place.number:
        if place.is_pull:
            raise Declined(f"#{number} is a pull request, not an issue.")
        return place.is_open
    try:
        seen = place.desk.github(place.repository).issue(number)
    except Refused as problem:
        raise Declined(f"There is no issue #{number} here.") from problem
    if seen.is_pull:
        raise Declined(f"#{number} is a pull request, not an issue.")
    return seen.open
