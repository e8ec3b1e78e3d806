"""What GitHub refused for good, and what would otherwise never be said again: closings, reopenings, ends of check runs
(`collect`).

A refusal may pass: permissions come back, an archived repository is opened again. So it is decided anew, daily, under a
new key; what was refused too often waits for a moderator then (`bot.life.turns`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot import keys
from bot.checks.run import external_id
from bot.desk import Desk
from bot.life import changing, saying, sweeping, turns
from bot.life.against import against
from bot.life.decide import may_speak
from bot.settings import Project
from triage.ledger.records import OPEN, Issue, NewOutgoing, NewWork, Outgoing, OutState, WorkState
from triage.lifecycle import State
from triage.records import Bug
from triage.revisions.config import Compiler

#: What a bug's state wants of its issue: whether it is open.
_WANTED = {State.FIXED: False, State.REGRESSED: True}
#: So often it is decided anew where nothing comes of that.
_TRIES = 6
#: States of a check run of which no work tells anything more, if it has a conclusion; and how long that is told.
_OVER, _WEEK = ("waiting", "done", "cancelled"), timedelta(days=7)
#: How the keys begin of what a person asked for by a command.
_BY_COMMAND = ("aside:", "apart:")


def works(desk: Desk, project: Project, compiler: Compiler) -> list[NewWork]:
    """The closings and reopenings that are to be decided anew: refused by GitHub, or their work has failed."""
    found = [bug for bug in sweeping.known(desk, project, compiler) if bug.state in _WANTED]
    return [work for bug in found if (work := _work(desk, project, bug)) is not None]


def _work(desk: Desk, project: Project, bug: Bug) -> NewWork | None:
    wanted, issue = _WANTED[bug.state], desk.ledger.issues.of_bug(bug.id)
    kind = changing.KEYS[wanted][1]
    if issue is None or issue.open is wanted or not may_speak(issue):
        return None
    last = saying.last_change(desk.ledger, bug.id)
    done = desk.ledger.work.listed(None, kind, keys.bug(bug.id))
    since = [one for one in done if last is None or one.created > last.updated]
    if (done and done[0].state in OPEN) or len(since) >= _TRIES:
        return None
    if last is not None and last.key.startswith(f"{kind}:") and _free(desk, last):
        commit = last.key.split(":")[3]
    elif done and done[0].state is WorkState.FAILED:
        commit = str(done[0].payload["commit"])
    else:
        return None
    return NewWork(kind, keys.bug(bug.id), project.name, {"bug": bug.id, "commit": commit})


def _free(desk: Desk, one: Outgoing) -> bool:
    """Whether it was refused, or taken back for what holds no more (a label that is off again)."""
    ended = one.state in (OutState.FAILED, OutState.WITHDRAWN)
    return ended and not against(one, desk.ledger)


def commands(desk: Desk, project: Project) -> list[NewOutgoing]:
    """The changes that a person asked for by a command and that GitHub refused, once more."""
    issues = [issue for issue in desk.ledger.issues.listed(project.repository) if may_speak(issue)]
    last = ((issue, saying.last_change(desk.ledger, issue.bug_id)) for issue in issues)
    refused = ((issue, one) for issue, one in last if one is not None and one.state is OutState.FAILED)
    return [
        _once_more(desk, project, issue, one)
        for issue, one in refused
        if one.key.startswith(_BY_COMMAND) and issue.open is not bool(one.payload["open"])
    ]


def checks(desk: Desk, project: Project) -> list[NewOutgoing]:
    """The ends of check runs that GitHub refused, once more on each day of a week: until then it shows them as open."""
    now = datetime.now(UTC)
    found = [
        check
        for check in desk.ledger.checks.in_state(*_OVER)
        if check.project == project.name and check.conclusion and check.since and now - check.since < _WEEK
    ]
    names = {f"check:{external_id(each.repository, each.project, each.head_sha)}" for each in found}
    last = [one for name in sorted(names) if (one := desk.ledger.outbox.by_key(name)) is not None]
    tried = {"tried": now.date().isoformat()}  # what is the same in all is not sent again
    return [
        NewOutgoing(one.kind, one.key, one.repository, {**one.payload, **tried}, one.stream)
        for one in last
        if one.state is OutState.FAILED
    ]


def _once_more(desk: Desk, project: Project, issue: Issue, one: Outgoing) -> NewOutgoing:
    turn = turns.turn(desk.ledger.outbox, ":".join(one.key.split(":")[:2]))
    held = project.filing.moderation or bool(turn.note)
    return NewOutgoing(
        *(one.kind, turn.key, one.repository, one.payload, one.stream, issue.number, one.bug_id, held, turn.note)
    )
