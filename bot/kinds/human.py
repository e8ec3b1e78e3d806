"""A person closed, reopened or labelled the issue of a bug, or took it away: remembered, and followed where it decides.

Payload: {number, action, actor, program, reason, label, at, to}, as `bot.events.issues` makes it.
"""

from __future__ import annotations

import structlog

from bot import keys
from bot.desk import Desk
from bot.github.client import Client
from bot.github.errors import Refused
from bot.kinds import Answer
from bot.kinds import Done as Ended
from bot.life import apart, aside, gone, human, judged, moving, own, owner, pushed, saying
from bot.life.human import Act, Done
from bot.settings import Project
from triage.bisect.found import Kind
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewWork, OutState, Work
from triage.lifecycle import State
from triage.records import Bug

log = structlog.get_logger()

HEAVY = False
#: After these the issue is not in its place.
_AWAY = frozenset({Act.TRANSFERRED, Act.DELETED})
_ASIDE = {human.NOT_PLANNED: State.INVALID, human.DUPLICATE: State.DUPLICATE}


def run(work: Work, desk: Desk) -> Answer:
    """Note what was done in `Issue.human`. May be done again: an act is remembered once. Raises GitHubError."""
    project = desk.project(work)
    issue = desk.ledger.issues.by_number(project.repository, int(work.payload["number"]))
    if issue is None:
        return Ended("it is the issue of no bug")
    if work.payload["at"] and desk.ledger.work.done_before(work):
        return Ended("done before: it was delivered twice")
    done, client = _done(work), desk.github(project.repository)
    if done.act not in _AWAY:
        issue = gone.found_again(issue, desk.ledger, client)
    said = human.read(issue.human)
    if done.act is Act.TRANSFERRED and (
        there := moving.follow(issue, done.to, desk.ledger, desk.settings, desk.github)
    ):
        desk.ledger.issues.update(issue.bug_id, human=human.remembered(said, done).document())
        return Ended(f"{done.by}: transferred to {there}, where it is followed")
    if done.by.lower() == client.login.lower() and (
        work.payload["program"] or own.acted(desk.ledger, issue.bug_id, done)
    ):
        return Ended("the bot did it")
    late = human.seems_late(said, done) and _contradicted(done, issue.number, client)
    if work.payload["program"] and done.act not in _AWAY:
        if not late:
            desk.ledger.issues.update(issue.bug_id, open=_OPEN.get(done.act))
        return Ended(f"{done.by}, a program: {done.act}")
    bug = desk.store.bug(issue.bug_id)
    project = owner.project_of(desk.settings, project.repository, bug, project.name) or project
    contradicted = (judged.last(desk.ledger, bug), pushed.newest(desk, project))
    known = human.after(said, done, _fix(desk.ledger, issue, bug), late, *contradicted)
    follows = () if late else _followed(desk, project, issue, done, known)
    desk.ledger.issues.update(
        issue.bug_id,
        human=known.document(),
        open=None if late else _OPEN.get(done.act),
        fixed_by="" if done.act is Act.REOPENED and not late else None,
    )
    if known.gone and known.gone != said.gone:
        gone.tell(desk.ledger, issue, f"{known.by} took it away ({known.gone})")
    log.info("person_decided", bug=issue.bug_id, act=done.act.value, by=done.by, reason=done.reason, late=late)
    return Ended(f"{done.by}: {done.act}" + (" (before something that is known already)" if late else ""), follows)


#: What an act makes of the issue.
_OPEN = {Act.CLOSED: False, Act.REOPENED: True, Act.TRANSFERRED: False, Act.DELETED: False}


def _fix(ledger: Ledger, issue: Issue, bug: Bug) -> str:
    """The fix that the issue was closed for, or was to be: whoever reopens it does not believe in that.

    The bot's own closing may not have arrived, or the person was faster.
    """
    last = saying.last_change(ledger, bug.id)
    named = "" if last is None or last.payload["open"] else str(last.payload.get("fixed_by") or "")
    arrived = last is not None and last.state is OutState.SENT
    good = bug.bisected.get(Kind.GOOD)
    found = good.first if good else ""
    return (issue.fixed_by or named or found) if arrived else (named or issue.fixed_by or found)


def _contradicted(done: Done, number: int, client: Client) -> bool:
    """Whether the issue is not as the act left it: the act came late."""
    if done.act not in _OPEN:
        return False
    try:
        return client.issue(number).open is not _OPEN[done.act]
    except Refused:
        return False


#: What a reopening contradicts, and what a label does: the words before a change of state, and that change.
_CLOSING, _REOPENING = ("fixed:", "close:", "aside:"), ("regressed:", "reopen:")


def _taken_back(desk: Desk, issue: Issue, done: Done, known: human.Said) -> None:
    """What was going to be said, and what the person has just decided otherwise."""
    why = f"{issue.repository}#{issue.number} was {done.act} by {done.by}"
    if done.act is Act.REOPENED:
        saying.withdraw(desk.ledger, issue.bug_id, why, starts=_CLOSING)
    elif done.act is Act.LABELED and (against := known.forbids_reopening(issue.fixed_by or "any")):
        saying.withdraw(desk.ledger, issue.bug_id, against, starts=_REOPENING)


def _done(work: Work) -> Done:
    told = work.payload
    return Done(Act(told["action"]), told["actor"], told["at"], told["reason"], told["label"], told["to"])


def _followed(desk: Desk, project: Project, issue: Issue, done: Done, known: human.Said) -> tuple[NewWork, ...]:
    """What the bug's state makes of it. Closed as completed it is run again, and nobody is contradicted."""
    bug, name = issue.bug_id, f"{issue.repository}#{issue.number}"
    _taken_back(desk, issue, done, known)
    if done.act is Act.CLOSED and (state := _ASIDE.get(done.reason)):
        aside.drop(desk.ledger, bug, f"{done.by} closed {name} as {done.reason}")
        if problem := aside.move(desk.store, bug, state, f"{name} was closed as {done.reason} by {done.by}"):
            log.info("not_put_aside", bug=bug, why=problem)
        return ()
    if done.act in _AWAY:
        aside.drop(desk.ledger, bug, f"{name} was {done.act} by {done.by}")
        return ()
    if done.act is Act.REOPENED:
        return _taken_up(desk, project, issue, done.by)
    if done.act is Act.CLOSED:
        return (NewWork("retest", keys.bug(bug), project.name, {"bug": bug}),)
    return ()


def _taken_up(desk: Desk, project: Project, issue: Issue, by: str) -> tuple[NewWork, ...]:
    """A bug that was put aside is judged anew; any other is run again where it is said to be fixed."""
    note = f"{issue.repository}#{issue.number} was reopened by {by}"
    bug, said = desk.store.bug(issue.bug_id), human.read(issue.human)
    if (bug.state is State.DUPLICATE or apart.undone(bug, note)) and not _muted(desk, bug.id):
        other = said.duplicate_of
        other = f"{issue.repository}{other}" if other.startswith("#") else other
        return apart.undo(desk.ledger, bug, project.name, note, other, by)[0]
    if bug.state is State.INVALID and not _muted(desk, bug.id):
        aside.move(desk.store, bug.id, State.NEW, note)
        return (NewWork("triage", keys.bug(bug.id), project.name, {"bug": bug.id}),)
    if bug.state is State.CLOSED:
        aside.move(desk.store, bug.id, State.REPORTED, note)
    return (NewWork("retest", keys.bug(bug.id), project.name, {"bug": bug.id}),)


def _muted(desk: Desk, bug_id: int) -> bool:
    return desk.store.bug(bug_id).fingerprint in desk.store.decisions().muted
