"""One outgoing thing to GitHub, and never twice: how each kind is sent, and how it is found if it arrived before.

A kind that creates (issue, comment, check run) carries its key: in a hidden mark, or as a check run's `external_id`.
Where an earlier attempt may have arrived, the bot's own newest things are listed and compared first; GitHub's search
is an index that lags and would miss them. The other kinds set a state and do no harm twice.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from bot.github import limits
from bot.github.client import Client
from bot.github.errors import Refused
from bot.github.markers import keys, marker, without
from bot.github.shapes import CheckSeen, IssueSeen
from triage.ledger.records import Outgoing, OutKind
from triage.machine import private_folders
from triage.records import clean
from triage.scrub import guarded

#: How much earlier than our clock GitHub's may stand.
SKEW = timedelta(minutes=10)
#: New labels' colour: none is chosen for the maintainers.
COLOR = "ededed"

Result = Mapping[str, Any]
_ANNOTATION = ("path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "message", "title")


def deliver(one: Outgoing, client: Client, number: int | None) -> Result:
    """Send it; what GitHub called it. `number` is the issue that it belongs to.

    Issue: {number, id, url, at}; comments: {comment, url}; check run: {run, url}; file: {sha, url}; state: {at}; else
    {}. `at` is GitHub's time of it.
    Raises Refused, Later, Unsure.
    """
    return _KINDS[one.kind](one, client, number)


def found(one: Outgoing, client: Client, number: int | None) -> Result | None:
    """What GitHub has of an issue or a comment that may have arrived, None where it has not. Sends nothing.

    Of other kinds None: nobody can tell who made it so. Raises Refused, Later, Unsure.
    """
    if one.kind is OutKind.ISSUE:
        return _own_issue(one, client)
    return _own_comment(one, client, _place(one, number)) if one.kind is OutKind.COMMENT else None


def _issue(one: Outgoing, client: Client, number: int | None) -> Result:
    known = _own_issue(one, client) if one.attempts else None
    if known is not None:
        return known
    labels = list(one.payload.get("labels", ()))
    _ensure(client, labels)
    title = limits.short(_plain(one.payload["title"]), limits.TITLE)
    return _filed(client.create_issue(title, marked(one), labels))


def _own_issue(one: Outgoing, client: Client) -> Result | None:
    own = client.own_issues(one.created - SKEW)
    return next((_filed(each) for each in own if one.key in keys(each.body)), None)


def _filed(issue: IssueSeen) -> Result:
    return {"number": issue.number, "id": issue.id, "url": issue.url, "at": issue.created.isoformat()}


def _comment(one: Outgoing, client: Client, number: int | None) -> Result:
    known = _own_comment(one, client, _place(one, number)) if one.attempts else None
    if known is None:
        made = client.comment(_place(one, number), marked(one))
        return {"comment": made.id, "url": made.url}
    return known


def _edit_comment(one: Outgoing, client: Client, number: int | None) -> Result:
    """The comment with this key says this now. One that a person deleted is refused, not written again."""
    known: Result | None = one.result if "comment" in one.result else None
    if known is None:
        known = _own_comment(one, client, _place(one, number), ever=True)  # an earlier database may have had it
    if known is None:
        made = client.comment(_place(one, number), marked(one))
    else:
        made = client.edit_comment(int(known["comment"]), marked(one))
    return {"comment": made.id, "url": made.url}


def _own_comment(one: Outgoing, client: Client, number: int, ever: bool = False) -> Result | None:
    for each in client.own_comments(number, None if ever else one.created - SKEW):
        if one.key in keys(each.body):
            return {"comment": each.id, "url": each.url}
    return None


def _state(one: Outgoing, client: Client, number: int | None) -> Result:
    duplicate = one.payload.get("duplicate_of")
    now = client.set_state(
        _place(one, number),
        open=bool(one.payload["open"]),
        reason=one.payload.get("reason", ""),
        duplicate_of=None if duplicate is None else client.issue(int(duplicate)).id,
    )
    return {"at": now.updated.isoformat()}


def _labels(one: Outgoing, client: Client, number: int | None) -> Result:
    add = list(one.payload.get("add", ()))
    _ensure(client, add)
    if add:
        client.add_labels(_place(one, number), add)
    for name in one.payload.get("remove", ()):
        client.remove_label(_place(one, number), name)
    return {}


def _ensure(client: Client, names: Sequence[str]) -> None:
    for name in names:
        if not client.has_label(name):
            client.create_label(name, COLOR)


def _check(one: Outgoing, client: Client, number: int | None) -> Result:
    """The check run says this now; annotations that it has already are not added again."""
    told = check_body(one.payload)
    wanted = [_annotation(each) for each in one.payload.get("annotations", ())]
    run_id = int(one.result["run"]) if "run" in one.result else _own_check(one, client)
    if run_id is None:
        head = {"head_sha": one.payload["head_sha"], "external_id": one.payload["external_id"]}
        run = client.create_check({**head, **_with(told, wanted[: limits.ANNOTATIONS])})
        missing = wanted[limits.ANNOTATIONS :]
    else:
        there = client.annotations(run_id) if wanted else []
        missing = _lacking(wanted, there)
        run = client.update_check(run_id, _with(told, missing[: limits.ANNOTATIONS]))
        missing = missing[limits.ANNOTATIONS :]
    return _result(_annotated(client, run, told, missing))


def _annotated(
    client: Client, run: CheckSeen, told: Mapping[str, Any], missing: Sequence[Mapping[str, Any]]
) -> CheckSeen:
    """The check run with the rest of its annotations, as many at a time as GitHub takes."""
    for start in range(0, len(missing), limits.ANNOTATIONS):
        run = client.update_check(run.id, _with(told, missing[start : start + limits.ANNOTATIONS]))
    return run


def _result(run: CheckSeen) -> Result:
    return {"run": run.id, "url": run.url}


def _own_check(one: Outgoing, client: Client) -> int | None:
    listed = client.checks(one.payload["head_sha"], one.payload["name"])
    return next((run.id for run in listed if run.external_id == one.payload["external_id"]), None)


def check_body(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What a check run says, within GitHub's limits, without its annotations."""
    output = {
        "title": limits.short(_plain(payload["title"]), limits.TITLE),
        "summary": limits.fit(_plain(payload["summary"]), limits.CHECK),
    }
    if payload.get("text"):
        output["text"] = limits.fit(_plain(payload["text"]), limits.CHECK)
    told = {"name": payload["name"], "status": payload["status"], "output": output}
    told |= {
        name: payload[name] for name in ("conclusion", "details_url", "started_at", "completed_at") if name in payload
    }
    if "actions" in payload:
        told["actions"] = [
            {
                "label": limits.short(each["label"], limits.LABEL),
                "description": limits.short(each["description"], limits.DESCRIPTION),
                "identifier": limits.short(each["identifier"], limits.IDENTIFIER),
            }
            for each in payload["actions"][: limits.ACTIONS]
        ]
    return told


