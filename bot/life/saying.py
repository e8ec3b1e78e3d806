"""What the bot says about a bug, as outgoing things: one stream a bug, so that all arrives in order (docs/life.md)."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from bot import keys
from bot.life import human
from bot.life.decide import may_speak
from bot.life.seen import Does, Seen
from bot.rendering import render
from triage.bisect.found import Found, Kind
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, NewWork, Outgoing, OutKind, OutState, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.scrub import prose, revision, scrub

#: Files that are too long for an issue lie here.
BRANCH = "graphwarden/reproducers"
#: More than is ever said about one bug.
_ALL = 10_000


def in_issue(kind: OutKind, key: str, issue: Issue, payload: Mapping[str, Any], held: bool) -> NewOutgoing:
    """Something for the issue of a bug, in the bug's stream."""
    stream = keys.bug(issue.bug_id)
    return NewOutgoing(kind, key, issue.repository, payload, stream, issue.number, issue.bug_id, held)


def comment(key: str, issue: Issue, body: str, held: bool) -> NewOutgoing:
    """A comment."""
    return in_issue(OutKind.COMMENT, key, issue, {"body": body}, held)


def state(key: str, issue: Issue, is_open: bool, fixed_by: str, held: bool, note: str = "") -> NewOutgoing:
    """Closed as completed, or reopened. `fixed_by` is noted once it has arrived (`bot.life.sent`)."""
    payload = {"open": is_open, "reason": "reopened" if is_open else "completed", "fixed_by": fixed_by}
    return replace(in_issue(OutKind.STATE, key, issue, payload, held), note=note)


def answer(work: Work, repository: str, body: str) -> tuple[NewOutgoing, ...]:
    """The answer to whoever asked for the work by a comment; none where nobody did.

    A person with write permission has asked for it: no moderator is waited for, and nothing that one holds.
    """
    asked = work.payload.get("answer")
    if not isinstance(asked, Mapping):
        return ()
    number, place = int(asked["number"]), f"answer:{asked['comment']}:{work.kind}"
    stream = keys.talk(repository, number)
    return (NewOutgoing(OutKind.COMMENT, place, repository, {"body": body}, stream, number),)


def status(ledger: Ledger, bug_id: int, held: bool, seen: Iterable[Seen] = ()) -> tuple[NewOutgoing, ...]:
    """The status comment as it shall be now; none in an issue that is not the bot's to write in.

    `seen` are today's runs, the newest build last; without any, those that were told before are told again.
    """
    bug, issue = ledger.store.bug(bug_id), ledger.issues.of_bug(bug_id)
    if issue is None or not may_speak(issue) or human.read(issue.human).forbids_writing():
        return ()
    key = f"status:{bug.fingerprint}"  # another database gives the bug another number
    before = ledger.outbox.by_key(key)
    runs = list(_runs(seen)) or (_LAST.findall(before.payload["body"]) if before else [])
    rows = [*_history(bug, issue), *((_CHECKED, text) for text in runs)]
    body = render("status", bug=bug.id, state=bug.state, rows=rows)
    return (in_issue(OutKind.EDIT_COMMENT, key, issue, {"body": body}, held),)


_CHECKED = "Last checked"
_LAST = re.compile(rf"^\| {_CHECKED} \| (.*) \|$", re.MULTILINE)


def _history(bug: Bug, issue: Issue) -> Iterator[tuple[str, str]]:
    yield "Seen on", revision(bug.revision)
    if bad := bug.bisected.get(Kind.BAD):
        yield "Fails since", _since(bad, "passes")
    good = bug.bisected.get(Kind.GOOD)
    if bug.state in (State.FIXED, State.CLOSED):
        if good:
            yield "Passes since", _since(good, "fails")
        elif issue.fixed_by:
            yield "Passes on", revision(issue.fixed_by)


def _since(found: Found, before: str) -> str:
    among = found.among(revision)
    told = f"{before} on {revision(found.last_before)}" + (f"; not told apart between them: {among}" if among else "")
    return f"{revision(found.first)}{' at the latest' if among else ''} ({told})"


def _runs(seen: Iterable[Seen]) -> Iterator[str]:
    today = datetime.now(UTC).date().isoformat()
    for one in seen:
        if one.does is not Does.GONE:
            # Why there is no environment of a build may pass by tomorrow, and is told to who asks (`retest`).
            told = str(one.does) if one.does is Does.UNTESTABLE else one.told
            yield f"{revision(one.revision)}: {prose(scrub(told), 300)}, {today}"


def file(key: str, bug: Bug, repository: str, text: str, held: bool) -> NewOutgoing:
    """A reproducer that is too long for an issue, on the bot's branch."""
    place = script_path(bug)
    payload = {
        "branch": BRANCH,
        "path": place,
        "content_base64": base64.b64encode(text.encode()).decode(),
        "message": f"Reproducer of bug {bug.id}",
    }
    return NewOutgoing(OutKind.FILE, key, repository, payload, keys.bug(bug.id), None, bug.id, held)


def script_path(bug: Bug) -> str:
    """Where a long reproducer lies on the bot's branch."""
    return str(PurePosixPath("bugs", f"{bug.fingerprint}.py"))


def file_url(api: str, repository: str, path: str) -> str:
    """The address of a file on the bot's branch, where people read it."""
    return f"{site(api)}/{repository}/blob/{BRANCH}/{path}"


def site(api: str) -> str:
    """Where people read what an API's address serves: github.com, or a GitHub Enterprise Server of one's own."""
    parts = urlsplit(api)
    host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
    return f"{parts.scheme}://{host}"


def will_be_open(ledger: Ledger, issue: Issue) -> bool:
    """Whether the issue is open once everything has arrived that is on its way."""
    coming = _states(ledger, issue.bug_id, (OutState.READY, OutState.SENDING))
    return bool(coming[-1].payload["open"]) if coming else issue.open


def pending(ledger: Ledger, bug_id: int, *, is_open: bool) -> Outgoing | None:
    """The last closing (or reopening) of the bot's own that has not arrived, whatever it waits for."""
    coming = _states(ledger, bug_id, (OutState.HELD, OutState.READY, OutState.SENDING))
    mine = [one for one in coming if bool(one.payload["open"]) is is_open and "fixed_by" in one.payload]
    return mine[-1] if mine else None


def last_change(ledger: Ledger, bug_id: int) -> Outgoing | None:
    """The last closing or reopening that was put forward for a bug, by whomever and whatever became of it."""
    return next(reversed(_states(ledger, bug_id, tuple(OutState))), None)


def _states(ledger: Ledger, bug_id: int, states: Collection[OutState]) -> list[Outgoing]:
    return [one for one in ledger.outbox.listed(states, bug_id, limit=_ALL) if one.kind is OutKind.STATE]


def withdraw(
    ledger: Ledger,
    bug_id: int,
    why: str,
    kinds: Collection[OutKind] = tuple(OutKind),
    starts: tuple[str, ...] = ("",),
    spared: tuple[str, ...] = (),
) -> None:
    """Take back what is no longer true or wanted: of these kinds, with a key that begins so, and not so (`spared`).

    Whatever waits for a moderator, or is ready and was never begun. What may have arrived already is looked at once
    more before it is sent again (`bot.life.against`).
    """
    ledger.outbox.withdraw(bug_id, why, kinds, starts, spared)


def to_file(bug_id: int, project: str, answer: Mapping[str, Any] | None = None) -> NewWork:
    """The work of filing a bug."""
    payload = {"project": project, "bug": bug_id} | ({"answer": answer} if answer else {})
    return NewWork("file", keys.bug(bug_id), project, payload)
