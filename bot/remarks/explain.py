"""`explain`: why this is one bug, what speaks for it and against it, and what has happened so far."""

from __future__ import annotations

from collections.abc import Iterator

from bot.life.human import read
from bot.remarks.grammar import Command
from bot.remarks.place import Place, Reply
from bot.rendering import render
from triage.bisect.found import Kind
from triage.ledger.records import Issue, OutState
from triage.localize.location import Location
from triage.records import Bug
from triage.scrub import prose, revision, scrub

#: Events that are told, the newest ones.
_TOLD = 20


def explain(command: Command, place: Place) -> Reply:
    """All that is known of a bug, on one page."""
    bug = place.bug(command)
    place.owner(bug)
    issue = place.desk.ledger.issues.of_bug(bug.id)
    text = render(
        "explain",
        bug=bug,
        bad=(bad := bug.bisected.get(Kind.BAD)),
        bad_between=bad.among(revision) if bad else "",
        good=(good := bug.bisected.get(Kind.GOOD)),
        good_between=good.among(revision) if good else "",
        places=list(_places(bug)),
        history=sorted(_history(bug, issue, place))[-_TOLD:],
    )
    return Reply(text.strip())


def _places(bug: Bug) -> Iterator[tuple[str, str]]:
    """What is known of where it lies: words and what is found, which is foreign."""
    found = bug.location or Location()
    yield "conversion function", bug.conversion_function or found.conversion_function
    yield "operator", found.operator
    yield "part", str(found.stage)
    yield "pass", found.pass_
    yield "root cause", found.root_cause


def _history(bug: Bug, issue: Issue | None, place: Place) -> Iterator[tuple[str, str]]:
    """When what happened: days and finished sentences."""
    yield bug.created.date().isoformat(), "first seen"
    yield bug.updated.date().isoformat(), f"{bug.state}" + (f": {prose(scrub(bug.note))}" if bug.note else "")
    for one in place.desk.ledger.outbox.listed([OutState.SENT], bug.id):
        yield one.updated.date().isoformat(), f"{one.kind.replace('_', ' ')} sent"
    for act in read(issue.human).history if issue else ():
        told = {name: prose(str(value)) for name, value in act.items()}
        what = told.get("closed") or told.get("act", "?")
        reason = f" ({told['reason']})" if told.get("reason") else ""
        yield told.get("at", "")[:10], f"{told.get('by', '?')}: {what}{reason}"