def _with(told: Mapping[str, Any], annotations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {**told, "output": {**told["output"], "annotations": list(annotations)}} if annotations else dict(told)


def _annotation(told: Mapping[str, Any]) -> dict[str, Any]:
    cut = {name: told[name] for name in (*_ANNOTATION, "raw_details") if told.get(name) is not None}
    cut["message"] = limits.fit(_plain(cut["message"]), limits.MESSAGE)
    if "title" in cut:
        cut["title"] = limits.short(_plain(cut["title"]), limits.ANNOTATION_TITLE)
    return cut


def _lacking(wanted: Sequence[dict[str, Any]], there: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The wanted annotations that are not there, counting equal ones."""
    have: dict[tuple[Any, ...], int] = {}
    for each in there:
        have[_same(each)] = have.get(_same(each), 0) + 1
    lacking = []
    for each in wanted:
        if have.get(_same(each), 0):
            have[_same(each)] -= 1
        else:
            lacking.append(each)
    return lacking


def _same(annotation: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(annotation.get(name) or None for name in _ANNOTATION)


def _file(one: Outgoing, client: Client, number: int | None) -> Result:
    """The file on its branch; the branch begins at the default branch's head."""
    branch, path = one.payload["branch"], one.payload["path"]
    content = _bare(one.payload["content_base64"])
    there = client.file(branch, path)
    if there is None and not client.branch_head(branch):
        client.create_branch(branch, client.branch_head(client.default_branch()))
    if there is None or there.sha != blob_sha(b64decode(content)):
        replaces = "" if there is None else there.sha
        there = client.put_file(branch, path, content, one.payload["message"], replaces)
    return {"sha": there.sha, "url": there.url}


def _bare(content_base64: str) -> str:
    """A file's content as it is sent: byte for byte, but for what is this machine's alone in a text."""
    try:
        text = b64decode(content_base64).decode()
    except UnicodeDecodeError:  # no text
        return content_base64
    return b64encode(guarded(text, private_folders()).encode()).decode()


def blob_sha(content: bytes) -> str:
    """The SHA-1 under which git stores a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def marked(one: Outgoing) -> str:
    """The text as it is sent: no mark but its own, no longer than GitHub takes."""
    return limits.fit(_plain(one.payload["body"]).rstrip(), limits.BODY, end=f"\n\n{marker(one.key)}\n")


def _plain(text: str) -> str:
    """Text that JSON and GitHub can hold, without foreign marks and without what is this machine's alone."""
    bare = guarded(clean(text), private_folders())
    return without(bare.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _place(one: Outgoing, number: int | None) -> int:
    if number is None:
        raise Refused(f"{one.kind} {one.key}: the bug has no issue")
    return number


_KINDS: Mapping[OutKind, Callable[[Outgoing, Client, int | None], Result]] = {
    OutKind.ISSUE: _issue,
    OutKind.COMMENT: _comment,
    OutKind.EDIT_COMMENT: _edit_comment,
    OutKind.STATE: _state,
    OutKind.LABELS: _labels,
    OutKind.CHECK: _check,
    OutKind.FILE: _file,
}
